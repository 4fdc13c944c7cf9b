"""Inference over all points: which of them can matter to a query, and then h* and ĥ.

Let T be the total of the query's k nearest points of its own class, Σ the total of its k−1 nearest
points of all, and c the largest cost it can meet. A set that holds a point at squared distance D
totals at least D + Σ. The own class's k nearest are one choice for h* and for ĥ, so where

    D > T − Σ + c

the point is in no h* and no ĥ. Where the k nearest are all of the own class, that is D > D_k + c:
few points remain, of few classes. Where too many do, the k nearest of every class are taken.

T and Σ come from the filter, and every entry of it may be off by the slack ε, hence 2kε on top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from vicinal._kernels._kbest import (
    LARGEST,
    ZERO,
    Scratch,
    columns_at_most,
    kth_bound,
    measure,
    sum_of_least,
)
from vicinal._kernels._order import inner
from vicinal._kernels._targeted import KBest, Pools, add_point, infer_query
from vicinal._types import FloatArray, IntArray


class Data(NamedTuple):
    """Queries, and points sorted by class.

    ``queries`` (m, d), ``points`` (n, d), both float32 or both float64; ``starts`` (R+1,) int64,
    class r occupying the columns ``starts[r]:starts[r+1]``; ``order`` and ``classes`` (n,) int32,
    id and class of each column, ids ascending within a class.
    """

    queries: FloatArray
    points: FloatArray
    starts: IntArray
    order: IntArray
    classes: IntArray


@inner
def relevant_limit(
    flat: FloatArray,
    begin: int,
    n: int,
    first: int,
    last: int,
    k: int,
    slack: float,
    cost: float,
    most: int,
    scratch: Scratch,
) -> float:
    """Return what a relevant point's entry in flat[begin:begin+n] can be at most, or inf.

    The own class has the columns [first, last).
    """
    lows, rows, values = scratch
    bound = kth_bound(flat, begin + first, begin + last, k, lows)
    if bound == np.inf:
        return np.inf
    n_hits = columns_at_most(flat, begin, begin + n, bound, ZERO, most, rows)
    if n_hits > most:
        return np.inf
    own = sum_of_least(flat, begin, rows, n_hits, first, last, k, values)
    nearest = sum_of_least(flat, begin, rows, n_hits, ZERO, n, k - 1, values)
    return own - nearest + cost + 2 * k * slack


@inner
def gather(
    flat: FloatArray,
    i: int,
    first: int,
    last: int,
    limit: float,
    most: int,
    data: Data,
    scratch: Scratch,
    table: KBest,
    n_present: int,
) -> int:
    """Put query i's points of entry ≤ limit in columns [first, last) in the table.

    Return how many classes occur now, or −1 without doing so where there are more than ``most``.
    """
    queries, points, _, order, classes = data
    begin = i * points.shape[0]
    rounded = LARGEST if limit > LARGEST else np.float32(limit)
    n_hits = columns_at_most(flat, begin + first, begin + last, rounded, first, most, scratch.rows)
    if n_hits > most:
        return -1
    measure(queries, i, points, scratch.rows, n_hits, scratch.values)
    for p in range(n_hits):
        column = scratch.rows[p]
        n_present = add_point(table, n_present, classes[column], scratch.values[p], order[column])
    return n_present


@njit(cache=True, nogil=True)
def infer_block(
    flat: FloatArray,
    slack: FloatArray,
    unit: float,
    data: Data,
    targets: IntArray,
    costs: FloatArray,
    table: KBest,
    pools: Pools,
    scratch: Scratch,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> None:
    """Write h*, ĥ, the loss and ĥ's vote of m queries among n points sorted by class.

    Parameters
    ----------
    flat : (m·n,) float32
        Row after row, squared distances divided by ``unit``, up to rounding and up to a constant
        for each query; inf: not to be used.
    slack : (m,) float64
        Bound on the rounding error of a row's entries.
    data : Data
    targets, costs : (m,), (R, R) float64
    table, pools, scratch
        Room for one query; ``table.filled`` must be zero.
    star, hat, loss, voted : (m, k), (m, k), (m,), (m,)
        As in ``infer_sets``, with ids for positions.

    Notes
    -----
    Cost of a query: 2n/v comparisons of v floats at a time, and O(d) for each relevant point; at
    worst O(n/v + R·k·(k + d)).
    """
    starts, n, k = data.starts, data.points.shape[0], star.shape[1]
    n_classes = costs.shape[0]
    most = 3 * k * n_classes
    for i in range(targets.shape[0]):
        y, cost = np.int32(targets[i]), 0.0
        for r in range(n_classes):
            cost = max(cost, costs[y, r] / unit)
        limit = relevant_limit(
            flat, i * n, n, starts[y], starts[y + 1], k, slack[i], cost, most, scratch
        )
        n_present = np.int64(-1)
        if limit < np.inf:
            n_present = gather(flat, i, ZERO, n, limit, most, data, scratch, table, ZERO)
        if n_present < 0:
            n_present = ZERO
            for r in range(n_classes):
                first, last = starts[r], starts[r + 1]
                bound = kth_bound(flat, i * n + first, i * n + last, k, scratch.lows)
                limit = bound + 2 * slack[i]
                n_present = gather(flat, i, first, last, limit, n, data, scratch, table, n_present)
        infer_query(table, n_present, y, costs, pools, i, star, hat, loss, voted)
