"""The published descent, row after row: inference over all rows, then a step of rank at most 2k.

In place of W stands V = t W / (C n), which a step of rate 1/(t + 1) on ½‖W‖² + C Σ L changes by
the slope of one row's loss alone: V ← V − g. The rows' squared lengths q_j = x_j·V x_j follow by
the same few directions, so that a step takes one product of V with a row, and of the rows with
that and with the directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._kernels._kbest import ZERO
from vicinal._kernels._targeted import KBest, Pools, add_point, infer_query
from vicinal._types import FloatArray, IntArray


@njit(cache=True, nogil=True)
def walk_rows(
    X: FloatArray,
    labels: IntArray,
    order: IntArray,
    reuse: int,
    V: FloatArray,
    lengths: FloatArray,
    first_step: int,
    margin: float,
    costs: FloatArray,
    greedy: bool,
    table: KBest,
    pools: Pools,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> float:
    """Walk some rows; return the sum of their losses.

    Parameters
    ----------
    X : float64 ndarray of shape (n, r)
    labels : int32 ndarray of shape (n,)
    order : int ndarray of shape (m,)
        The rows to walk.
    reuse : int
        Steps that sets are kept for: those of so many rows are inferred at once.
    V : float64 ndarray of shape (r, r)
    lengths : float64 ndarray of shape (n,)
        q_j; both are changed.
    first_step : int
        t of the first row, from 1.
    margin : float
        1/(C n): distances under W are those under V divided by t times it.
    costs : float64 ndarray of shape (R, R)
    greedy : bool
        Sets of the printed greedy algorithms in place of the exact ones.
    table, pools
        Room for inference.
    star, hat, loss, voted
        Room for the sets of ``reuse`` rows.
    """
    r = X.shape[1]
    k = star.shape[1]
    directions, signs = np.empty((2 * k, r)), np.empty(2 * k)
    total = 0.0
    for begin in range(0, order.shape[0], reuse):
        end = min(begin + reuse, order.shape[0])
        for s in range(begin, end):
            scale = 1 / ((first_step + s) * margin)
            _infer_row(
                X, labels, order[s], V, lengths, scale, costs, greedy, table, pools, s - begin,
                star, hat, loss, voted,
            )  # fmt: skip
        for s in range(begin, end):
            total += loss[s - begin]
            if loss[s - begin] > 0:
                n = _write_directions(X, order[s], s - begin, star, hat, directions, signs)
                _step(X, V, lengths, directions[:n], signs[:n])
    return total


@njit(cache=True, nogil=True)
def _infer_row(
    X: FloatArray,
    labels: IntArray,
    i: Any,
    V: FloatArray,
    lengths: FloatArray,
    scale: float,
    costs: FloatArray,
    greedy: bool,
    table: KBest,
    pools: Pools,
    place: int,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> None:
    """Write the sets and the loss of row i at ``place``; ``scale`` turns V's distances into W's."""
    products = np.dot(X, np.dot(V, X[i]))
    n_present = ZERO
    for j in range(X.shape[0]):
        if j != i:
            value = (lengths[j] + lengths[i] - 2 * products[j]) * scale
            n_present = add_point(table, n_present, labels[j], value, np.int32(j))
    if greedy:
        infer_greedily(table, n_present, labels[i], costs, place, star, hat, loss, voted)
    else:
        infer_query(table, n_present, labels[i], costs, pools, place, star, hat, loss, voted)


@njit(cache=True, nogil=True)
def _write_directions(
    X: FloatArray,
    i: int,
    place: int,
    star: IntArray,
    hat: IntArray,
    directions: FloatArray,
    signs: FloatArray,
) -> int:
    """Write x_i − x_j of the rows j in one set alone, +1 for h* (pulled) and −1 for ĥ (pushed)."""
    n = 0
    for side in range(2):
        own, other = (star, hat) if side == 0 else (hat, star)
        for a in range(own.shape[1]):
            shared = False
            for b in range(other.shape[1]):
                if own[place, a] == other[place, b]:
                    shared = True
            if not shared:
                directions[n] = X[i] - X[own[place, a]]
                signs[n] = 1.0 - 2.0 * side
                n += 1
    return n


@njit(cache=True, nogil=True)
def _step(
    X: FloatArray, V: FloatArray, lengths: FloatArray, directions: FloatArray, signs: FloatArray
) -> None:
    """Take Σ ± δ δᵀ off V, and what it measures of each row off the lengths."""
    n, r = directions.shape
    along = np.dot(X, directions.T.copy())
    for j in range(X.shape[0]):
        for a in range(n):
            lengths[j] -= signs[a] * along[j, a] * along[j, a]
    for u in range(r):
        for a in range(n):
            factor = signs[a] * directions[a, u]
            for v in range(r):
                V[u, v] -= factor * directions[a, v]


@njit(cache=True, nogil=True)
def infer_greedily(
    table: KBest,
    n_present: int,
    y: Any,
    costs: FloatArray,
    i: int,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> None:
    """Write h* and ĥ as the printed algorithms choose them, and empty the query's table.

    The ⌈(k + τ(R − 1))/R⌉ nearest of the target, then always the nearest point that is the
    target's or of a class with fewer than (target's count − τ) so far; τ = 1 for h*, 0 for ĥ.
    A set without end is none.
    """
    chosen = np.empty(star.shape[1], star.dtype)
    own = _greedy(table, n_present, y, 1, len(costs), chosen)
    star[i], hat[i], voted[i], top = -1, -1, -1, -np.inf
    if own < np.inf:
        star[i] = chosen
    for p in range(-1, n_present):
        r = y if p < 0 else table.present[p]
        total = _greedy(table, n_present, r, 0, len(costs), chosen)
        value = costs[y, r] - total
        if value > top or (value == top and voted[i] != y and r < voted[i]):
            top, voted[i] = value, r
            hat[i] = chosen
    loss[i] = top + own if own < np.inf else 0.0
    for p in range(n_present):
        table.filled[table.present[p]] = 0


@njit(cache=True, nogil=True)
def _greedy(
    table: KBest, n_present: int, target: int, forbid: int, n_classes: int, chosen: IntArray
) -> float:
    """Write one greedy choice, and return its total; inf where it comes to no end."""
    best, which, filled, present = table
    k = chosen.shape[0]
    fewest = -(-(k + forbid * (n_classes - 1)) // n_classes)
    if filled[target] < fewest:
        return np.inf
    counts = np.zeros(best.shape[0], np.int64)
    total = 0.0
    for a in range(fewest):
        chosen[a] = which[target, a]
        total += best[target, a]
    counts[target] = fewest
    for a in range(fewest, k):
        nearest = -1
        for p in range(n_present):
            c = present[p]
            if counts[c] >= filled[c] or (c != target and counts[c] >= counts[target] - forbid):
                continue
            if nearest >= 0:
                gap = best[c, counts[c]] - best[nearest, counts[nearest]]
                lower = which[c, counts[c]] < which[nearest, counts[nearest]]
                if gap > 0 or (gap == 0 and not lower):
                    continue
            nearest = c
        if nearest < 0:
            return np.inf
        chosen[a] = which[nearest, counts[nearest]]
        total += best[nearest, counts[nearest]]
        counts[nearest] += 1
    return total
