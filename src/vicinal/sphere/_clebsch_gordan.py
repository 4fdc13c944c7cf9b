"""Clebsch–Gordan coefficients, computed in whole numbers and rounded once."""

from __future__ import annotations

from functools import cache
from math import comb, factorial, sqrt

import torch
from torch import Tensor


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
    table = torch.zeros(2 * l1 + 1, 2 * l2 + 1, 2 * l + 1, dtype=torch.float64, device="cpu")
    mirror = -1 if (l1 + l2 - l) % 2 else 1
    for m1 in range(-l1, l1 + 1):
        for m2 in range(max(-l2, -m1), min(l2, l - m1) + 1):  # m = m1 + m2 ≥ 0
            value = _coefficient(l1, m1, l2, m2, l)
            table[m1 + l1, m2 + l2, m1 + m2 + l] = value
            table[l1 - m1, l2 - m2, l - m1 - m2] = mirror * value
    return table


def _coefficient(l1: int, m1: int, l2: int, m2: int, l: int) -> float:
    """Compute ⟨l1 m1 l2 m2 | l m1+m2⟩ = s √(n/d), s Racah's alternating sum, n/d rational."""
    a, b, c = l1 + l2 - l, l1 - l2 + l, l2 - l1 + l
    terms = range(max(0, l1 - m1 - b, l2 + m2 - c), min(a, l1 - m1, l2 + m2) + 1)
    s = sum((-1) ** k * comb(a, k) * comb(b, l1 - m1 - k) * comb(c, l2 + m2 - k) for k in terms)
    m = m1 + m2
    n = (2 * l + 1) * _factorials(l + m, l - m, l1 + m1, l1 - m1, l2 + m2, l2 - m2)
    d = _factorials(l1 + l2 + l + 1, a, b, c)
    root = sqrt(n * s * s / d)  # Python rounds a quotient of whole numbers of any size correctly
    return root if s > 0 else -root


def _factorials(*numbers: int) -> int:
    product = 1
    for number in numbers:
        product *= factorial(number)
    return product
