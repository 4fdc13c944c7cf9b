"""Files of tensors: checkpoints and weights. Reading one runs no code."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from vicinal._writing import replace_when_done

Record = TypeVar("Record")
_PARTS = {"plan", "scaling", "model", "optimiser", "average", "best", "history", "counters"}


def write_checkpoint(content: dict[str, Any], path: Path) -> None:
    """Write tensors and plain values to a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_when_done(path) as file:
        torch.save(content, file)


def read_tensors(path: Path, what: str) -> dict[str, Any]:
    """Return the tensors and plain values of a file; anything else in it is refused."""
    try:
        _check_archive(path)
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


def _check_archive(path: Path) -> None:
    """Refuse a file of which a byte is not as it was written, for torch reads on regardless."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > path.stat().st_size or archive.testzip() is not None:
            raise ValueError("it is damaged")


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return what a checkpoint holds."""
    content = read_tensors(path, "checkpoint of a training")
    kinds = {"plan": dict, "scaling": dict, "history": list, "counters": dict}
    if not content.keys() >= _PARTS or not all(
        isinstance(content[name], kind) for name, kind in kinds.items()
    ):
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


def load_weights(model: nn.Module, weights: Any, path: Path) -> None:
    """Give a network the weights of a file, which must be its own."""
    check_weights(model, weights, path)
    model.load_state_dict(weights)


def load_optimiser(optimiser: torch.optim.Optimizer, state: Any) -> None:
    """Give an optimiser the moments of a file: as many as it has parameters, all finite."""
    optimiser.load_state_dict(state)
    for parameter, moments in optimiser.state.items():
        for name, value in moments.items():
            shape = () if name == "step" else parameter.shape
            if not _is_dense(value) or value.shape != shape:
                raise TypeError(f"the optimiser's {name} is not of the shape of its weights")
            if not bool(torch.isfinite(value).all()):
                raise TypeError(f"the optimiser's {name} holds NaN or infinity")


def read_record(kind: type[Record], values: Any) -> Record:
    """Return a record of finite numbers, none negative but for scores, or None where it may be."""
    parts = fields(kind)  # type: ignore[arg-type]
    if sorted(values) != sorted(part.name for part in parts):
        raise TypeError(f"a {kind.__name__} does not have {sorted(values)}"[:200])
    record = kind(**values)
    for part in parts:
        value, declared = getattr(record, part.name), str(part.type)
        if value is None and "None" in declared:
            continue
        whole = declared == "int"
        if type(value) is not int and (whole or type(value) is not float):
            raise TypeError(f"{part.name} is {value!r:.80}")
        if not math.isfinite(value) or (whole and value < 0):
            raise TypeError(f"{part.name} is {value!r:.80}")
    return record


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Say of which checkpoint it is that something in it is not as it was written."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError) as error:
        raise ValueError(
            f"{path} is no checkpoint of this training: {type(error).__name__}: {error}. Remove "
            "it, or start afresh."
        ) from error


def check_weights(model: nn.Module, weights: Any, path: Path) -> None:
    """Refuse weights that are not a network's own: names, shapes, finite values."""
    if not isinstance(weights, dict):
        raise ValueError(f"{path} holds no weights where they should be.")
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


def _is_dense(value: object) -> bool:
    return isinstance(value, Tensor) and value.layout is torch.strided


def _check_weight(name: str, value: Any, expected: Tensor, path: Path) -> None:
    if not _is_dense(value) or value.shape != expected.shape:
        shape = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
        raise ValueError(
            f"the weights in {path} belong to another network: {name} is {shape}, "
            f"expected {tuple(expected.shape)}."
        )
    if value.dtype != expected.dtype:
        raise ValueError(
            f"the weights in {path}: {name} is in {value.dtype}, expected {expected.dtype}."
        )
    if not bool(torch.isfinite(value).all()):
        raise ValueError(f"the weights in {path} are spoilt: {name} holds NaN or infinity.")
