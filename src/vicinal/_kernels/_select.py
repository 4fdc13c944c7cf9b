"""Exact neighbours out of blocks of rounded distances: filter by a bound, then compute exactly.

The matrix product gives −2 q·y in the filter's precision. With s = ‖q‖ and r = ‖y‖ about a common
centre, the squared distance less s² lies within slack · (s + r)² of r² − 2 q·y. A row whose lower
bound exceeds what is already found is dropped; every other row has its squared distance computed
directly, by :func:`squared_distances`, so nothing returned carries the filter's rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._kernels._order import grown, keep_least, merge_sorted, sort_pairs
from vicinal._types import AnyArray

# Groups a neighbour that rows are dealt into, to see how far the k-th can be at most.
_GROUPS = 8


@njit(cache=True, nogil=True)
def squared_distances(query: AnyArray, vectors: AnyArray, rows: AnyArray, out: AnyArray) -> None:
    """Write Σ_j (q_j − y_j)² in float64, summed from the first j to the last, for the given rows.

    The value depends on the two vectors alone: it is the same for (q, y) and (y, q), zero for
    equal vectors, and the same for float32 vectors and their float64 copies. Four rows are summed
    side by side, because one sum alone waits on its own additions.
    """
    n, d = rows.shape[0], query.shape[0]
    whole = n - n % 4
    for i in range(0, whole, 4):
        y0, y1 = vectors[rows[i]], vectors[rows[i + 1]]
        y2, y3 = vectors[rows[i + 2]], vectors[rows[i + 3]]
        s0 = s1 = s2 = s3 = 0.0
        for j in range(d):
            q = query[j]
            s0 += (q - y0[j]) ** 2
            s1 += (q - y1[j]) ** 2
            s2 += (q - y2[j]) ** 2
            s3 += (q - y3[j]) ** 2
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(whole, n):
        y, total = vectors[rows[i]], 0.0
        for j in range(d):
            total += (query[j] - y[j]) ** 2
        out[i] = total


@njit(cache=True, nogil=True)
def merge_nearest(
    products: AnyArray,
    squared_norms: AnyArray,
    norms: AnyArray,
    vectors: AnyArray,
    first_row: int,
    queries: AnyArray,
    query_norms: AnyArray,
    slack: Any,
    floor: float,
    nearest: AnyArray,
    indices: AnyArray,
) -> int:
    """Merge one block of database rows into each query's k nearest so far; return the work done.

    Parameters
    ----------
    products : ndarray of shape (m, b)
        −2 q·y, in the filter's precision.
    squared_norms, norms : ndarrays of shape (b,)
        r² and r of the block's rows about the centre, in the filter's precision.
    vectors : ndarray of shape (b, d)
        The block's rows as given.
    first_row : int
        The block's place in the database. Blocks must come in ascending order.
    queries : float64 ndarray of shape (m, d)
    query_norms : float64 ndarray of shape (m,)
        s about the same centre.
    slack : scalar of the filter's precision
    floor : float
        What underflow may hide of a product.
    nearest : float64 ndarray of shape (m, k)
        Squared distances so far, ascending, ``inf`` where none; updated in place.
    indices : int64 ndarray of shape (m, k)
        Their rows; updated in place.

    Returns
    -------
    int
        How many squared distances were computed directly.
    """
    m, b = products.shape
    k = nearest.shape[1]
    rows, bounds = np.empty(b, np.int64), np.empty(b, products.dtype)
    exact, evaluated = np.empty(b, np.float64), 0
    for q in range(m):
        if nearest[q, k - 1] == 0:  # nothing is nearer, and of equals the lower row stays
            continue
        norm = products.dtype.type(query_norms[q])
        limit = nearest[q, k - 1] - query_norms[q] ** 2 + floor
        if limit == np.inf and b > _GROUPS * k:
            limit = _reach_of(products[q], squared_norms, norms, norm, slack, k, bounds) + 2 * floor
        n_hits = _passing_rows(products[q], squared_norms, norms, norm, slack, limit, rows, bounds)
        if n_hits > 2 * k:
            n_hits = _tighten(rows, bounds, n_hits, k, norms, norm, slack, floor)
        squared_distances(queries[q], vectors, rows[:n_hits], exact)
        evaluated += n_hits
        n_near = _keep_below(rows, exact, n_hits, nearest[q, k - 1])
        if n_near > 0:
            sort_pairs(exact[:n_near], rows[:n_near])
            merge_sorted(nearest[q], indices[q], exact[:n_near], rows[:n_near], first_row)
    return evaluated


@njit(cache=True, nogil=True)
def rows_within(
    products: AnyArray,
    squared_norms: AnyArray,
    norms: AnyArray,
    vectors: AnyArray,
    first_row: int,
    queries: AnyArray,
    query_norms: AnyArray,
    slack: Any,
    floor: float,
    squared_radius: float,
) -> Any:
    """Return (query numbers, rows, squared distances) of all pairs in a block within the radius.

    Arguments as in :func:`merge_nearest`; a pair is within when its squared distance is at most
    ``squared_radius``. The three arrays have one entry a pair, ascending in query, then row.
    """
    m, b = products.shape
    rows, bounds = np.empty(b, np.int64), np.empty(b, products.dtype)
    exact, total = np.empty(b, np.float64), 0
    pair_queries = np.empty(b, np.int64)
    pair_rows, pair_values = np.empty(b, np.int64), np.empty(b, np.float64)
    for q in range(m):
        norm = products.dtype.type(query_norms[q])
        limit = squared_radius - query_norms[q] ** 2 + floor
        n_hits = _passing_rows(products[q], squared_norms, norms, norm, slack, limit, rows, bounds)
        squared_distances(queries[q], vectors, rows[:n_hits], exact)
        if total + n_hits > pair_rows.shape[0]:
            size = 2 * (total + n_hits)
            pair_queries, pair_rows = grown(pair_queries, size), grown(pair_rows, size)
            pair_values = grown(pair_values, size)
        for c in range(n_hits):
            if exact[c] <= squared_radius:
                pair_queries[total], pair_rows[total] = q, first_row + rows[c]
                pair_values[total] = exact[c]
                total += 1
    return pair_queries[:total], pair_rows[:total], pair_values[:total]


@njit(cache=True, nogil=True)
def _passing_rows(
    products: AnyArray,
    squared_norms: AnyArray,
    norms: AnyArray,
    query_norm: Any,
    slack: Any,
    limit: float,
    rows: AnyArray,
    bounds: AnyArray,
) -> int:
    """Write the rows whose lower bound is at most ``limit``, and the bounds; return their number.

    lower_i = r_i² + p_i − slack (s + r_i)², with p_i = −2 q·y_i. Most rows of most blocks fail,
    so bounds and hits are found in loops without branches, which the compiler can vectorise.
    """
    n, hits, n_hits = products.shape[0], np.int32(0), 0
    ceiling = products.dtype.type(limit)
    for i in range(n):
        reach = query_norm + norms[i]
        bounds[i] = (squared_norms[i] + products[i]) - slack * (reach * reach)
    for i in range(n):
        hits += np.int32(bounds[i] <= ceiling)
    if hits > 0:
        for i in range(n):
            if bounds[i] <= ceiling:
                rows[n_hits], bounds[n_hits] = i, bounds[i]
                n_hits += 1
    return n_hits


@njit(cache=True, nogil=True)
def _reach_of(
    products: AnyArray,
    squared_norms: AnyArray,
    norms: AnyArray,
    query_norm: Any,
    slack: Any,
    k: int,
    least: AnyArray,
) -> Any:
    """Return a number that the upper bounds of at least k rows do not exceed, hardly the k-th's.

    Rows are dealt into groups, each of which keeps its least upper bound, in loops the compiler
    can vectorise; the k-th of those is found among few. ``least`` is room for them.
    """
    n, n_groups = products.shape[0], _GROUPS * k
    least[:n_groups] = np.inf
    for start in range(0, n, n_groups):
        for g in range(min(n_groups, n - start)):
            reach = query_norm + norms[start + g]
            upper = (squared_norms[start + g] + products[start + g]) + slack * (reach * reach)
            least[g] = min(least[g], upper)
    return keep_least(least, None, n_groups, k)


@njit(cache=True, nogil=True)
def _tighten(
    rows: AnyArray,
    bounds: AnyArray,
    found: int,
    k: int,
    norms: AnyArray,
    query_norm: Any,
    slack: Any,
    floor: float,
) -> int:
    """Drop rows whose lower bound exceeds the k-th smallest upper bound; return how many stay."""
    uppers = np.empty(found, bounds.dtype)
    for c in range(found):
        reach = query_norm + norms[rows[c]]
        uppers[c] = bounds[c] + slack * (reach * reach) * bounds.dtype.type(2)
    limit = keep_least(uppers, None, found, k) + 2 * floor
    n_left = 0
    for c in range(found):
        if bounds[c] <= limit:
            rows[n_left] = rows[c]
            n_left += 1
    return n_left


@njit(cache=True, nogil=True)
def _keep_below(rows: AnyArray, values: AnyArray, found: int, limit: float) -> int:
    n_left = 0
    for c in range(found):
        if values[c] < limit:
            rows[n_left], values[n_left] = rows[c], values[c]
            n_left += 1
    return n_left
