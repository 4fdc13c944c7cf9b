"""Exact inference over all points: h* and ĥ of many queries, by class-sorted matrix products.

The points are sorted by class once. A block of queries is multiplied against all of them in
float32, which gives every squared distance up to rounding; the kernels find the few points of
each class that can be among its k nearest in spite of it and measure those alone in float64. So
the result depends on the vectors only: not on block size, number of threads, or the
linear-algebra library.

Points and queries are centred, and scaled by a power of two so that no norm exceeds 1; how far the
product may then mislead is the bound of ``pairs`` for norms folded into it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vicinal._kernels._kbest import new_scratch
from vicinal._kernels._relevant import Data, infer_block
from vicinal._kernels._targeted import Inferred, new_inferred, new_pools, new_table
from vicinal._threads import map_blocks, thread_count
from vicinal._types import FloatArray, IntArray
from vicinal.pairs import (
    RowSide,
    absolute_slack,
    fold_queries,
    fold_rows,
    folded_slack,
    product_blocks,
)

_BLOCK_ENTRIES = 1 << 20


class ClassSorted(NamedTuple):
    """Points sorted by class, as they are and as the filter sees them.

    ``points`` (n, d); ``order`` and ``classes`` (n,) their row numbers and classes; ``place`` (N,)
    where each row went, −1 for rows left out; ``starts`` (R+1,) where each class begins;
    ``columns`` the points as the products see them; ``reach`` the largest norm in it;
    ``centre`` (d,) and ``scale``.
    """

    points: FloatArray
    order: IntArray
    classes: IntArray
    place: IntArray
    starts: IntArray
    columns: RowSide
    reach: float
    centre: FloatArray
    scale: float


def infer_over_points(
    queries: FloatArray,
    points: FloatArray,
    labels: IntArray,
    targets: IntArray,
    n_neighbors: int,
    costs: FloatArray,
    *,
    exclude: IntArray | None = None,
    n_jobs: int | None = None,
) -> Inferred:
    """Infer h* and ĥ of every query among all points.

    Parameters
    ----------
    queries, points : ndarray of shape (m, d), (N, d)
        Finite vectors between which Euclidean distances are meant.
    labels : int ndarray of shape (N,)
        Classes 0..R−1 of the points; points of a negative class are left out.
    targets : int ndarray of shape (m,)
        Classes of the queries.
    n_neighbors : int
    costs : float64 ndarray of shape (R, R)
    exclude : int ndarray of shape (m,), optional
        A point each query may not use, or −1; ``np.arange(N)`` for leave-one-out.
    n_jobs : int, optional
        Threads, as in scikit-learn. The result is the same for any number.

    Returns
    -------
    Inferred
        Row numbers of points; ``star`` −1 and ``loss`` 0 where the own class cannot win, ``hat``
        and ``voted`` −1 where there are fewer than k points.

    Notes
    -----
    Time O(mN(d + 1)), dominated by the matrix product; memory O(Nd + threads · 2²⁰).
    """
    wide = np.result_type(queries, points, np.float32)
    queries, points = np.ascontiguousarray(queries, wide), np.asarray(points, wide)
    database = sort_by_class(points, labels, len(costs), queries)
    inferred = new_inferred(len(queries), n_neighbors)
    if exclude is not None:
        exclude = np.where(exclude < 0, -1, database.place[exclude])

    def infer(rows: slice) -> None:
        left_out = None if exclude is None else exclude[rows]
        _infer_rows(queries[rows], database, targets[rows], costs, left_out, inferred.of(rows))

    n_threads = thread_count(n_jobs)
    map_blocks(infer, _shares(len(queries), n_threads), n_threads)
    return inferred


def sort_by_class(
    points: FloatArray, labels: IntArray, n_classes: int, queries: FloatArray
) -> ClassSorted:
    """Return the points sorted by class, centred and scaled so that the queries fit in too."""
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :].astype(np.int32)
    place = np.full(len(points), -1)
    place[order] = np.arange(len(order))
    starts = np.searchsorted(labels[order], np.arange(n_classes + 1))
    points = points[order]
    centre = points.mean(axis=0, dtype=np.float64) if len(points) else np.zeros(points.shape[1])
    centred = points - centre
    farthest = float(np.linalg.norm(centred, axis=1).max(initial=0.0))
    largest = max(farthest, np.linalg.norm(queries - centre, axis=1).max(initial=0.0))
    scale = float(np.ldexp(1.0, int(np.frexp(largest)[1])))
    columns, reach = fold_rows((centred / scale).astype(np.float32)), farthest / scale
    classes = labels[order].astype(np.int32)
    return ClassSorted(points, order, classes, place, starts, columns, reach, centre, scale)


def _infer_rows(
    queries: FloatArray,
    database: ClassSorted,
    targets: IntArray,
    costs: FloatArray,
    exclude: IntArray | None,
    inferred: Inferred,
) -> None:
    """Infer block after block in the same two buffers: fresh ones would cost more than the rest."""
    n, k = len(database.points), inferred.star.shape[1]
    size = max(16, min(256, _BLOCK_ENTRIES // max(n, 1)))
    products = np.empty(size * n, np.float32)
    room = new_table(len(costs), k), new_pools(len(costs), k), new_scratch(n)
    for start in range(0, len(queries), size):
        rows = slice(start, min(start + size, len(queries)))
        block, slack = _filter_block(queries[rows], database, products)
        if exclude is not None:
            barred = np.flatnonzero(exclude[rows] >= 0)
            block[barred, exclude[rows][barred]] = np.inf
        data = Data(
            queries[rows], database.points, database.starts, database.order, database.classes
        )
        part = inferred.of(rows)
        infer_block(
            block.reshape(-1), slack, database.scale**2, data, targets[rows], costs, *room,
            part.star, part.hat, part.loss, part.voted,
        )  # fmt: skip


def _filter_block(
    queries: FloatArray, database: ClassSorted, room: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return r² − 2 q·x of all pairs, in the filter's scale, and each query's slack."""
    d = queries.shape[1]
    centred = (queries - database.centre) / database.scale
    left = fold_queries(centred.astype(np.float32))
    ((_, _, products),) = product_blocks(left, [database.columns], room)
    norms = np.sqrt(np.einsum("ij,ij->i", centred, centred))
    slack: FloatArray = folded_slack(d, np.float32) * (norms + database.reach) ** 2
    return products, slack + absolute_slack(d, np.float32)


def _shares(m: int, n_threads: int) -> list[slice]:
    """Return four runs of rows to a thread, so that a slow one does not hold up the rest."""
    n_shares = 1 if n_threads == 1 else 4 * n_threads
    bounds = np.linspace(0, m, n_shares + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(bounds) if a < b]
