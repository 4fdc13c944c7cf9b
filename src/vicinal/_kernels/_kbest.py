"""The k nearest points of every class, kept in one pass over squared distances.

A :class:`KBest` table holds them for a batch of queries. ``kbest_per_class`` fills it from
*rounded* squared distances to all points, sorted by class, as a float32 matrix product gives them.
They serve as a filter only: whatever might be among the k best is measured again, coordinate by
coordinate in float64, so the table depends on the vectors alone. Equal distances keep the lower
id in front.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numba import njit

from vicinal._kernels._lanes import LANES, at_most, first_lane, lanes_set, least_above, lower
from vicinal._types import FloatArray, IntArray

# For functions that only compiled code calls and that allocate nothing: no Python wrappers, half of
# the time to compile, and no reference counts, half of the time to run.
inner: Any = cast(Any, njit)(
    cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False
)
LARGEST = np.float32(np.finfo(np.float32).max)


class KBest(NamedTuple):
    """The k nearest points of each of R classes, for m queries.

    ``best`` (m, R, k) float64 squared distances, ascending; ``which`` (m, R, k) int32 ids of the
    points; ``filled`` (m, R) int32, how many of the k places are taken.
    """

    best: FloatArray
    which: IntArray
    filled: IntArray


@inner
def kth_bound(flat: FloatArray, begin: int, end: int, k: int, lows: FloatArray) -> Any:
    """Return a number that at least k entries of flat[begin:end] do not exceed, close to the k-th.

    The entries fall in turn into LANES lanes; the k-th smallest of the lanes' least entries will
    do, since each stands for an entry of its own.
    """
    for lane in range(LANES):
        lows[lane] = np.inf
    whole = end - (end - begin) % LANES
    for offset in range(begin, whole, LANES):
        lower(lows, flat, offset)
    for lane in range(end - whole):
        lows[lane] = min(lows[lane], flat[whole + lane])
    bound = np.float32(-np.inf)
    reached = 0
    while reached < k and bound < np.inf:
        bound = least_above(lows, bound)
        reached = lanes_set(at_most(lows, 0, bound))
    return bound


@inner
def columns_at_most(
    flat: FloatArray, begin: int, end: int, limit: float, first: int, columns: IntArray
) -> int:
    """Write where flat[begin:end] is at most limit, counted from ``first``; return how often."""
    found = 0
    whole = end - (end - begin) % LANES
    for offset in range(begin, whole, LANES):
        mask = at_most(flat, offset, limit)
        while mask != 0:
            columns[found] = first + offset - begin + first_lane(mask)
            found += 1
            mask &= mask - np.uint64(1)
    for offset in range(whole, end):
        if flat[offset] <= limit:
            columns[found] = first + offset - begin
            found += 1
    return found


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
def keep_nearest(measured: FloatArray, rows: IntArray, n: int, k: int) -> int:
    """Bring the k smallest of n to the front, ascending, equal ones in order; return how many."""
    for p in range(1, n):
        value, row = measured[p], rows[p]
        place = min(p, k)
        if place == k:
            if value >= measured[k - 1]:
                continue
            place = k - 1
        while place > 0 and measured[place - 1] > value:
            measured[place], rows[place] = measured[place - 1], rows[place - 1]
            place -= 1
        measured[place], rows[place] = value, row
    return min(n, k)


@njit(cache=True, nogil=True)
def kbest_per_class(
    filter_block: FloatArray,
    slack: FloatArray,
    queries: FloatArray,
    points: FloatArray,
    starts: IntArray,
    order: IntArray,
    table: KBest,
) -> None:
    """Fill the table with the k nearest of every class, exactly.

    Parameters
    ----------
    filter_block : (m, N) float32, C-contiguous
        Squared distances up to rounding and up to a constant for each query; inf: not to be used.
    slack : (m, R) float32
        Bound on the rounding error of row i's entries in class r.
    queries, points : (m, d), (N, d) float32 or float64
        The vectors themselves, the points sorted by class.
    starts : (R+1,) int64
        Class r occupies columns ``starts[r]:starts[r+1]``.
    order : (N,) int32
        The id of each column; ascending within a class.
    table : KBest for m queries
        Overwritten.

    Notes
    -----
    Cost O(N/v + R·k·(LANES/v + k + d)) for each query with v floats to a vector. The k nearest lie
    within ``kth_bound`` + slack of the query, hence within ``kth_bound`` + 2 slack in the filter.
    """
    best, which, filled = table
    n, k = filter_block.shape[1], best.shape[2]
    flat = filter_block.reshape(-1)
    lows = np.empty(LANES, np.float32)
    rows, measured = np.empty(n + 4, np.int64), np.empty(n + 4, np.float64)
    for i in range(filter_block.shape[0]):
        for r in range(starts.shape[0] - 1):
            begin, end = i * n + starts[r], i * n + starts[r + 1]
            bound = kth_bound(flat, begin, end, k, lows)
            limit = min(bound + np.float32(2) * slack[i, r], LARGEST)
            found = columns_at_most(flat, begin, end, limit, starts[r], rows)
            measure(queries, i, points, rows, found, measured)
            kept = keep_nearest(measured, rows, found, k)
            filled[i, r] = kept
            for p in range(kept):
                best[i, r, p], which[i, r, p] = measured[p], order[rows[p]]
