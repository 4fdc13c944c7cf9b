"""Clebsch–Gordan coefficients, computed in whole numbers and rounded once."""

from __future__ import annotations

from functools import cache
from math import comb, factorial, prod, sqrt

import numpy as np
import torch
from torch import Tensor

from vicinal._types import AnyArray


def clebsch_gordan(l1: int, l2: int, l: int) -> Tensor:
    """Compute the Clebsch–Gordan coefficients ⟨l1 m1 l2 m2 | l m⟩.

    Real, with the standard (Condon–Shortley) phase, as tabulated by the Particle Data Group and by
    sympy. The matrix C of shape ((2l1+1)(2l2+1), 2l+1) has orthonormal columns and

        D^l(R) = Cᵀ [D^l1(R) ⊗ D^l2(R)] C.

    Each is the square root of a rational number that is found exactly (Racah's sum as a sum of
    products of binomials), so the only errors are those of one division and one root. Results are
    cached; a copy is returned.

    Parameters
    ----------
    l1, l2, l : int
        Non-negative degrees with |l1 − l2| ≤ l ≤ l1 + l2.

    Returns
    -------
    Tensor of shape (2 l1 + 1, 2 l2 + 1, 2 l + 1), float64
        Indexed by (m1 + l1, m2 + l2, m + l); zero unless m = m1 + m2.

    Examples
    --------
    >>> from vicinal.sphere import clebsch_gordan
    >>> round(float(clebsch_gordan(1, 1, 0)[2, 0, 0]), 6)  # ⟨1 1 1 −1 | 0 0⟩ = 1/√3
    0.57735
    """
    _check_triangle(l1, l2, l)
    return _coefficients(int(l1), int(l2), int(l)).clone()


def _check_triangle(l1: int, l2: int, l: int) -> None:
    if any(isinstance(degree, bool) or int(degree) != degree for degree in (l1, l2, l)):
        raise ValueError(f"degrees must be whole numbers, but (l1, l2, l) = ({l1}, {l2}, {l})")
    if min(l1, l2, l) < 0:
        raise ValueError(f"degrees must not be negative, but (l1, l2, l) = ({l1}, {l2}, {l})")
    if not abs(l1 - l2) <= l <= l1 + l2:
        raise ValueError(
            f"l must lie in the triangle |l1 − l2| ≤ l ≤ l1 + l2, here {abs(l1 - l2)} to {l1 + l2} "
            f"for l1 = {l1} and l2 = {l2}, but l = {l}"
        )


@cache
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _coefficients(l1: int, l2: int, l: int) -> Tensor:
    """Tabulate ⟨l1 m1 l2 m2 | l m⟩ = s √(n/d): s Racah's alternating sum, n/d rational."""
    table = np.zeros((2 * l1 + 1, 2 * l2 + 1, 2 * l + 1))
    mirror = -1 if (l1 + l2 - l) % 2 else 1
    sums = _alternating_sums(l1, l2, l).tolist()
    first, second, third = (_factorials(degree) for degree in (l1, l2, l))
    d = factorial(l1 + l2 + l + 1) * prod(map(factorial, _excesses(l1, l2, l)))
    for m1 in range(-l1, l1 + 1):
        for m2 in range(max(-l2, -m1), min(l2, l - m1) + 1):  # m = m1 + m2 ≥ 0
            m, s = m1 + m2, sums[m1 + l1][m2 + l2]
            n = (2 * l + 1) * third[m + l] * first[m1 + l1] * second[m2 + l2]
            # Python rounds a quotient of whole numbers of any size correctly.
            value = sqrt(n * s * s / d) * (-1 if s < 0 else 1)
            table[m1 + l1, m2 + l2, m + l] = value
            table[l1 - m1, l2 - m2, l - m] = mirror * value
    return torch.from_numpy(table)


def _alternating_sums(l1: int, l2: int, l: int) -> AnyArray:
    """Sum (−1)^k C(a, k) C(b, l1 − m1 − k) C(c, l2 + m2 − k) over k, for all m1 and m2, exactly."""
    a, b, c = _excesses(l1, l2, l)
    # No sum exceeds 2^(a + b + c); beyond 64 bits Python's own whole numbers take over.
    kind = np.int64 if l1 + l2 + l < 63 else object
    left = np.array([comb(b, j) for j in range(2 * l1 + 1)], kind)
    right = np.array([comb(c, j) for j in range(2 * l2 + 1)], kind)
    sums = np.zeros((2 * l1 + 1, 2 * l2 + 1), kind)
    for k in range(min(a, 2 * l1, 2 * l2) + 1):
        term = np.multiply.outer(left[: len(left) - k], right[: len(right) - k])
        sums[k:, k:] += (-1) ** k * comb(a, k) * term
    return sums[::-1]  # rows counted l1 − m1


def _excesses(l1: int, l2: int, l: int) -> tuple[int, int, int]:
    """By how much each two degrees together exceed the third."""
    return l1 + l2 - l, l1 - l2 + l, l2 - l1 + l


def _factorials(degree: int) -> list[int]:
    """(l + m)! (l − m)! for m from −l to l."""
    return [factorial(degree + m) * factorial(degree - m) for m in range(-degree, degree + 1)]
