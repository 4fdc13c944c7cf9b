"""Neighbour sets for a numeric target: which k points to wish near, which to fear.

With D_j a point's squared distance to the query, e_j = (y − y_j)² and c = γ/k:

``sets_by_bound``   ĥ: the k least D − c e.  h* by ``rule``:  BOUND the k least D + c e;
                    NEAREST the k least e (of equals the nearer).
``swap_search``     Σ_h D ± γ (y − mean_h y)² made less by the best exchange of one point, until
                    none is left: a local minimum of the true cost.
``metropolis``      the same cost by a random walk over exchanges that cools; the best set met.

Equal keys go to the lower row. A point with an infinite or NaN distance is unusable; where fewer
than k are left a set is −1. Sets are *positions in the row* of ``squared_distances`` (m, n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._kernels._order import inner, insert
from vicinal._types import AnyArray, FloatArray, IntArray

BOUND, NEAREST = 0, 1


@njit(cache=True, nogil=True)
def sets_by_bound(
    squared_distances: FloatArray,
    wanted: FloatArray,
    known: FloatArray,
    unit: float,
    rule: int,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
) -> None:
    """Write h* and ĥ of every query and L = Σ_{h*} (D + c e) − Σ_ĥ (D − c e).

    ``wanted`` (m,) are the queries' targets, ``known`` (m, n) the points'; ``unit`` is c. By the
    rule NEAREST, which asks for no cost of h*, L has Σ_{h*} D instead.
    """
    k = star.shape[1]
    near, far, ties = np.empty(k), np.empty(k), np.empty(k)
    near_rows, far_rows = np.empty(k, np.int32), np.empty(k, np.int32)
    for i in range(squared_distances.shape[0]):
        n_near = n_far = 0
        for j in range(squared_distances.shape[1]):
            distance = np.float64(squared_distances[i, j])
            if not distance < np.inf:
                continue
            gap = wanted[i] - known[i, j]
            error = gap * gap
            value = distance - unit * error
            if n_far < k or value < far[k - 1]:
                insert(far, far_rows, n_far, value, np.int32(j), None)
                n_far = min(n_far + 1, k)
            if rule == NEAREST:
                n_near = _insert_nearest(near, ties, near_rows, n_near, error, distance, j)
                continue
            value = distance + unit * error
            if n_near < k or value < near[k - 1]:
                insert(near, near_rows, n_near, value, np.int32(j), None)
                n_near = min(n_near + 1, k)
        loss[i] = 0.0
        if n_near < k:
            star[i], hat[i] = -1, -1
            continue
        star[i], hat[i] = near_rows, far_rows
        for a in range(k):
            loss[i] += (ties[a] if rule == NEAREST else near[a]) - far[a]


@inner
def _insert_nearest(
    errors: AnyArray, distances: AnyArray, rows: AnyArray, n: int, error: float, distance: float,
    row: Any,
) -> int:  # fmt: skip
    """Keep the points of least error, of equal errors the nearer, then the lower row."""
    k = errors.shape[0]
    place = insert(errors, distances, n, error, distance, distances)
    if place < k:
        for p in range(min(n, k - 1), place, -1):
            rows[p] = rows[p - 1]
        rows[place] = row
    return min(n + 1, k)


@njit(cache=True, nogil=True)
def swap_search(
    squared_distances: FloatArray,
    wanted: FloatArray,
    known: FloatArray,
    weight: float,
    sets: IntArray,
    values: FloatArray,
) -> None:
    """Lessen Σ_h D + w (y − mean_h y)² of each row's set by exchanges, the best one each time.

    ``weight`` w is γ for h*, −γ for ĥ. ``sets`` (m, k) hold starts and are changed in place, −1
    for none; ``values`` (m,) get the cost. Time O(n k) an exchange.
    """
    k = sets.shape[1]
    n = squared_distances.shape[1]
    taken = np.zeros(n, np.bool_)
    for i in range(sets.shape[0]):
        if sets[i, 0] < 0:
            values[i] = 0.0
            continue
        taken[:] = False
        taken[sets[i]] = True
        total, mean = _total_and_mean(squared_distances[i], known[i], sets[i])
        improved = True
        while improved:
            improved = False
            cost = total + weight * (wanted[i] - mean) ** 2
            # What is less by rounding alone would go in circles.
            best, out, into = cost - 1e-12 * (1.0 + abs(cost)), -1, -1
            for a in range(k):
                left = total - squared_distances[i, sets[i, a]]
                left_mean = mean - known[i, sets[i, a]] / k
                for j in range(n):
                    if taken[j] or not squared_distances[i, j] < np.inf:
                        continue
                    gap = wanted[i] - left_mean - known[i, j] / k
                    value = left + squared_distances[i, j] + weight * gap * gap
                    if value < best:
                        best, out, into = value, a, j
            if out >= 0:
                taken[sets[i, out]], taken[into] = False, True
                sets[i, out] = into
                total, mean = _total_and_mean(squared_distances[i], known[i], sets[i])
                improved = True
        values[i] = total + weight * (wanted[i] - mean) ** 2


@njit(cache=True, nogil=True)
def metropolis(
    squared_distances: FloatArray,
    wanted: FloatArray,
    known: FloatArray,
    weight: float,
    chances: FloatArray,
    sets: IntArray,
    values: FloatArray,
) -> None:
    """Walk at random over exchanges of one point; keep the set of least cost met.

    Cost, ``sets`` and ``values`` as of :func:`swap_search`. ``chances`` (steps, 3) in [0, 1) are
    the draws of every row's walk: the point that leaves, the one that enters, and whether to go.
    A worse set is gone to with probability exp(−increase / t), t falling linearly from the start's
    cost to zero.
    """
    m, k = sets.shape
    n, steps = squared_distances.shape[1], chances.shape[0]
    usable, present = np.empty(n, np.int64), np.empty(k, np.int32)
    for i in range(m):
        if sets[i, 0] < 0:
            values[i] = 0.0
            continue
        count = 0
        for j in range(n):
            if squared_distances[i, j] < np.inf:
                usable[count] = j
                count += 1
        present[:] = sets[i]
        total, mean = _total_and_mean(squared_distances[i], known[i], present)
        cost = total + weight * (wanted[i] - mean) ** 2
        least, heat = cost, (abs(total) + abs(weight) * (wanted[i] - mean) ** 2) / k
        for step in range(steps):
            a, j = int(chances[step, 0] * k), usable[int(chances[step, 1] * count)]
            if _holds(present, j):
                continue
            old = present[a]
            present[a] = j
            new_total, mean = _total_and_mean(squared_distances[i], known[i], present)
            new_cost = new_total + weight * (wanted[i] - mean) ** 2
            cold = heat * (1.0 - step / steps) + 1e-300
            if new_cost <= cost or chances[step, 2] < np.exp((cost - new_cost) / cold):
                cost = new_cost
            else:
                present[a] = old
            if cost < least:
                least = cost
                sets[i] = present
        values[i] = least


@inner
def _total_and_mean(squared_distances: AnyArray, known: AnyArray, chosen: AnyArray) -> Any:
    total = mean = 0.0
    for a in range(chosen.shape[0]):
        total += squared_distances[chosen[a]]
        mean += known[chosen[a]] / chosen.shape[0]
    return total, mean


@inner
def _holds(chosen: AnyArray, row: int) -> bool:
    inside = False
    for a in range(chosen.shape[0]):
        if chosen[a] == row:
            inside = True
    return inside
