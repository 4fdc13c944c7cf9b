"""Cyclic Bregman projections of a metric onto bounds on the distances of pairs."""

from __future__ import annotations

import numpy as np
from numba import njit

from vicinal._types import FloatArray

# Features from which the two products of a block cost less than passing through M pair by pair.
NARROW = 96


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
    if len(metric) < NARROW:
        _one_by_one(metric, gaps, signs, slacks, multipliers, gamma)
    else:
        _in_blocks(metric, gaps, signs, slacks, multipliers, gamma)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _one_by_one(
    metric: FloatArray,
    gaps: FloatArray,
    signs: FloatArray,
    slacks: FloatArray,
    multipliers: FloatArray,
    gamma: float,
) -> None:
    """Read and write M for every pair."""
    d = metric.shape[0]
    image = np.empty(d)
    for pair in range(gaps.shape[0]):
        squared_distance = 0.0
        for a in range(d):
            total = 0.0
            for b in range(d):
                total += metric[a, b] * gaps[pair, b]
            image[a] = total
            squared_distance += total * gaps[pair, a]
        beta = _project(pair, squared_distance, signs[pair], slacks, multipliers, gamma)
        if beta != 0.0:
            for a in range(d):
                scaled = beta * image[a]
                for b in range(d):
                    metric[a, b] += scaled * image[b]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _in_blocks(
    metric: FloatArray,
    gaps: FloatArray,
    signs: FloatArray,
    slacks: FloatArray,
    multipliers: FloatArray,
    gamma: float,
) -> None:
    """Read and write M once a block of pairs.

    Mv is the product with M as it was before the block, plus what the projections within it added.
    """
    size = block_size(metric.shape[0])
    for first in range(0, gaps.shape[0], size):
        block = gaps[first : first + size]
        images = np.dot(block, metric)
        betas = np.zeros(len(block))
        for x in range(len(block)):
            _catch_up(images, betas, block[x], x)
            pair = first + x
            squared_distance = np.sum(images[x] * block[x])
            betas[x] = _project(pair, squared_distance, signs[pair], slacks, multipliers, gamma)
        metric += np.dot(np.ascontiguousarray(images.T), betas.reshape(-1, 1) * images)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _project(
    pair: int,
    squared_distance: float,
    sign: float,
    slacks: FloatArray,
    multipliers: FloatArray,
    gamma: float,
) -> float:
    """Project onto a pair's bound; return β, zero where M stays as it is."""
    if not squared_distance > 0.0:
        return 0.0
    change = sign * (gamma / (gamma + 1)) * (1 / squared_distance - 1 / slacks[pair])
    alpha = min(multipliers[pair], change)
    shrink = 1 - sign * alpha * squared_distance
    if alpha == 0.0 or not shrink > 0.0:
        return 0.0
    slacks[pair] = gamma * slacks[pair] / (gamma + sign * alpha * slacks[pair])
    multipliers[pair] -= alpha
    return float(sign * alpha / shrink)


@njit(cache=True, nogil=True)
def block_size(d: int) -> int:
    """Return for how many pairs catching up costs about as much as their products with M."""
    return max(1, min(64, d // 4))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _catch_up(images: FloatArray, betas: FloatArray, v: FloatArray, x: int) -> None:
    """Make image x that of M after the projections of the pairs before it in its block."""
    for i in range(x):
        if betas[i] != 0.0:
            total = 0.0
            for a in range(len(v)):
                total += images[i, a] * v[a]
            total *= betas[i]
            for a in range(len(v)):
                images[x, a] += total * images[i, a]
