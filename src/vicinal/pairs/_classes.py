"""Near rows by class: the few points that can enter a row's neighbour sets.

Only near points can enter h* or ĥ, so a row needs its nearest points of its own class and the
nearest of the others, not all n. The lists are found from the mapped rows in blocks of a float32
product, selection fused with the product, so memory stays O(n · candidates). The lists before the
last steps bound where the new ones can lie: their distances under the new map are the limits the
selection starts from, and nearly every column passes by in one vectorised comparison.

Unlike ``nearest_rows`` the lists are decided in float32, the precision training works in: of
points that float32 cannot tell apart either may be listed.
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
from vicinal.pairs._filter import RowSide, folded_slack
from vicinal.pairs._products import (
    COLUMNS,
    ROWS,
    centred_float32,
    fold_queries,
    fold_rows,
    panels_of,
    product_blocks,
)

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
    places = points if queries is None else centred_float32(mapped, queries)
    if previous is not None:
        limits = candidate_limits(places, points, classes, previous, n_own)
    runs = np.arange(len(points)), classes.start, classes.stop
    return search_lists(places, points, *runs, (n_own, n_other), limits, n_threads)


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
    columns = fold_rows(points)
    sample = fold_rows(points[::SAMPLE])
    inside = stop - start
    sizes = np.column_stack([inside - (itself >= 0), len(points) - inside]).clip(max=keep)
    out = np.empty((len(queries), sum(keep)), np.int32)

    def search(rows: IntArray, bounds: FloatArray) -> IntArray:
        """Write the lists of some rows; return the rows whose limits let too few pass."""
        runs = itself[rows], start[rows], stop[rows]
        lists = shortlists(queries[rows], columns, *runs, bounds, keep)
        nearest = np.empty((len(rows), sum(keep)), np.int32)
        write_candidates(*lists, *keep, nearest)
        out[rows] = nearest
        return rows[np.any(lists[2] < sizes[rows], axis=1)]

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


def candidate_limits(
    queries: FloatArray,
    points: FloatArray,
    classes: ClassOrder,
    previous: IntArray,
    n_own: int,
) -> FloatArray:
    """Return (n, 2) upper bounds of the last own and other candidate's ‖z_j‖² − 2 q_i·z_j."""
    squared_norms = np.einsum("ij,ij->i", queries, queries)[:, None]
    rows = np.arange(len(points), dtype=np.int64)
    farthest = np.empty((len(points), 2), np.float32)
    for part in np.array_split(rows, max(1, len(rows) // 4096)):
        squared_distances = squared_distances_to(queries, points, part, previous, classes.codes)[0]
        for side, columns in enumerate((slice(0, n_own), slice(n_own, None))):
            own = squared_distances[:, columns]
            farthest[part, side] = own.max(axis=1) if own.shape[1] else np.inf
    # A point no farther has a norm of at most s + √farthest; the direct distance is rounded, too.
    reach = 2 * np.sqrt(squared_norms) + np.sqrt(farthest)
    slack = 2 * folded_slack(points.shape[1], np.float32) * reach**2
    bounds: FloatArray = (farthest - squared_norms + slack).astype(np.float32)
    return bounds


def likely_limits(
    queries: FloatArray,
    sample: RowSide,
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
    limits, lows = np.empty((len(queries), 2), np.float32), np.empty(LANES, np.float32)
    for _, _, products in product_blocks(fold_queries(queries), [sample]):
        rank_limits(products, itself, start, stop, ranks, lows, limits)
    return limits


def shortlists(
    queries: FloatArray,
    columns: RowSide,
    itself: IntArray,
    start: IntArray,
    stop: IntArray,
    limits: FloatArray,
    keep: tuple[int, int],
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return values, columns (b, 2, capacity) and sizes (b, 2) of the rows' shortlists.

    ``columns`` are the points to choose from, folded (:func:`fold_rows`).
    ``itself`` (b,) is the column of each query itself, which is left out; −1: none is.
    """
    capacity = 3 * max(keep) + 32
    values = np.empty((len(queries), 2, capacity), np.float32)
    nearest = np.empty((len(queries), 2, capacity), np.int32)
    filled = np.zeros((len(queries), 2), np.int64)
    panels = panels_of(columns, COLUMNS)
    for begin, _, products in product_blocks(fold_queries(queries), panels):
        shortlist_block(
            products, itself, begin, start, stop, limits, values, nearest, filled, keep[0], keep[1]
        )
    return values, nearest, filled


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
