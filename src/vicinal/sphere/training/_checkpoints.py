"""Files a stopped training goes on from; reading one runs no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from vicinal._writing import replace_when_done


def write_checkpoint(content: dict[str, Any], path: Path) -> None:
    """Write tensors and plain values to a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_when_done(path) as file:
        torch.save(content, file)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return what a checkpoint holds; anything but tensors and plain values is refused."""
    try:
        content = torch.load(path, weights_only=True)
    except Exception as error:
        raise ValueError(
            f"{path} is no checkpoint of a training ({type(error).__name__} while reading it); "
            "remove it, or start afresh."
        ) from error
    if not isinstance(content, dict) or not {"plan", "model", "counters"} <= content.keys():
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
    """Give a network the weights of a checkpoint, which must be of the same shapes."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"the weights in {path} belong to another network ({reason}); start afresh."
        ) from error
