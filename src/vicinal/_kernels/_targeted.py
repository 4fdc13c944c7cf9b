"""Exact neighbour sets for a wanted vote: h* and ĥ, batched over queries.

The rule. To vote for class r with k points, choose how many, k', come from r: its k' nearest.
The other k−k' places go to the nearest points of the other classes, at most k'−τ from each
(τ=0: ties in the vote allowed, τ=1: forbidden). The best total over all k' is the optimum.

The saving. With U_c the c nearest points of every class pooled, the places left by k' are filled
from U_{k'−τ} without class r, and the k nearest of U_c suffice since at most c of them
belong to r. ``fill_pools`` keeps these k nearest for c = 0..k−1, each from the one before:
class r enters level c only if its (c−1)-th point was among the k nearest of level c−1. So all
R targets cost O(R·k + k³) together, after the pass over the distances.

Ties. Equal distances: the lower position first. Equal totals for one target: the larger k'.
Equal values of ĥ: the query's own class first, then the lower class. A total is the float64
sum of the target's distances plus the float64 sum of the others', both in ascending order, so
loss ≥ 0 holds exactly and the readable twin in ``_reference`` gives the same bits.

Batched entry points (no GIL held, no allocation per row: share rows among threads by slicing):

``infer_sets(squared_distances (m, c), labels (m, c), targets (m,), k, costs (R, R),
star (m, k), hat (m, k), loss (m,), voted (m,))``
    Per row, h* and ĥ as *positions in that row*; ``loss = (cost − total of ĥ) + total of h*``;
    ``voted`` the class ĥ votes for. A candidate with label < 0 or an infinite or NaN distance is
    unusable. Where the own class cannot win: loss 0, voted −1, star and hat rows −1.
    dtypes: distances float32 or float64, labels and targets int32 (preferred) or int64,
    costs and loss float64, star, hat and voted int32.

Within a row of ``star`` or ``hat`` the voted class comes first, then the others, each ascending.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vicinal._kernels._kbest import collect_row
from vicinal._types import FloatArray, IntArray


@njit(cache=True, nogil=True)
def _enter_pool(
    distance: FloatArray,
    owner: IntArray,
    depth: IntArray,
    size: int,
    k: int,
    best: FloatArray,
    which: IntArray,
    r: int,
    rank: int,
) -> int:
    """Insert class r's point of that rank into one sorted pool of at most k; return its size."""
    value, point = best[r, rank], which[r, rank]
    place = size
    while place > 0:
        before = distance[place - 1]
        if before < value:
            break
        if before == value and which[owner[place - 1], depth[place - 1]] < point:
            break
        place -= 1
    if place >= k:
        return size
    size = min(size + 1, k)
    for p in range(size - 1, place, -1):
        distance[p], owner[p], depth[p] = distance[p - 1], owner[p - 1], depth[p - 1]
    distance[place], owner[place], depth[place] = value, r, rank
    return size


@njit(cache=True, nogil=True)
def fill_pools(
    best: FloatArray,
    which: IntArray,
    count: IntArray,
    present: IntArray,
    n_present: int,
    k: int,
    distance: FloatArray,
    owner: IntArray,
    depth: IntArray,
    size: IntArray,
    prefix: FloatArray,
) -> None:
    """Fill level c with the k nearest of U_c, for c = 0..k−1, and with its running sums.

    ``distance``, ``owner``, ``depth`` (k, k), ``size`` (k,), ``prefix`` (k, k+1): entry e of
    level c is class ``owner[c, e]``'s point of rank ``depth[c, e]``.
    """
    size[0] = 0
    prefix[0, 0] = 0.0
    for c in range(1, k):
        n = size[c - 1]
        distance[c, :n], owner[c, :n] = distance[c - 1, :n], owner[c - 1, :n]
        depth[c, :n] = depth[c - 1, :n]
        for e in range(n_present if c == 1 else size[c - 1]):
            r = present[e] if c == 1 else owner[c - 1, e]
            if count[r] < c or (c > 1 and depth[c - 1, e] != c - 2):
                continue
            n = _enter_pool(distance[c], owner[c], depth[c], n, k, best, which, r, c - 1)
        size[c] = n
        prefix[c, 0] = 0.0
        for e in range(n):
            prefix[c, e + 1] = prefix[c, e] + distance[c, e]


@njit(cache=True, nogil=True)
def fill_total(
    r: int, places: int, distance: FloatArray, owner: IntArray, size: int, prefix: FloatArray
) -> float:
    """Return the total of the nearest ``places`` of one pool that are not of class r, or inf."""
    if places > size:
        return np.inf
    total = 0.0
    for e in range(size):
        if places == 0:
            break
        if owner[e] != r:
            total += distance[e]
            places -= 1
    return total if places == 0 else np.inf


@njit(cache=True, nogil=True)
def target_total(
    r: int,
    forbid: int,
    k: int,
    rival: bool,
    best: FloatArray,
    count: IntArray,
    distance: FloatArray,
    owner: IntArray,
    size: IntArray,
    prefix: FloatArray,
) -> tuple[float, int]:
    """Return the smallest total of a set voting for r, and its k' (inf, 0 where none can).

    ``rival`` says that class r occurs in the pools; elsewhere the running sums serve as they are.
    """
    least, chosen = np.inf, 0
    own = 0.0
    for n in range(1, count[r] + 1):
        own += best[r, n - 1]
        cap, places = n - forbid, k - n
        if places == 0:
            others = 0.0
        elif rival:
            others = fill_total(r, places, distance[cap], owner[cap], size[cap], prefix[cap])
        elif places <= size[cap]:
            others = prefix[cap, places]
        else:
            others = np.inf
        if own + others <= least and own + others < np.inf:
            least, chosen = own + others, n
    return least, chosen


@njit(cache=True, nogil=True)
def write_set(
    r: int,
    n: int,
    cap: int,
    k: int,
    which: IntArray,
    owner: IntArray,
    depth: IntArray,
    out: IntArray,
) -> None:
    """Write the n nearest of class r, then the k−n nearest others of the pool with that cap."""
    out[:n] = which[r, :n]
    e = 0
    while n < k:
        if owner[cap, e] != r:
            out[n] = which[owner[cap, e], depth[cap, e]]
            n += 1
        e += 1


@njit(cache=True, nogil=True)
def infer_table(
    best: FloatArray,
    which: IntArray,
    count: IntArray,
    present: IntArray,
    n_present: int,
    y: int,
    k: int,
    costs: FloatArray,
    distance: FloatArray,
    owner: IntArray,
    depth: IntArray,
    size: IntArray,
    prefix: FloatArray,
    rival: IntArray,
    star: IntArray,
    hat: IntArray,
) -> tuple[float, int]:
    """Write h* and ĥ of one query from its k-best table; return the loss and the class voted."""
    fill_pools(best, which, count, present, n_present, k, distance, owner, depth, size, prefix)
    nearest = min(1, k - 1)
    for e in range(size[nearest]):
        rival[owner[nearest, e]] = 1
    own, n_star = target_total(y, 1, k, rival[y] > 0, best, count, distance, owner, size, prefix)
    voted, top, n_hat = -1, -np.inf, 0
    if n_star > 0:
        for p in range(-1, n_present):
            r = y if p < 0 else present[p]
            total, n = target_total(
                r, 0, k, rival[r] > 0, best, count, distance, owner, size, prefix
            )
            value = costs[y, r] - total
            if n > 0 and (value > top or (value == top and voted != y and r < voted)):
                voted, top, n_hat = r, value, n
    for e in range(size[nearest]):
        rival[owner[nearest, e]] = 0
    if n_star == 0:
        star[:] = -1
        hat[:] = -1
        return 0.0, -1
    write_set(y, n_star, n_star - 1, k, which, owner, depth, star)
    write_set(voted, n_hat, min(n_hat, k - 1), k, which, owner, depth, hat)
    return top + own, voted


@njit(cache=True, nogil=True)
def infer_sets(
    squared_distances: FloatArray,
    labels: IntArray,
    targets: IntArray,
    k: int,
    costs: FloatArray,
    star: IntArray,
    hat: IntArray,
    loss: FloatArray,
    voted: IntArray,
) -> None:
    """Write h*, ĥ, the loss and ĥ's vote of every row of candidates (see the top of the file)."""
    n_classes = costs.shape[0]
    best = np.empty((n_classes, k), np.float64)
    which = np.empty((n_classes, k), np.int32)
    count = np.zeros(n_classes, np.int32)
    present = np.empty(n_classes, np.int32)
    rival = np.zeros(n_classes, np.int32)
    distance, prefix = np.empty((k, k), np.float64), np.empty((k, k + 1), np.float64)
    owner, depth = np.empty((k, k), np.int32), np.empty((k, k), np.int32)
    size = np.empty(k, np.int32)
    for i in range(squared_distances.shape[0]):
        n_present = collect_row(squared_distances[i], labels[i], k, best, which, count, present)
        loss[i], voted[i] = infer_table(
            best,
            which,
            count,
            present,
            n_present,
            targets[i],
            k,
            costs,
            distance,
            owner,
            depth,
            size,
            prefix,
            rival,
            star[i],
            hat[i],
        )
        for p in range(n_present):
            count[present[p]] = 0
