"""Sets of a numeric target by their mean: the farthest mean, and the nearest rows of a right one.

``far_means``      ĥ of the true cost, the least Σ_h D − γ (y − mean_h y)², exactly. With
                   b_j = y − y_j it is the least over slopes t of k²t²/4γ + Σ_h (D − t b): for each
                   t the k least of lines, of which the sweep over t meets every set.
``near_within``    h*_ε, the least Σ_h D over the *sets* with (y − mean_h y)² ≤ ε: a knapsack. A
                   multiplier gives a bound and mostly the set; the rest is enumerated, rows whose
                   reduced cost is above the gap being left as they are.

Distances (m, n), targets ``wanted`` (m,) and ``known`` (m, n), sets (m, k) of positions, −1: none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._kernels._order import insert
from vicinal._types import AnyArray, FloatArray, IntArray

# Exchanges looked at before the best set met is taken; its distance from the bound is then open.
_MOST_NODES = 20_000


@njit(cache=True, nogil=True)
def far_means(
    squared_distances: FloatArray,
    wanted: FloatArray,
    known: FloatArray,
    gamma: float,
    sets: IntArray,
    values: FloatArray,
) -> None:
    """Write ĥ and its cost Σ_h D − γ (y − mean_h y)². Time O(n k) for every set the sweep meets."""
    k, n = sets.shape[1], squared_distances.shape[1]
    rows, gaps = np.empty(k, np.int32), np.empty(n)
    inside = np.zeros(n, np.bool_)
    for i in range(sets.shape[0]):
        sets[i], values[i] = -1, 0.0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            for j in range(n):
                gaps[j] = sign * (wanted[i] - known[i, j])
            if not _k_least(squared_distances[i], gaps, 0.0, rows):
                break
            inside[:] = False
            inside[rows] = True
            _sweep(squared_distances[i], gaps, gamma, rows, inside, sets[i], values[i : i + 1])


@njit(cache=True, nogil=True)
def _sweep(
    distances: FloatArray,
    gaps: FloatArray,
    gamma: float,
    rows: IntArray,
    inside: AnyArray,
    chosen: IntArray,
    value: FloatArray,
) -> None:
    """Follow the k least of D − t b as t grows from 0, keeping the set of least cost."""
    k = rows.shape[0]
    while True:
        total = mean = 0.0
        for a in range(k):
            total += distances[rows[a]]
            mean += gaps[rows[a]] / k
        cost = total - gamma * mean * mean
        if chosen[0] < 0 or cost < value[0]:
            chosen[:] = rows
            value[0] = cost
        earliest, out, into = np.inf, -1, -1
        for a in range(k):
            own = rows[a]
            for j in range(distances.shape[0]):
                rise = gaps[j] - gaps[own]
                if inside[j] or not rise > 0 or not distances[j] < np.inf:
                    continue
                meeting = (distances[j] - distances[own]) / rise
                if meeting < earliest:
                    earliest, out, into = meeting, a, j
        # At the best set the slope is 2γ/k times its mean, which no mean exceeds from here on.
        if out < 0 or earliest > 2 * gamma / k * _largest(distances, gaps):
            return
        inside[rows[out]], inside[into] = False, True
        rows[out] = into


@njit(cache=True, nogil=True)
def _largest(distances: FloatArray, gaps: FloatArray) -> float:
    most = 0.0
    for j in range(distances.shape[0]):
        if distances[j] < np.inf and gaps[j] > most:
            most = gaps[j]
    return most


@njit(cache=True, nogil=True)
def near_within(
    squared_distances: FloatArray,
    wanted: FloatArray,
    known: FloatArray,
    epsilon: float,
    sets: IntArray,
) -> None:
    """Write h*_ε of every query."""
    k, n = sets.shape[1], squared_distances.shape[1]
    limit = k * np.sqrt(epsilon)
    limit += 1e-12 * (1 + limit)  # a mean at the border is within, however its sum is rounded
    gaps, rows = np.empty(n), np.empty(k, np.int32)
    for i in range(sets.shape[0]):
        sets[i] = -1
        for j in range(n):
            gaps[j] = known[i, j] - wanted[i]
        if not _k_least(squared_distances[i], gaps, 0.0, rows):
            continue
        total = _sum(gaps, rows)
        if abs(total) <= limit:
            sets[i] = rows
            continue
        if total < 0:
            gaps = -gaps
        _knapsack(squared_distances[i], gaps, limit, rows, sets[i])


@njit(cache=True, nogil=True)
def _knapsack(
    distances: FloatArray, gaps: FloatArray, limit: float, over: IntArray, chosen: IntArray
) -> None:
    """Write the nearest set whose gaps add up to between −limit and limit; ``over`` is above."""
    under, rows = np.empty_like(over), np.empty_like(over)
    if not _k_least(gaps, distances, -0.0, under, distances) or _sum(gaps, under) > limit:
        return
    best = np.inf
    while True:
        best = _keep(distances, gaps, limit, under, best, chosen)
        high, low = _sum(gaps, over), _sum(gaps, under)
        near, far = _sum(distances, over), _sum(distances, under)
        slope = (far - near) / (high - low)
        _k_least(distances, gaps, -slope, rows)
        line = near + slope * (high - limit)
        value = _sum(distances, rows) + slope * (_sum(gaps, rows) - limit)
        if value >= line - 1e-12 * (1 + abs(line)):
            break
        if _sum(gaps, rows) > limit:
            over[:] = rows
        else:
            under[:] = rows
    _exchange(distances, gaps, limit, slope, rows, value, best, chosen)


@njit(cache=True, nogil=True)
def _keep(
    distances: FloatArray,
    gaps: FloatArray,
    limit: float,
    rows: IntArray,
    best: float,
    chosen: IntArray,
) -> float:
    """Keep a set that is within the limits and nearer than the best so far; return the best."""
    total = _sum(distances, rows)
    if abs(_sum(gaps, rows)) <= limit and total < best:
        chosen[:] = rows
        return total
    return best


@njit(cache=True, nogil=True)
def _exchange(
    distances: FloatArray,
    gaps: FloatArray,
    limit: float,
    slope: float,
    rows: IntArray,
    bound: float,
    best: float,
    chosen: IntArray,
) -> None:
    """Try all changes of the multiplier's set that could still be nearer than the best.

    With c = D + slope · gap and θ the k-th least of it, leaving out a row of the set costs θ − c,
    and taking in another c − θ above the bound, so that only few changes are worth a look.
    """
    k, n = rows.shape[0], distances.shape[0]
    best = _keep(distances, gaps, limit, rows, best, chosen)
    inside = np.zeros(n, np.bool_)
    inside[rows] = True
    edge = -np.inf
    for a in range(k):
        edge = max(edge, distances[rows[a]] + slope * gaps[rows[a]])
    prices = np.empty(n)
    for j in range(n):
        prices[j] = abs(distances[j] + slope * gaps[j] - edge) if distances[j] < np.inf else np.inf
    order = np.argsort(prices, kind="mergesort")
    base = _sum(gaps, rows)
    # A stack of places in the order whose rows are changed, and what has added up so far.
    stack, price, shift, count = (
        np.empty(n, np.int64), np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1, np.int64)
    )  # fmt: skip
    depth, place, nodes = 0, 0, 0
    gap = best - bound
    while nodes < _MOST_NODES:
        nodes += 1
        if place < n and price[depth] + prices[order[place]] < gap:
            j = order[place]
            step = -1 if inside[j] else 1
            stack[depth] = place
            price[depth + 1] = price[depth] + prices[j]
            shift[depth + 1] = shift[depth] + step * gaps[j]
            count[depth + 1] = count[depth] + step
            depth += 1
            total = base + shift[depth]
            value = bound + price[depth] + slope * (limit - total)
            if count[depth] == 0 and abs(total) <= limit and value < best:
                best, gap = value, value - bound
                _write(inside, order, stack, depth, chosen)
            place += 1
        elif depth > 0:
            depth -= 1
            place = stack[depth] + 1
        else:
            return


@njit(cache=True, nogil=True)
def _write(
    inside: AnyArray, order: IntArray, stack: IntArray, depth: int, chosen: IntArray
) -> None:
    """Write the set after the changes on the stack."""
    changed = inside.copy()
    for a in range(depth):
        changed[order[stack[a]]] = not inside[order[stack[a]]]
    n = 0
    for j in range(changed.shape[0]):
        if changed[j]:
            chosen[n] = j
            n += 1


@njit(cache=True, nogil=True)
def _sum(values: FloatArray, rows: IntArray) -> float:
    total = 0.0
    for a in range(rows.shape[0]):
        total += values[rows[a]]
    return total


@njit(cache=True, nogil=True)
def _k_least(
    values: FloatArray, gaps: FloatArray, slope: float, rows: IntArray, usable: Any = None
) -> bool:
    """Write the k rows of least value − slope · gap, equals by row; False: there are too few."""
    k, n = rows.shape[0], 0
    least = np.empty(k)
    for j in range(values.shape[0]):
        distance = values[j] if usable is None else usable[j]
        if not distance < np.inf:
            continue
        key = values[j] if slope == 0 else values[j] - slope * gaps[j]
        if n < k or key < least[k - 1]:
            insert(least, rows, n, key, np.int32(j), None)
            n = min(n + 1, k)
    return n == k
