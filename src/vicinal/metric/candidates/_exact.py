"""Candidate lists: the few points that can enter a row's neighbour sets, found exactly.

Only near points can enter h* or ĥ, so a row needs its nearest points of its own class and the
nearest of the others, not all n. The lists are found from the mapped rows in blocks of a float32
product, selection fused with the product, so memory stays O(n · candidates). The lists before the
last steps bound where the new ones can lie: their distances under the new map are the limits the
selection starts from, and nearly every column passes by in one vectorised comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._kernels._candidates import (
    candidate_squared_distances,
    rank_limits,
    shortlist_block,
    write_candidates,
)
from vicinal._kernels._lanes import LANES
from vicinal._threads import map_blocks
from vicinal._types import FloatArray, IntArray

# Blocks of products that stay in a core's cache.
ROWS, _COLUMNS = 256, 512
# One column in so many tells where the first lists will end.
SAMPLE = 8


@dataclass(frozen=True)
class ClassOrder:
    """Rows put in order of class.

    ``order`` (n,) are the original rows, ``codes`` (n,) their classes, ascending; the rows of row
    i's class are ``start[i]:stop[i]``.
    """

    order: IntArray
    codes: IntArray
    start: IntArray
    stop: IntArray


def order_by_class(codes: IntArray) -> ClassOrder:
    """Return the stable order of rows by class and the run each row's class occupies."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order].astype(np.int32)
    start = np.searchsorted(ordered, ordered, side="left").astype(np.int32)
    stop = np.searchsorted(ordered, ordered, side="right").astype(np.int32)
    return ClassOrder(order, ordered, start, stop)


def refresh_candidates(
    mapped: FloatArray,
    classes: ClassOrder,
    n_own: int,
    n_other: int,
    *,
    queries: FloatArray | None = None,
    previous: IntArray | None = None,
    seed: tuple[int, ...] = (),
    n_threads: int = 1,
) -> IntArray:
    """Return each row's nearest own-class rows, then its nearest rows of other classes.

    Parameters
    ----------
    mapped : ndarray of shape (n, p)
        Rows in order of class, under the present map.
    classes : ClassOrder
    n_own, n_other : int
        How many of each; −1 fills the places of a class with too few rows.
    queries : ndarray of shape (n, p) or None
        The same rows under the map of queries, where that is another.
    previous : int32 ndarray of shape (n, n_own + n_other) or None
        Lists of an earlier map: they bound the search and do not change its result.
    seed : tuple of int
        For searches that leave something to chance; this one does not.
    n_threads : int

    Returns
    -------
    int32 ndarray of shape (n, n_own + n_other)
        Each side by ascending row. Time O(n² p) at the speed of a float32 product.
    """
    points, limits = centred_float32(mapped), None
    # Both sides about the database's mean: their difference must stay as it is.
    asked = points if queries is None else centred_float32(mapped, queries)
    if previous is not None:
        limits = candidate_limits(asked, points, classes, previous, n_own)
    runs = np.arange(len(points)), classes.start, classes.stop
    return search_lists(asked, points, *runs, (n_own, n_other), limits, n_threads)


def nearest_rows(
    database: FloatArray, queries: FloatArray, k: int, *, n_threads: int = 1
) -> IntArray:
    """Return the k nearest rows of the database for each query, nearest first, shape (m, k).

    Which rows are kept is decided by products in float32 about the database's mean, their order by
    direct distances; of equals the lower row comes first. Time O(m n p).
    """
    points, wanted = centred_float32(database), centred_float32(database, queries)
    # No query is a column, and no run of columns is of its class.
    nobody, empty = np.full(len(wanted), -1), np.zeros(len(wanted), np.int32)
    found = search_lists(wanted, points, nobody, empty, empty, (0, k), None, n_threads)
    rows, labels = np.arange(len(wanted)), np.zeros(len(points), np.int32)
    squared_distances, _ = squared_distances_to(wanted, points, rows, found, labels)
    order = np.argsort(squared_distances, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)


def search_lists(
    queries: FloatArray,
    points: FloatArray,
    itself: IntArray,
    start: IntArray,
    stop: IntArray,
    keep: tuple[int, int],
    limits: FloatArray | None,
    n_threads: int,
) -> IntArray:
    """Return each query's nearest points inside a run of them, then outside, each side ascending.

    ``itself`` (m,) is the point each query is, which is left out, or −1; ``start`` and ``stop``
    (m,) its run; ``keep`` how many of either side; ``limits`` (m, 2) what ‖z_j‖² − 2 q_i·z_j of
    the last ones is known not to exceed.
    """
    squared_norms = np.einsum("ij,ij->i", points, points)
    # One product gives both terms: [−2 q_i, 1] · [z_j, ‖z_j‖²].
    columns = np.ascontiguousarray(np.column_stack([points, squared_norms]).T)
    sample = np.ascontiguousarray(columns[:, ::SAMPLE])
    inside = stop - start
    wanted = np.column_stack([inside - (itself >= 0), len(points) - inside]).clip(max=keep)
    out = np.empty((len(queries), sum(keep)), np.int32)

    def search(rows: IntArray, bounds: FloatArray) -> IntArray:
        """Write the lists of some rows; return the rows whose limits let too few pass."""
        runs = itself[rows], start[rows], stop[rows]
        lists = shortlists(queries[rows], columns, *runs, bounds, keep)
        found = np.empty((len(rows), sum(keep)), np.int32)
        write_candidates(*lists, *keep, found)
        out[rows] = found
        return rows[np.any(lists[2] < wanted[rows], axis=1)]

    def search_block(first: int) -> None:
        rows = np.arange(first, min(first + ROWS, len(queries)))
        if limits is not None:
            search(rows, limits[rows])
            return
        sampled = np.where(itself[rows] % SAMPLE == 0, itself[rows] // SAMPLE, -1)
        first_own, end_own = -(-start[rows] // SAMPLE), -(-stop[rows] // SAMPLE)
        bounds = likely_limits(queries[rows], sample, sampled, first_own, end_own, keep)
        short = search(rows, bounds)
        search(short, np.full((len(short), 2), np.inf, np.float32))

    map_blocks(search_block, range(0, len(queries), ROWS), n_threads)
    return out


# Squares of larger spreads, or of smaller ones, leave float32.
_LARGEST_SPREAD = 1e12


def centred_float32(mapped: FloatArray, rows: FloatArray | None = None) -> FloatArray:
    """Return the rows, or others, about the rows' mean in float32: rounding sees the spread alone.

    A spread whose squares would leave float32 becomes the unit, rounded to a power of two.
    """
    centre = mapped.mean(axis=0)
    centred = mapped - centre
    spread = float(max(centred.max(initial=0.0), -centred.min(initial=0.0)))
    if rows is not None:  # so far away that squares would overflow is as far as need be
        centred = np.clip(rows - centre, -_LARGEST_SPREAD * spread, _LARGEST_SPREAD * spread)
    if spread and not 1 / _LARGEST_SPREAD <= spread <= _LARGEST_SPREAD:
        centred = centred / np.ldexp(1.0, int(np.frexp(spread)[1]))
    return np.ascontiguousarray(centred, dtype=np.float32)


def candidate_limits(
    queries: FloatArray,
    points: FloatArray,
    classes: ClassOrder,
    previous: IntArray,
    n_own: int,
) -> FloatArray:
    """Return (n, 2) upper bounds of the last own and other candidate's ‖z_j‖² − 2 q_i·z_j."""
    squared_norms = np.einsum("ij,ij->i", queries, queries)
    rows = np.arange(len(points), dtype=np.int64)
    farthest = np.empty((len(points), 2), np.float32)
    for part in np.array_split(rows, max(1, len(rows) // 4096)):
        squared_distances = squared_distances_to(queries, points, part, previous, classes.codes)[0]
        for side, columns in enumerate((slice(0, n_own), slice(n_own, None))):
            found = squared_distances[:, columns]
            farthest[part, side] = found.max(axis=1) if found.shape[1] else np.inf
    # Both the product and the direct distance are rounded: leave room for both.
    slack = 64 * np.finfo(np.float32).eps * (squared_norms[:, None] + np.abs(farthest))
    bounds: FloatArray = farthest - squared_norms[:, None] + slack
    return bounds


def likely_limits(
    queries: FloatArray,
    sample: FloatArray,
    itself: IntArray,
    start: IntArray,
    stop: IntArray,
    keep: tuple[int, int],
) -> FloatArray:
    """Return limits (b, 2) that most likely let a few more columns pass than are kept.

    Of n columns wanted about n/s are in a sample of every s-th column. The limit is the value of a
    sampled column that is some deviations farther, so few rows are left with too few; they are
    searched again. Columns come in order of class, so that without a limit a list fills with
    far points before the near classes come by.
    """
    share = np.asarray(keep) / SAMPLE
    ranks = np.ceil(share + 1.5 * np.sqrt(share) + 2).astype(np.int64)
    left = np.column_stack([queries * np.float32(-2), np.ones(len(queries), np.float32)])
    limits = np.empty((len(queries), 2), np.float32)
    rank_limits(left @ sample, itself, start, stop, ranks, np.empty(LANES, np.float32), limits)
    return limits


def shortlists(
    queries: FloatArray,
    columns: FloatArray,
    itself: IntArray,
    start: IntArray,
    stop: IntArray,
    limits: FloatArray,
    keep: tuple[int, int],
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return values, columns (b, 2, capacity) and sizes (b, 2) of the rows' shortlists.

    ``itself`` (b,) is the column of each query itself, which is left out; −1: none is.
    """
    n_rows, n_columns = len(queries), columns.shape[1]
    capacity = 3 * max(keep) + 32
    values = np.empty((n_rows, 2, capacity), np.float32)
    found = np.empty((n_rows, 2, capacity), np.int32)
    filled = np.zeros((n_rows, 2), np.int64)
    left = np.column_stack([queries * np.float32(-2), np.ones(n_rows, np.float32)])
    products = np.empty((n_rows, min(_COLUMNS, n_columns)), np.float32)
    for begin in range(0, n_columns, _COLUMNS):
        end = min(begin + _COLUMNS, n_columns)
        if end - begin < products.shape[1]:
            products = np.empty((n_rows, end - begin), np.float32)
        np.dot(left, columns[:, begin:end], out=products)
        shortlist_block(
            products, itself, begin, start, stop, limits, values, found, filled, keep[0], keep[1]
        )
    return values, found, filled


def squared_distances_to(
    queries: FloatArray,
    points: FloatArray,
    rows: IntArray,
    candidates: IntArray,
    codes: IntArray,
) -> tuple[FloatArray, IntArray]:
    """Return ‖q_i − z_j‖² and the class of each candidate j of each asked row i, both (m, c)."""
    shape = (len(rows), candidates.shape[1])
    squared_distances = np.empty(shape, points.dtype)
    labels = np.empty(shape, np.int32)
    candidate_squared_distances(queries, points, rows, candidates, codes, squared_distances, labels)
    return squared_distances, labels
