"""Coefficients of real signals, of which m ≥ 0 suffices, and all coefficients of any signal.

A real signal has f̂_l^{−m} = (−1)^m conj f̂_l^m, so the *half coefficients* Re f̂_l^m (0 ≤ m ≤ l) and
Im f̂_l^m (1 ≤ m ≤ l), (L + 1)² real numbers, say everything. A complex signal u + iv is two real
ones. Both directions are index tables and signs, applied to rows:

- half rows: (re, l, m ≥ 0) in ascending l, then m; then (im, l, m ≥ 1) in the same order;
- full rows: [l][re, im][m = −l … l], those of a packed fragment with one channel.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor


def half_rows(l_max: int) -> list[tuple[int, int, int]]:
    """List (plane, l, m) of the half coefficients: plane 0 holds real, 1 imaginary parts."""
    real = [(0, l, m) for l in range(l_max + 1) for m in range(l + 1)]
    imaginary = [(1, l, m) for l in range(l_max + 1) for m in range(1, l + 1)]
    return real + imaginary


def _full_row(plane: int, l: int, m: int) -> int:
    return 2 * l * l + plane * (2 * l + 1) + m + l


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def expansion(l_max: int) -> tuple[Tensor, Tensor]:
    """Tables (rows, signs), each 2(L+1)² long: full = signs · half[rows]."""
    place = {key: row for row, key in enumerate(half_rows(l_max))}
    rows, signs = [], []
    for l in range(l_max + 1):
        for plane in (0, 1):
            for m in range(-l, l + 1):
                rows.append(place.get((plane, l, abs(m)), 0))
                signs.append(_expansion_sign(plane, m))
    return torch.tensor(rows), torch.tensor(signs, dtype=torch.float64)


def _expansion_sign(plane: int, m: int) -> int:
    if plane == 1 and m == 0:
        return 0
    odd_mirror = m < 0 and m % 2 == 1
    conjugated = m < 0 and plane == 1
    return -1 if odd_mirror != conjugated else 1


@cache
@torch.inference_mode(False)
def reduction(l_max: int) -> tuple[Tensor, Tensor, Tensor]:
    """Tables (rows, mirrored, signs): half(u) = ½ (full[rows] + signs · full[mirrored]).

    u is the real part of the signal. Its imaginary part is the real part of −i times the signal.
    """
    keys = half_rows(l_max)
    rows = [_full_row(plane, l, m) for plane, l, m in keys]
    mirrored = [_full_row(plane, l, -m) for plane, l, m in keys]
    signs = [_expansion_sign(plane, -m) if m else 1 for plane, l, m in keys]
    return torch.tensor(rows), torch.tensor(mirrored), torch.tensor(signs, dtype=torch.float64)


@cache
@torch.inference_mode(False)
def other_plane(l_max: int) -> tuple[Tensor, Tensor]:
    """Tables (rows, signs) of multiplication by i: (i·full) = signs · full[rows]."""
    keys = [(plane, l, m) for l in range(l_max + 1) for plane in (0, 1) for m in range(-l, l + 1)]
    rows = [_full_row(1 - plane, l, m) for plane, l, m in keys]
    return torch.tensor(rows), torch.tensor([2.0 * key[0] - 1 for key in keys], dtype=torch.float64)
