"""Exact nearest neighbours: the checked door to the search that everyone uses (``pairs``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vicinal._threads import thread_count
from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index._distances import (
    COSINE,
    EUCLIDEAN,
    DistanceDatabase,
    check_distance,
    unit_rows,
)
from vicinal.index._inputs import (
    check_block_size,
    check_queries,
    check_radius,
    check_unit,
    check_vectors,
)
from vicinal.pairs import Database, in_units


class ExactIndex:
    """Exact search, by squared Euclidean distance unless another is named.

    The squared distance of a query q and a row y is Σ_j (q_j − y_j)² in float64, summed from the
    first j to the last. Neighbours come in ascending order of that number, equal numbers by lower
    row. So equal vectors are at distance exactly 0, and results depend neither on ``block_size``,
    ``n_jobs``, the order or the number of queries, nor on whether the same numbers are given as
    float32 or as float64.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        Finite numbers, kept as float32 where given so (or as small integers), else as float64.
    metric : str, default="euclidean"
        "cosine" (1 − cos), "manhattan", "chebyshev", "canberra", "braycurtis", "correlation" or
        "hamming" give the distances themselves, not squared.
    block_size : int, default=1024
        How many queries and how many rows are compared at a time: a thread holds block_size²
        rounded distances. The result comes on top.
    n_jobs : int, default=None
        Threads. None takes as many as the linear algebra library is set to use.

    Attributes
    ----------
    vectors : ndarray of shape (n, d)
    unit : float
        Squared distances are in this unit, squared: 1, or a power of two where the squares of the
        values themselves would leave the range of floats. A distance is √squared · unit.

    Notes
    -----
    Memory: the vectors, one float32 copy of them, and for each thread O(block_size² +
    block_size · d). Time: O(n d) a query at the speed of a float32 matrix product, plus O(d) for
    each row the product cannot rule out, of which there are about k (1 + log(n / k)), more where
    many rows are equally far. By "cosine" the same; other distances are all computed, O(n d) a
    query, a block of queries at a time.

    Examples
    --------
    >>> from vicinal import ExactIndex
    >>> index = ExactIndex([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> squared_distances, indices = index.query([[0.0, 0.0]], k=2)
    >>> squared_distances.tolist(), indices.tolist()
    ([[0.0, 1.0]], [[0, 2]])
    """

    def __init__(
        self,
        vectors: ArrayLike,
        *,
        metric: str = EUCLIDEAN,
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = check_distance(metric)
        self.vectors: FloatArray = check_vectors(vectors)
        self.block_size = check_block_size(block_size)
        self.n_jobs = n_jobs
        thread_count(n_jobs)
        self.unit = check_unit(self.vectors) if self.metric == EUCLIDEAN else 1.0
        self._database = self._make_database()

    def _make_database(self) -> Database | DistanceDatabase:
        if self.metric == EUCLIDEAN:
            return Database(in_units(self.vectors, self.unit), self.block_size)
        if self.metric == COSINE:
            return Database(unit_rows(self.vectors), self.block_size)
        return DistanceDatabase(self.vectors, self.metric, self.block_size)

    def query(self, queries: ArrayLike, k: int) -> tuple[FloatArray, IntArray]:
        """Find the k nearest rows of each query.

        Parameters
        ----------
        queries : array-like of shape (m, d)
        k : int
            At most n.

        Returns
        -------
        squared_distances : float64 ndarray of shape (m, k)
            Ascending.
        indices : int64 ndarray of shape (m, k)
            Rows of ``vectors``; of two at the same distance the lower comes first.
        """
        rows = self._check_queries(queries)
        k = check_neighbors(k, len(self.vectors))
        database, n_threads = self._database, thread_count(self.n_jobs)
        parts = database.search(lambda some: database.nearest(some, k), rows, n_threads)
        values, indices = (np.concatenate(part) for part in zip(*parts, strict=True))
        return self._values(values), indices

    def query_radius(
        self, queries: ArrayLike, radius: float
    ) -> tuple[FloatArray, IntArray, IntArray]:
        """Find all rows within a distance of each query.

        A row is within when its squared distance is at most ``radius`` · ``radius``, in units.

        Parameters
        ----------
        queries : array-like of shape (m, d)
        radius : float

        Returns
        -------
        squared_distances : float64 ndarray of shape (found,)
            Query after query, ascending within each.
        indices : int64 ndarray of shape (found,)
            Rows of ``vectors``; of two at the same distance the lower comes first.
        indptr : int64 ndarray of shape (m + 1,)
            What belongs to query i stands at ``indptr[i]:indptr[i + 1]``.
        """
        rows = self._check_queries(queries)
        radius = check_radius(radius) / self.unit
        limit = {EUCLIDEAN: radius * radius, COSINE: 2 * radius}.get(self.metric, radius)
        database, n_threads = self._database, thread_count(self.n_jobs)
        parts = database.search(lambda some: database.within(some, limit), rows, n_threads)
        values, indices, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        return (
            self._values(values),
            indices,
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        )

    def distances(self, values: FloatArray) -> FloatArray:
        """Return the distances that stand behind what was returned as squared ones."""
        if self.metric != EUCLIDEAN:
            return values
        distances: FloatArray = np.sqrt(values) * self.unit
        return distances

    def _check_queries(self, queries: ArrayLike) -> FloatArray:
        rows = check_queries(queries, self.vectors, self.unit)
        return unit_rows(rows, "queries") if self.metric == COSINE else rows

    def _values(self, values: FloatArray) -> FloatArray:
        return values / 2 if self.metric == COSINE else values

    def __getstate__(self) -> dict[str, Any]:
        names = ("vectors", "metric", "block_size", "n_jobs")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
