"""Checks that two sides of an operation on the sphere fit together; errors name both."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def check_alike(
    this: str, own: Tensor, that: str, dtype: torch.dtype, device: torch.device
) -> None:
    """Refuse another precision or device than that of a tensor of one's own."""
    if dtype != own.dtype:
        raise ValueError(
            f"{this} is in {own.dtype}, {that} in {dtype}: bring both to one with .to(dtype)."
        )
    if device != own.device:
        raise ValueError(
            f"{this} is on {own.device}, {that} on {device}: move one of them with .to(device)."
        )


def check_finite(what: str, values: Tensor) -> None:
    """Refuse NaN and infinity; their sum tells of them at a thirtieth of the cost.

    While torch traces a graph there are no values to look at, and none are.
    """
    if torch.compiler.is_compiling():
        return
    if bool(torch.isfinite(values.sum())) or bool(torch.isfinite(values).all()):
        return
    raise ValueError(f"{what} holds NaN or infinity: clean it first.")


def check_degrees(matrices: Sequence[Tensor]) -> None:
    """Refuse anything but complex matrices (..., 2l+1, 2l+1) for l = 0, 1, …, alike otherwise."""
    if not matrices:
        raise ValueError("Fourier matrices start at degree 0, got none.")
    first = matrices[0]
    for l, G in enumerate(matrices):
        expected = (*first.shape[:-2], 2 * l + 1, 2 * l + 1)
        if G.shape != expected:
            raise ValueError(f"degree {l} takes matrices {expected}, got shape {tuple(G.shape)}.")
        if not G.is_complex():
            raise ValueError(f"degree {l} must be complex64 or complex128, got {G.dtype}.")
        check_alike("degree 0", first, f"degree {l}", G.dtype, G.device)
