"""Few out of many: the entries of a row of distances that can be among its k smallest.

A row holds *rounded* distances to all points, sorted by class. It serves as a filter only: whatever
passes is measured again, coordinate by coordinate in float64, and put in a table (``KBest``).
So what is kept depends on the vectors alone and not on the filter's rounding. Equal distances
keep the point that came first in front; points come in ascending order of their ids.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal._kernels._lanes import LANES, at_most, first_lane, lanes_set, least_above, lower
from vicinal._kernels._order import inner, insert
from vicinal._types import FloatArray, IntArray

LARGEST = np.float32(np.finfo(np.float32).max)
# Typed, because numba would compile one version of a function for every literal it is given.
ZERO: Any = np.int64(0)


class Scratch(NamedTuple):
    """Room for the points of one query: ``lows`` (LANES,), ``rows`` and ``values`` (n+4,)."""

    lows: FloatArray
    rows: IntArray
    values: FloatArray


def new_scratch(n_points: int) -> Scratch:
    """Return room for up to n points."""
    room = n_points + 4
    return Scratch(np.empty(LANES, np.float32), np.empty(room, np.int64), np.empty(room))


@inner
def lower_lanes(flat: FloatArray, begin: int, end: int, lows: FloatArray) -> None:
    """Let flat[begin:end] fall in turn into the lanes, each of which keeps the least."""
    whole = end - (end - begin) % LANES
    for offset in range(begin, whole, LANES):
        lower(lows, flat, offset)
    for offset in range(whole, end):
        lows[offset - whole] = min(lows[offset - whole], flat[offset])


@inner
def least_of_rank(lows: FloatArray, rank: int) -> Any:
    """Return a number that at least ``rank`` lanes do not exceed, inf where there is none.

    Each lane stands for an entry of its own, so at least so many entries do not exceed it.
    """
    limit, reached = np.float32(-np.inf), 0
    while reached < rank and limit < np.inf:
        limit = least_above(lows, limit)
        reached = lanes_set(at_most(lows, 0, limit))
    return limit


@inner
def kth_bound(flat: FloatArray, begin: int, end: int, k: int, lows: FloatArray) -> Any:
    """Return a number that at least k entries of flat[begin:end] do not exceed, close to the k-th.

    Infinite where there are fewer than k lanes or finite entries.
    """
    for lane in range(LANES):
        lows[lane] = np.inf
    lower_lanes(flat, begin, end, lows)
    return least_of_rank(lows, k)


@inner
def columns_at_most(
    flat: FloatArray, begin: int, end: int, limit: float, first: int, most: int, columns: IntArray
) -> int:
    """Write where flat[begin:end] is at most ``limit``, counted from ``first``; return how often.

    Stop soon after more than ``most`` have been found.
    """
    n_hits = 0
    whole = end - (end - begin) % LANES
    for offset in range(begin, whole, LANES):
        mask = at_most(flat, offset, limit)
        while mask != 0:
            columns[n_hits] = first + offset - begin + first_lane(mask)
            n_hits += 1
            mask &= mask - np.uint64(1)
        if n_hits > most:
            return n_hits
    for offset in range(whole, end):
        if flat[offset] <= limit:
            columns[n_hits] = first + offset - begin
            n_hits += 1
    return n_hits


@inner
def measure(
    queries: FloatArray, i: int, points: FloatArray, rows: IntArray, n: int, out: FloatArray
) -> None:
    """Write Σ_j (q_j − x_j)², in float64 from the first j to the last, for n rows of the points.

    Four rows side by side, since one sum alone waits on its own additions.
    """
    for p in range(0, n, 4):
        a, b = rows[p], rows[min(p + 1, n - 1)]
        c, e = rows[min(p + 2, n - 1)], rows[min(p + 3, n - 1)]
        sum_a = sum_b = sum_c = sum_e = 0.0
        for j in range(points.shape[1]):
            q = np.float64(queries[i, j])
            sum_a += (q - points[a, j]) ** 2
            sum_b += (q - points[b, j]) ** 2
            sum_c += (q - points[c, j]) ** 2
            sum_e += (q - points[e, j]) ** 2
        out[p], out[p + 1], out[p + 2], out[p + 3] = sum_a, sum_b, sum_c, sum_e


@inner
def sum_of_least(
    flat: FloatArray, begin: int, rows: IntArray, n: int, first: int, last: int, k: int, out: Any
) -> float:
    """Return the sum of the k smallest flat[begin + row] of n rows that lie in [first, last)."""
    least, taken = out[:k], 0
    for p in range(n):
        if first <= rows[p] < last:
            insert(least, None, taken, np.float64(flat[begin + rows[p]]), None, None)
            taken = min(taken + 1, k)
    total = 0.0
    for p in range(taken):
        total += least[p]
    return total
