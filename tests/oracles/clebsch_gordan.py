"""The Clebsch–Gordan product written out: one number at a time, from Racah's formula."""

from __future__ import annotations

from functools import cache
from math import factorial, sqrt
from typing import Any

import numpy as np


@cache
def coefficient(l1: int, m1: int, l2: int, m2: int, l3: int, m: int) -> float:
    """Return ⟨l1 m1 l2 m2 | l3 m⟩ by Racah's formula."""
    if m1 + m2 != m or not abs(l1 - l2) <= l3 <= l1 + l2 or abs(m) > l3:
        return 0.0
    f = factorial
    triangle = f(l3 + l1 - l2) * f(l3 - l1 + l2) * f(l1 + l2 - l3) / f(l1 + l2 + l3 + 1)
    front = sqrt((2 * l3 + 1) * triangle)
    front *= sqrt(f(l3 + m) * f(l3 - m) * f(l1 - m1) * f(l1 + m1) * f(l2 - m2) * f(l2 + m2))
    total = 0.0
    for k in range(l1 + l2 - l3 + 1):
        below = (l1 + l2 - l3 - k, l1 - m1 - k, l2 + m2 - k, l3 - l2 + m1 + k, l3 - l1 - m2 + k)
        if min(below) >= 0:
            total += (-1) ** k / (f(k) * np.prod([float(f(n)) for n in below]))
    return front * total


def table(l1: int, l2: int, l3: int) -> np.ndarray:
    """Return the coefficients as (2 l1 + 1, 2 l2 + 1, 2 l3 + 1), indexed by m + l3."""
    return np.array(
        [
            [
                [coefficient(l1, m1, l2, m2, l3, m) for m in range(-l3, l3 + 1)]
                for m2 in range(-l2, l2 + 1)
            ]
            for m1 in range(-l1, l1 + 1)
        ]
    )


def product(
    fragments: list[np.ndarray], weights: dict[tuple[int, int, int], np.ndarray], tau_out: list[int]
) -> list[np.ndarray]:
    """Return Σ_{l1, l2, i, j} W[l3, l1, l2][i, j, c] (C f_l1,i f_l2,j)_l over all ordered pairs.

    ``fragments[l]`` is (batch, 2l + 1, τ_l), complex; a pair that ``weights`` does not name is
    left out.
    """
    batch = fragments[0].shape[0]
    out: list[Any] = [np.zeros((batch, 2 * l3 + 1, t), complex) for l3, t in enumerate(tau_out)]
    for (l3, l1, l2), weight in weights.items():
        products = np.einsum(
            "xyz,bxi,byj->bzij", table(l1, l2, l3), fragments[l1], fragments[l2], optimize=True
        )
        out[l3] += np.einsum("bzij,ijc->bzc", products, weight)
    return out
