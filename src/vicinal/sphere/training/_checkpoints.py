"""Files of tensors: checkpoints and weights. Reading one runs no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vicinal._writing import replace_when_done

_PARTS = {"plan", "scaling", "model", "optimiser", "average", "best", "history", "counters"}


def write_checkpoint(content: dict[str, Any], path: Path) -> None:
    """Write tensors and plain values to a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_when_done(path) as file:
        torch.save(content, file)


def read_tensors(path: Path, what: str) -> dict[str, Any]:
    """Return the tensors and plain values of a file; anything else in it is refused."""
    try:
        content = torch.load(path, weights_only=True, map_location="cpu")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:
        raise ValueError(
            f"{path} is no {what} ({type(error).__name__} while reading it)."
        ) from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no {what}: it holds a {type(content).__name__}.")
    return content


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return what a checkpoint holds."""
    content = read_tensors(path, "checkpoint of a training")
    if not content.keys() >= _PARTS:
        raise ValueError(f"{path} is no checkpoint of a training; remove it, or start afresh.")
    return content


def check_settings(found: dict[str, Any], asked: dict[str, Any], path: Path) -> None:
    """Refuse to go on with other settings than those a training began with."""
    for name, value in asked.items():
        if found.get(name) != value:
            raise ValueError(
                f"the training in {path} began with {name}={found.get(name)!r}, not {value!r}; go "
                "on with the same settings, or start afresh."
            )


def load_weights(model: nn.Module, weights: dict[str, Any], path: Path) -> None:
    """Give a network the weights of a file, which must be its own: names, shapes, finite values."""
    expected = model.state_dict()
    for kind, names in (
        ("lacks", expected.keys() - weights.keys()),
        ("has unknown", weights.keys() - expected.keys()),
    ):
        if names:
            raise ValueError(
                f"the weights in {path} belong to another network: the file {kind} "
                f"{min(map(str, names))!r}" + (f" and {len(names) - 1} more." * (len(names) > 1))
            )
    for name, value in weights.items():
        _check_weight(name, value, expected[name], path)
    model.load_state_dict(weights)


def _check_weight(name: str, value: object, expected: Tensor, path: Path) -> None:
    if not isinstance(value, Tensor) or value.shape != expected.shape:
        found = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
        raise ValueError(
            f"the weights in {path} belong to another network: {name} is {found}, "
            f"expected {tuple(expected.shape)}."
        )
    if value.dtype != expected.dtype:
        raise ValueError(
            f"the weights in {path}: {name} is in {value.dtype}, expected {expected.dtype}."
        )
    if not bool(torch.isfinite(value).all()):
        raise ValueError(f"the weights in {path} are spoilt: {name} holds NaN or infinity.")
