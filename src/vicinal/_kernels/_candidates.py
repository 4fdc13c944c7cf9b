"""The nearest own-class and other-class points of every row, out of blocks of products.

Rows are ordered by class, so the points of a row's own class are one run of columns. A block holds
‖z_j‖² − 2 z_i·z_j for some rows i and columns j: the squared distance less a constant of the row,
which changes no order. Each row keeps a *shortlist* per side (own class, other classes): the
values below its limit met so far, cut back to the ``keep`` least whenever it is full. A limit that
starts at the distance of known candidates lets nearly every column pass by in one vectorised
comparison.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vicinal._kernels._kbest import least_of_rank, lower_lanes
from vicinal._kernels._lanes import LANES, at_most, first_lane
from vicinal._kernels._order import insert, keep_least
from vicinal._types import AnyArray, FloatArray, IntArray


@njit(cache=True, nogil=True, inline="always")
def _enter(
    value: float,
    column: int,
    limit: float,
    values: FloatArray,
    columns: IntArray,
    n: int,
    keep: int,
) -> tuple[int, float]:
    """Append to a shortlist; cut it back and lower the limit when it is full."""
    values[n] = value
    columns[n] = column
    n += 1
    if n == values.shape[0]:
        limit = keep_least(values, columns, n, keep)
        n = keep
    return n, limit


@njit(cache=True, nogil=True)
def shortlist_run(
    products: FloatArray,
    first: int,
    last: int,
    offset: int,
    limit: float,
    values: FloatArray,
    columns: IntArray,
    n: int,
    keep: int,
) -> tuple[int, float]:
    """Add ``products[first:last]`` below the limit to a shortlist; return its size and limit."""
    whole = first + (last - first) // LANES * LANES
    for start in range(first, whole, LANES):
        mask = at_most(products, start, limit)
        while mask != 0:
            b = start + first_lane(mask)
            mask &= mask - np.uint64(1)
            if products[b] <= limit:
                n, limit = _enter(products[b], offset + b, limit, values, columns, n, keep)
    for b in range(whole, last):
        if products[b] <= limit:
            n, limit = _enter(products[b], offset + b, limit, values, columns, n, keep)
    return n, limit


@njit(cache=True, nogil=True)
def shortlist_block(
    products: FloatArray,
    itself: IntArray,
    first_column: int,
    own_start: IntArray,
    own_stop: IntArray,
    limits: FloatArray,
    values: FloatArray,
    columns: IntArray,
    filled: IntArray,
    n_own: int,
    n_other: int,
) -> None:
    """Add one block of products to the shortlists of its rows.

    Parameters
    ----------
    products : float32 ndarray of shape (b, t)
        Changed: a row's entry for itself becomes inf.
    itself : int ndarray of shape (b,)
        The column of each row itself, which does not count; −1: none.
    first_column : int
    own_start, own_stop : int ndarrays of shape (b,)
        The run of columns of each row's class.
    limits : float32 ndarray of shape (b, 2)
        Own class, other classes; only lowered.
    values, columns : ndarrays of shape (b, 2, capacity)
        The shortlists.
    filled : int ndarray of shape (b, 2)
        Their sizes.
    n_own, n_other : int
        How many each side keeps.
    """
    width = products.shape[1]
    for x in range(products.shape[0]):
        start = min(max(own_start[x] - first_column, 0), width)
        stop = min(max(own_stop[x] - first_column, 0), width)
        own_column = itself[x] - first_column
        if 0 <= own_column < width:
            products[x, own_column] = np.inf
        if n_other > 0:
            n, limit = filled[x, 1], limits[x, 1]
            n, limit = shortlist_run(
                products[x], 0, start, first_column, limit, values[x, 1], columns[x, 1], n, n_other
            )
            n, limit = shortlist_run(
                products[x], stop, width, first_column, limit,
                values[x, 1], columns[x, 1], n, n_other,
            )  # fmt: skip
            filled[x, 1], limits[x, 1] = n, limit
        if stop > start and n_own > 0:
            filled[x, 0], limits[x, 0] = shortlist_run(
                products[x], start, stop, first_column, limits[x, 0],
                values[x, 0], columns[x, 0], filled[x, 0], n_own,
            )  # fmt: skip


@njit(cache=True, nogil=True)
def rank_limits(
    products: FloatArray,
    itself: IntArray,
    own_start: IntArray,
    own_stop: IntArray,
    ranks: IntArray,
    lows: FloatArray,
    limits: FloatArray,
) -> None:
    """Write about the value of rank ``ranks[s]`` on each side s, own class and others, of each row.

    Arguments as in :func:`shortlist_block`, the block being all columns; ``lows`` (LANES,) is room.
    Never less than that value, and little more for ranks well below LANES; inf: there is none.
    """
    width = products.shape[1]
    for x in range(products.shape[0]):
        if itself[x] >= 0:
            products[x, itself[x]] = np.inf
        lows[:] = np.inf
        lower_lanes(products[x], own_start[x], own_stop[x], lows)
        limits[x, 0] = least_of_rank(lows, ranks[0])
        lows[:] = np.inf
        lower_lanes(products[x], 0, own_start[x], lows)
        lower_lanes(products[x], own_stop[x], width, lows)
        limits[x, 1] = least_of_rank(lows, ranks[1])


@njit(cache=True, nogil=True)
def write_candidates(
    values: FloatArray,
    columns: IntArray,
    filled: IntArray,
    n_own: int,
    n_other: int,
    out: IntArray,
) -> None:
    """Write each row's candidates, own class first, each side by ascending column; −1: none."""
    for x in range(out.shape[0]):
        offset = 0
        for side in range(2):
            keep = n_own if side == 0 else n_other
            n, listed = filled[x, side], out[x, offset : offset + keep]
            if n > keep:
                keep_least(values[x, side], columns[x, side], n, keep)
                n = keep
            for a in range(n):
                # A point infinitely far is no candidate: it could never be told from none.
                column = columns[x, side, a] if values[x, side, a] < np.inf else np.int32(-1)
                insert(listed, None, a, column, None, None)
            listed[n:] = -1
            offset += keep


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def candidate_squared_distances(
    queries: FloatArray,
    points: FloatArray,
    rows: IntArray,
    candidates: IntArray,
    labels: IntArray,
    squared_distances: FloatArray,
    candidate_labels: IntArray,
) -> None:
    """Write ‖q_i − z_j‖² and the label of every candidate j of every row i (label −1: none).

    ``queries`` and ``points`` are all rows, mapped, (n, p); ``rows`` (m,) says which are asked for;
    ``candidates`` is (n, c), the results (m, c). Sums may be re-associated, not re-ordered by
    run or thread, so results repeat.
    """
    p = queries.shape[1]
    for x in range(rows.shape[0]):
        i = rows[x]
        for a in range(candidates.shape[1]):
            j = candidates[i, a]
            if j < 0:
                squared_distances[x, a] = np.inf
                candidate_labels[x, a] = -1
                continue
            total = squared_distances.dtype.type(0.0)
            for c in range(p):
                gap = queries[i, c] - points[j, c]
                total += gap * gap
            squared_distances[x, a] = total
            candidate_labels[x, a] = labels[j]


@njit(cache=True, nogil=True)
def signed_pairs(
    rows: IntArray,
    candidates: IntArray,
    star: IntArray,
    hat: IntArray,
    starts: IntArray,
    points: AnyArray,
    signs: AnyArray,
) -> None:
    """Write the symmetric difference of h* and ĥ of each row: +1 to pull nearer, −1 to push away.

    A row whose class cannot win has no h* and neither pulls nor pushes. Row x owns
    ``points[starts[x]:starts[x + 1]]``; ``points`` and ``signs`` hold at least 2k a row.
    """
    k = star.shape[1]
    n = 0
    starts[0] = 0
    for x in range(rows.shape[0]):
        if star[x, 0] >= 0:
            for sign in (1, -1):
                inside, outside = (star, hat) if sign == 1 else (hat, star)
                for a in range(k):
                    shared = False
                    for b in range(k):
                        if inside[x, a] == outside[x, b]:
                            shared = True
                    if not shared:
                        points[n] = candidates[rows[x], inside[x, a]]
                        signs[n] = sign
                        n += 1
        starts[x + 1] = n
