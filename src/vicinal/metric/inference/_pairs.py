"""What both sets ask of the metric: signed pairs of a row and the points it pulls or pushes.

With h* the nearest set that votes right and ĥ the most violating one, the loss of row i is

    L_i = Σ_{j∈h*} D(x_i, x_j) − Σ_{j∈ĥ} D(x_i, x_j) + Δ(y_i, ĥ),                  (1)

in which points of both sets cancel: s_ij = +1 on h*∖ĥ and −1 on ĥ∖h* is all that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._kernels._candidates import signed_pairs
from vicinal._kernels._targeted import Inferred, infer_sets, new_inferred
from vicinal._types import BoolArray, FloatArray, IntArray
from vicinal.metric.inference._all_points import infer_over_points


@dataclass(frozen=True)
class SignedPairs:
    """What inference says about some rows.

    ``rows`` (m,) the rows asked; ``loss`` (m,) of (1); row x pulls or pushes
    ``points[starts[x]:starts[x+1]]`` by their ``signs``; ``feasible`` (m,) is False where no set
    can vote for the row's class: such a row has no loss and no pairs.
    """

    rows: IntArray
    starts: IntArray
    points: IntArray
    signs: IntArray
    loss: FloatArray
    feasible: BoolArray

    def pairs(self, part: slice) -> tuple[IntArray, IntArray, IntArray]:
        """Return (query, point, sign) of every pair of the rows in ``part``."""
        starts = self.starts[part.start : part.stop + 1]
        repeated = np.repeat(self.rows[part], np.diff(starts))
        pairs = slice(starts[0], starts[-1])
        return repeated, self.points[pairs], self.signs[pairs]


def infer_pairs(
    squared_distances: FloatArray,
    labels: IntArray,
    rows: IntArray,
    candidates: IntArray,
    codes: IntArray,
    n_neighbors: int,
    costs: FloatArray,
) -> SignedPairs:
    """Infer h* and ĥ of each row from its candidates' distances; return their difference.

    ``squared_distances`` and ``labels`` are (m, c), ``candidates`` (n, c) of which row x uses
    ``candidates[rows[x]]``. Rows whose loss is seen to be zero from two sums are not inferred. Time
    O(m c), and O(R k + k³) for each of the others.
    """
    sets = new_inferred(len(rows), n_neighbors)
    infer_sets(squared_distances, labels, codes[rows], costs, sets, skip=True)
    return _difference(sets, rows, rows, candidates)


def infer_all(
    mapped: FloatArray,
    codes: IntArray,
    rows: IntArray,
    n_neighbors: int,
    costs: FloatArray,
    *,
    queries: FloatArray | None = None,
    n_threads: int = 1,
) -> SignedPairs:
    """Infer h* and ĥ of some rows among all other rows; return their difference.

    Parameters
    ----------
    mapped : ndarray of shape (n, p)
        All rows under the present map.
    codes : int ndarray of shape (n,)
        Their classes 0..R−1, in any order.
    rows : int ndarray of shape (m,)
        The rows asked for; none is a neighbour of its own.
    n_neighbors : int
    costs : float64 ndarray of shape (R, R)
    queries : ndarray of shape (n, p), optional
        All rows under the map of queries, where that is another.
    n_threads : int

    Returns
    -------
    SignedPairs
        As of :func:`infer_pairs` with every other row a candidate, distances summed in float64.

    Notes
    -----
    Time O(m n p) at the speed of a float32 product; memory O(n p), and 2²⁰ entries a thread.
    """
    queries = (mapped if queries is None else queries)[rows]
    sets = infer_over_points(
        queries, mapped, codes, codes[rows], n_neighbors, costs, exclude=rows, n_jobs=n_threads
    )
    return sets_difference(sets, rows)


def sets_difference(sets: Inferred, rows: IntArray) -> SignedPairs:
    """Return the pairs of rows whose sets, all inferred, are numbers of points."""
    n = 1 + int(max(sets.star.max(initial=-1), sets.hat.max(initial=-1)))
    everyone = np.arange(n, dtype=np.int32)[None]
    return _difference(sets, rows, np.zeros(len(rows), np.int64), everyone)


def _difference(
    sets: Inferred, rows: IntArray, lists: IntArray, candidates: IntArray
) -> SignedPairs:
    """Return the pairs of the rows, the x-th of which has its sets in ``candidates[lists[x]]``."""
    m, k = sets.star.shape
    starts = np.empty(m + 1, np.int64)
    points, signs = np.empty((2, 2 * m * k), np.int32)
    signed_pairs(lists, candidates, sets.star, sets.hat, starts, points, signs)
    n, feasible = starts[-1], sets.star[:, 0] >= 0
    return SignedPairs(rows, starts, points[:n], signs[:n], sets.loss, feasible)
