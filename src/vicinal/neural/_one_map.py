"""A module of the user's own in the place of the members: one map, trained the same way."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from vicinal._types import AnyArray, FloatArray
from vicinal.neural._applied import BLOCK
from vicinal.neural._encoding import Encoding


class OneMap(nn.Module):
    """A module (B, D) → (B, p) as a single member, with a linear head for numbers.

    Parameters
    ----------
    module : nn.Module
    example : Tensor of shape (1, D, B)
        Entries it is tried on.
    """

    def __init__(self, module: nn.Module, example: Tensor) -> None:
        super().__init__()
        self.module = module
        module.eval()
        with torch.no_grad():
            places = self._apply_module(example)
        if not any(each.requires_grad for each in module.parameters()):
            raise ValueError("module has no parameters to learn; transform the rows instead.")
        self.slope = nn.Parameter(torch.randn(1, 1, places.shape[2]) * 0.1)

    def forward(self, entries: Tensor) -> Tensor:
        """Return the map (1, B, p) of entries (1, D, B)."""
        return self._apply_module(entries)

    def _apply_module(self, entries: Tensor) -> Tensor:
        rows = entries[0].mT.contiguous()
        try:
            places = self.module(rows)
        except Exception as error:
            raise ValueError(
                f"module cannot map rows of shape {tuple(rows.shape)}, {rows.shape[1]} entries "
                f"each as encoding makes them (encoding=None gives it the columns alone): {error}"
            ) from error
        if not isinstance(places, Tensor) or places.ndim != 2 or len(places) != len(rows):
            shape = tuple(places.shape) if isinstance(places, Tensor) else type(places).__name__
            raise ValueError(
                f"module must map rows of shape {tuple(rows.shape)} to a tensor ({len(rows)}, p); "
                f"it gave {shape}."
            )
        if not places.is_floating_point():
            raise ValueError(f"module must give floats, it gave {places.dtype}.")
        return places[None]

    def heads(self) -> Tensor:
        """Return the slopes (1, p, 1) of the linear head."""
        return self.slope.mT


def own_module(module: Any, n_entries: int) -> nn.Module:
    """Return a copy of the user's module, or what the function of theirs makes; refuse others."""
    if isinstance(module, nn.Module):
        return copy.deepcopy(module)
    made = module(n_entries) if callable(module) else module
    if not isinstance(made, nn.Module):
        raise ValueError(
            "module must be a torch module, or a function that takes the number of inputs and "
            f"returns one; got {module!r}" + (f", which returned {made!r}." * callable(module))
        )
    return made


def apply_module(module: nn.Module, encoding: Encoding, X: AnyArray) -> FloatArray:
    """Return the places (n, p) of rows (n, d) under a trained module."""
    module.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), BLOCK):
            entries = encoding.entries(encoding.standard(X[start : start + BLOCK]))[0]
            parts.append(module(torch.from_numpy(np.ascontiguousarray(entries.T))).numpy())
    return np.concatenate(parts).astype(X.dtype)
