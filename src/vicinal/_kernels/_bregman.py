"""Cyclic Bregman projections of a metric onto bounds on the distances of pairs."""

from __future__ import annotations

import numpy as np
from numba import njit

from vicinal._types import FloatArray


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def project_pairs(
    metric: FloatArray,
    gaps: FloatArray,
    signs: FloatArray,
    slacks: FloatArray,
    multipliers: FloatArray,
    gamma: float,
) -> None:
    """Project onto the bound of every pair in turn, in place.

    With p = vᵀMv, δ = ±1, α = min(λ, δ γ/(γ+1) (1/p − 1/ξ)) and β = δα / (1 − δαp):

        ξ ← γξ / (γ + δαξ),   λ ← λ − α,   M ← M + β M v vᵀ M,

    which makes the new distance 1/(1/p − δα) equal to the new ξ where λ allows it.

    Parameters
    ----------
    metric : float64 ndarray of shape (d, d)
        M.
    gaps : float64 ndarray of shape (n, d)
        v, none of them zero.
    signs : float64 ndarray of shape (n,)
        δ: 1 for a pair to be near, −1 for one to be far.
    slacks, multipliers : float64 ndarrays of shape (n,)
        ξ and λ.
    gamma : float
    """
    d = metric.shape[0]
    image, step = np.empty(d), gamma / (gamma + 1)
    for x in range(gaps.shape[0]):
        v = gaps[x]
        squared_distance = 0.0
        for a in range(d):
            total = 0.0
            for b in range(d):
                total += metric[a, b] * v[b]
            image[a] = total
            squared_distance += total * v[a]
        if not squared_distance > 0.0:
            continue
        sign = signs[x]
        change = sign * step * (1 / squared_distance - 1 / slacks[x])
        alpha = min(multipliers[x], change)
        shrink = 1 - sign * alpha * squared_distance
        if alpha == 0.0 or not shrink > 0.0:
            continue
        beta = sign * alpha / shrink
        slacks[x] = gamma * slacks[x] / (gamma + sign * alpha * slacks[x])
        multipliers[x] -= alpha
        for a in range(d):
            scaled = beta * image[a]
            for b in range(d):
                metric[a, b] += scaled * image[b]
