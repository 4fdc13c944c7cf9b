"""The published descent, row after row: inference over all rows, then a step of rank at most 2k.

In place of W stands V = t W / (C n), which a step of rate 1/(t + 1) on ½‖W‖² + C Σ L changes by
the slope of one row's loss alone: V ← V − g. The rows' squared lengths q_j = x_j·V x_j follow by
the same few directions δ, of which X δ is kept. V itself changes once for a block of rows: until
then x_j·V x_i is that of the block's begin less Σ ± (x_j·δ)(x_i·δ), the same number, made by
products of matrices instead of products with a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._kernels._kbest import ZERO
from vicinal._kernels._targeted import KBest, Pools, add_point, infer_query
from vicinal._types import FloatArray, IntArray

# Rows between two changes of V: enough that its products are those of matrices.
BLOCK = 16


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
    n, r = X.shape
    k = star.shape[1]
    block = reuse * max(1, BLOCK // reuse)
    most = 2 * k * min(block, order.shape[0])
    changes = np.empty((most, r)), np.empty((most, n)), np.empty(most)
    total = 0.0
    for first in range(0, order.shape[0], block):
        rows = order[first : first + block]
        total += _walk_block(
            X, labels, rows, reuse, V, lengths, first_step + first, margin, costs, greedy,
            changes, table, pools, star, hat, loss, voted,
        )  # fmt: skip
    return total


@njit(cache=True, nogil=True)
def _walk_block(
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
    changes: tuple[FloatArray, FloatArray, FloatArray],
    table: KBest,
    pools: Pools,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> float:
    """Walk some rows, and change V by all of them at the end; return the sum of their losses.

    ``changes`` is room for the directions δ (m, r), X δ (m, n) and their signs (m,).
    """
    directions, along, signs = changes
    asked = X[order]
    products = np.dot(np.dot(asked, V), X.T)
    total, m = 0.0, 0
    for begin in range(0, order.shape[0], reuse):
        end = min(begin + reuse, order.shape[0])
        for s in range(begin, end):
            if m > 0:
                shares = signs[:m] * np.dot(directions[:m], asked[s])
                products[s] -= np.dot(shares, along[:m])
            scale = 1 / ((first_step + s) * margin)
            _infer_row(
                products[s], labels, order[s], lengths, scale, costs, greedy, table, pools,
                s - begin, star, hat, loss, voted,
            )  # fmt: skip
        for s in range(begin, end):
            total += loss[s - begin]
            if loss[s - begin] > 0:
                before = m
                m = _write_directions(X, order[s], s - begin, star, hat, directions, signs, m)
                along[before:m] = np.dot(directions[before:m], X.T)
                _change_lengths(lengths, along[before:m], signs[before:m])
    if m > 0:
        V -= np.dot(directions[:m].T, directions[:m] * signs[:m].reshape(m, 1))
    return total


@njit(cache=True, nogil=True)
def _infer_row(
    products: FloatArray,
    labels: IntArray,
    i: Any,
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
    """Write the sets and the loss of row i at ``place``.

    ``products`` (n,) are x_j·V x_i, and ``scale`` turns V's distances into W's.
    """
    n_present = ZERO
    for j in range(labels.shape[0]):
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
    n: int,
) -> int:
    """Write x_i − x_j of the rows j in one set alone, +1 for h* (pulled) and −1 for ĥ (pushed).

    They come behind the first n; return how many there are then.
    """
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
def _change_lengths(lengths: FloatArray, along: FloatArray, signs: FloatArray) -> None:
    """Take what Σ ± δ δᵀ measures of each row off the lengths."""
    for a in range(along.shape[0]):
        for j in range(lengths.shape[0]):
            lengths[j] -= signs[a] * along[a, j] * along[a, j]


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
