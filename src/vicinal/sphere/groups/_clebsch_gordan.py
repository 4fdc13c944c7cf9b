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
    return coefficients_of(2 * int(l1), 2 * int(l2), 2 * int(l)).clone()


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
def coefficients_of(n1: int, n2: int, n: int) -> Tensor:
    """Tabulate ⟨j1 m1 j2 m2 | j m⟩ = s √(a/d) for j1 = n1/2, j2 = n2/2, j = n/2.

    s is Racah's alternating sum and a/d rational; halves of odd numbers are spins. Orders are
    counted by i = m + j from 0 on, so that i = i1 + i2 − (j1 + j2 − j).
    """
    table = np.zeros((n1 + 1, n2 + 1, n + 1))
    excess = _excesses(n1, n2, n)
    mirror = -1 if excess[0] % 2 else 1
    sums = _alternating_sums(n1, n2, n).tolist()
    first, second, third = (_factorials(of) for of in (n1, n2, n))
    d = factorial((n1 + n2 + n) // 2 + 1) * prod(map(factorial, excess))
    for i1 in range(n1 + 1):
        # m = m1 + m2 ≥ 0; the other half mirrors it
        for i2 in range(max(0, (n1 + n2 + 1) // 2 - i1), min(n2, n + excess[0] - i1) + 1):
            i, s = i1 + i2 - excess[0], sums[i1][i2]
            a = (n + 1) * third[i] * first[i1] * second[i2]
            # Python rounds a quotient of whole numbers of any size correctly.
            value = sqrt(a * s * s / d) * (-1 if s < 0 else 1)
            table[i1, i2, i] = value
            table[n1 - i1, n2 - i2, n - i] = mirror * value
    return torch.from_numpy(table)


def _alternating_sums(n1: int, n2: int, n: int) -> AnyArray:
    """Sum (−1)^k C(a, k) C(b, j1 − m1 − k) C(c, j2 + m2 − k) over k, for all m1 and m2, exactly."""
    a, b, c = _excesses(n1, n2, n)
    # No sum exceeds 2^(a + b + c); beyond 64 bits Python's own whole numbers take over.
    kind = np.int64 if a + b + c < 63 else object
    left = np.array([comb(b, j) for j in range(n1 + 1)], kind)
    right = np.array([comb(c, j) for j in range(n2 + 1)], kind)
    sums = np.zeros((n1 + 1, n2 + 1), kind)
    for k in range(min(a, n1, n2) + 1):
        term = np.multiply.outer(left[: len(left) - k], right[: len(right) - k])
        sums[k:, k:] += (-1) ** k * comb(a, k) * term
    return sums[::-1]  # rows counted j1 − m1


def _excesses(n1: int, n2: int, n: int) -> tuple[int, int, int]:
    """By how much each two spins together exceed the third."""
    return (n1 + n2 - n) // 2, (n1 - n2 + n) // 2, (n2 - n1 + n) // 2


def _factorials(n: int) -> list[int]:
    """(j + m)! (j − m)! for m from −j to j."""
    return [factorial(i) * factorial(n - i) for i in range(n + 1)]
