"""Exact neighbour sets for a wanted vote: h* and ĥ, batched over queries.

The rule. To vote for class r with k points, choose how many, k', come from r: its k' nearest.
The other k−k' places go to the nearest points of the other classes, at most k'−τ from each
(τ=0: ties in the vote allowed, τ=1: forbidden). The best total over all k' is the optimum.

The saving. With U_c the c nearest points of every class pooled, the places left by k' are filled
from U_{k'−τ} without class r, and the k nearest of U_c suffice since at most c of them belong
to r. ``fill_pools`` keeps these k nearest for c = 0..k−1, each from the one before: class r enters
level c only if its (c−1)-th point was among the k nearest of level c−1. So all R targets cost
O(R·k + k³) together, after the pass over the distances.

Ties. Equal distances: the lower id first. Equal totals for one target: the larger k'. Equal values
of ĥ: the query's own class first, then the lower class. A total is the float64 sum of the target's
distances plus the float64 sum of the others', both in ascending order, so loss ≥ 0 holds exactly
and the readable twin among the tests' oracles gives the same bits.

The entry point lets go of the GIL and allocates nothing per row: share rows among threads by
slicing. From compiled code call ``infer_rows``, with room of your own.

``infer_sets(squared_distances (m, c), labels (m, c), targets (m,), costs (R, R), found)``
    Per row, h* and ĥ as *positions in that row*; ``loss = (cost − total of ĥ) + total of h*``;
    ``voted`` the class ĥ votes for. A candidate with label < 0 or an infinite or NaN distance is
    unusable. Where the own class cannot win, the star row is −1 and the loss 0. Where there are
    fewer than k usable candidates no class can: the hat row and ``voted`` are −1 too.
    dtypes: distances float32 or float64, labels and targets int32 (preferred) or int64,
    costs and loss float64, star, hat and voted int32.

Within a row of ``star`` or ``hat`` the voted class comes first, then the others, each ascending.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from vicinal._kernels._kbest import ZERO
from vicinal._kernels._order import inner, insert
from vicinal._kernels._settled import is_settled
from vicinal._types import FloatArray, IntArray

# Typed, as ZERO is, because numba would compile a version for every literal.
ALLOW_TIES: Any = np.int64(0)
FORBID_TIES: Any = np.int64(1)
NOBODY: Any = np.int32(-1)


class KBest(NamedTuple):
    """The k nearest points of each of R classes, for one query.

    ``best`` (R, k) float64 squared distances, ascending; ``which`` (R, k) int32 ids of the points;
    ``filled`` (R,) int32, how many of the k places are taken; ``present`` (R,) int32, its first
    entries listing the classes that have any point.
    """

    best: FloatArray
    which: IntArray
    filled: IntArray
    present: IntArray


class Pools(NamedTuple):
    """Level c: the k nearest of U_c, ascending; ``size`` (k,) of them.

    ``distance``, ``owner`` (class) and ``point`` (id) of shape (k, k); ``prefix`` (k, k+1) running
    sums of ``distance``; ``rival`` (R,) the last row whose pools the class occurred in.
    """

    distance: FloatArray
    owner: IntArray
    point: IntArray
    size: IntArray
    prefix: FloatArray
    rival: IntArray


class Inferred(NamedTuple):
    """What is inferred of m queries, in the kernels' order.

    ``star`` and ``hat`` (m, k) int32 hold h* and ĥ, the voted class first; ``loss`` (m,) float64;
    ``voted`` (m,) int32 the class ĥ votes for.
    """

    star: IntArray
    hat: IntArray
    loss: FloatArray
    voted: IntArray

    def of(self, rows: slice) -> Inferred:
        """Return the room of some of the queries."""
        return Inferred(self.star[rows], self.hat[rows], self.loss[rows], self.voted[rows])


def new_inferred(m: int, k: int) -> Inferred:
    """Return room for m queries."""
    star, hat = np.empty((2, m, k), np.int32)
    return Inferred(star, hat, np.empty(m), np.empty(m, np.int32))


def new_table(n_classes: int, k: int) -> KBest:
    """Return an empty table (made here: compiling an allocation takes long)."""
    return KBest(
        np.empty((n_classes, k)),
        np.empty((n_classes, k), np.int32),
        np.zeros(n_classes, np.int32),
        np.empty(n_classes, np.int32),
    )


def new_pools(n_classes: int, k: int) -> Pools:
    """Return room for one query's pools (made here: compiling an allocation takes long)."""
    return Pools(
        np.empty((k, k)),
        np.empty((k, k), np.int32),
        np.empty((k, k), np.int32),
        np.empty(k, np.int32),
        np.empty((k, k + 1)),
        np.full(n_classes, -1, np.int32),
    )


@inner
def add_point(table: KBest, n_present: int, r: int, value: float, point: int) -> int:
    """Put a point among class r's k best, behind equal distances; return how many classes occur."""
    best, which, filled, present = table
    n = np.int64(filled[r])
    if n == 0:
        present[n_present] = r
        n_present += 1
    if n < best.shape[1]:
        filled[r] = n + 1
    insert(best[r], which[r], n, value, point, None)
    return n_present


@inner
def enter_pool(
    c: int,
    size: int,
    value: float,
    r: int,
    point: int,
    distance: FloatArray,
    owner: IntArray,
    points: IntArray,
) -> int:
    """Insert a point of class r into level c, sorted, at most k; return the level's size."""
    place = insert(distance[c], points[c], size, value, point, points[c])
    if place == distance.shape[1]:
        return size
    size = min(size + 1, distance.shape[1])
    for p in range(size - 1, place, -1):
        owner[c, p] = owner[c, p - 1]
    owner[c, place] = r
    return size


@inner
def fill_pools(table: KBest, n_present: int, pools: Pools) -> None:
    """Fill levels 0..k−1 from one query's table: cost O(R + k³) at worst, mostly far less."""
    best, which, filled, present = table
    distance, owner, point, size, prefix, _ = pools
    size[0] = 0
    for c in range(1, best.shape[1]):
        before = np.int64(size[c - 1])
        n = before
        for e in range(before):
            distance[c, e], owner[c, e] = distance[c - 1, e], owner[c - 1, e]
            point[c, e] = point[c - 1, e]
        for e in range(n_present if c == 1 else before):
            r = present[e] if c == 1 else owner[c - 1, e]
            if c > 1 and (filled[r] < c or point[c - 1, e] != which[r, c - 2]):
                continue
            n = enter_pool(c, n, best[r, c - 1], r, which[r, c - 1], distance, owner, point)
        size[c] = n
        prefix[c, 0] = 0.0
        for e in range(n):
            prefix[c, e + 1] = prefix[c, e] + distance[c, e]


@inner
def fill_total(
    r: int, places: int, cap: int, distance: FloatArray, owner: IntArray, size: IntArray
) -> float:
    """Return the total of the nearest ``places`` of level ``cap`` not of class r, or inf."""
    total = 0.0
    for e in range(size[cap]):
        if owner[cap, e] != r:
            total += distance[cap, e]
            places -= 1
            if places == 0:
                return total
    return np.inf


@inner
def target_total(r: int, forbid: int, rival: bool, table: KBest, pools: Pools) -> tuple[float, int]:
    """Return the smallest total of a set voting for r, and its k' (inf, 0 where none can).

    ``rival`` says that r occurs in the pools; else the running sums serve as they are.
    """
    distance, owner, _, size, prefix, _ = pools
    best, filled = table.best, table.filled
    k = best.shape[1]
    least, chosen, own = np.inf, ZERO, 0.0
    for n in range(1, filled[r] + 1):
        own += best[r, n - 1]
        cap, places = n - forbid, k - n
        if places == 0:
            total = own
        elif places > size[cap]:
            continue
        elif not rival:
            total = own + prefix[cap, places]
        else:
            total = own + fill_total(r, places, cap, distance, owner, size)
        if total <= least and total < np.inf:
            least, chosen = total, n
    return least, chosen


@inner
def write_set(r: int, n: int, cap: int, table: KBest, pools: Pools, i: int, out: IntArray) -> None:
    """Write the n nearest of class r, then the nearest others of level ``cap``, to row i.

    With n = 0, which stands for no set, write −1.
    """
    owner, point, which = pools.owner, pools.point, table.which
    if n == 0:
        for p in range(out.shape[1]):
            out[i, p] = -1
        return
    for p in range(n):
        out[i, p] = which[r, p]
    e = 0
    for p in range(n, out.shape[1]):
        while owner[cap, e] == r:
            e += 1
        out[i, p] = point[cap, e]
        e += 1


@inner
def nearest_others(pools: Pools) -> float:
    """Return the total of the k−1 nearest points of all: no set with one more point has less."""
    last = pools.size.shape[0] - 1
    return pools.prefix[last, min(last, pools.size[last])] if last > 0 else 0.0


@inner
def infer_query(
    table: KBest,
    n_present: int,
    y: int,
    costs: FloatArray,
    pools: Pools,
    i: int,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> None:
    """Write h*, ĥ, loss and vote of one query to row i, and empty its table."""
    best, present = table.best, table.present
    fill_pools(table, n_present, pools)
    # Whatever occurs in any level occurs in the first that is not empty.
    nearest, rival = min(1, star.shape[1] - 1), pools.rival
    for e in range(pools.size[nearest]):
        rival[pools.owner[nearest, e]] = i
    own, n_star = target_total(y, FORBID_TIES, rival[y] == i, table, pools)
    winner, top, n_hat = NOBODY, -np.inf, ZERO
    others = nearest_others(pools)
    for p in range(-1, n_present):
        r = y if p < 0 else present[p]
        # What no total can be below, with room for rounding, rules out most classes at once.
        if costs[y, r] - best[r, 0] - others < top - 1e-9 * abs(top):
            continue
        total, n = target_total(r, ALLOW_TIES, rival[r] == i, table, pools)
        value = costs[y, r] - total
        if n > 0 and (value > top or (value == top and winner != y and r < winner)):
            winner, top, n_hat = r, value, n
    write_set(y, n_star, n_star - 1, table, pools, i, star)
    write_set(winner, n_hat, min(n_hat, star.shape[1] - 1), table, pools, i, hat)
    loss[i], voted[i] = top + own if n_star > 0 else 0.0, winner
    for p in range(n_present):
        table.filled[present[p]] = 0


@njit(cache=True, nogil=True)
def infer_rows(
    squared_distances: FloatArray,
    labels: IntArray,
    targets: IntArray,
    costs: FloatArray,
    table: KBest,
    pools: Pools,
    largest: FloatArray,
    least: FloatArray,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> None:
    """Do the work of :func:`infer_sets`, with room for one query; ``table.filled`` must be 0.

    ``largest`` (R,) are the classes' top costs where settled rows are skipped, else inf.
    """
    for i in range(squared_distances.shape[0]):
        y = np.int32(targets[i])
        if largest[y] < np.inf and is_settled(squared_distances, labels, i, y, largest[y], least):
            star[i], hat[i], loss[i], voted[i] = 0, 0, 0.0, y
            continue
        n_present = ZERO
        for j in range(squared_distances.shape[1]):
            value, r = np.float64(squared_distances[i, j]), np.int32(labels[i, j])
            if r >= 0 and value < np.inf:
                n_present = add_point(table, n_present, r, value, np.int32(j))
        infer_query(table, n_present, y, costs, pools, i, star, hat, loss, voted)


def infer_sets(
    squared_distances: FloatArray,
    labels: IntArray,
    targets: IntArray,
    costs: FloatArray,
    found: Inferred,
    *,
    skip: bool = False,
) -> None:
    """Write h*, ĥ, the loss and ĥ's vote of every row of candidates (see the top of the file).

    With ``skip`` a row that is seen to have no loss (``_settled``) is not inferred: its two sets
    are written as one, of zeros.
    """
    k = found.star.shape[1]
    largest = costs.max(axis=1) if skip else np.full(len(costs), np.inf)
    room = new_table(len(costs), k), new_pools(len(costs), k), largest, np.empty((2, k + 1))
    infer_rows(squared_distances, labels, targets, costs, *room, *found)
