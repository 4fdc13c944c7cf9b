"""Exact nearest neighbours: the checked door to the search that everyone uses (``pairs``)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vicinal._threads import thread_count
from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index._changes import rows_left
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
    check_query_width,
    check_radius,
    check_unit,
    check_vectors,
    check_width,
)
from vicinal.index._partitions import Partitions, gathered_blocks, read_partitions
from vicinal.pairs import Database, in_units
from vicinal.rows import is_distributed


class ExactIndex:
    """Exact search, by squared Euclidean distance unless another is named.

    The squared distance of a query q and a row y is Σ_j (q_j − y_j)² in float64, summed from the
    first j to the last. Neighbours come in ascending order of that number, equal numbers by lower
    row. So equal vectors are at distance exactly 0, and results depend neither on ``block_size``,
    ``n_jobs``, the order or the number of queries, nor on whether the same numbers are given as
    float32 or as float64.

    Parameters
    ----------
    vectors : array-like or dask array of shape (n, d)
        Finite numbers, kept as float32 where given so (or as small integers), else as float64. The
        chunks of a dask array are searched where they lie; none is gathered.
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
    vectors : ndarray of shape (n, d), or dask array
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

    Of a dask array a worker holds a chunk and its float32 copy for each of its threads, and a
    round of queries: as many as a chunk has rows, or 4,096. A round reads all chunks. Tasks of a
    lost worker are done again by others.

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
        in_parts = is_distributed(vectors)
        self.vectors: Any = (read_partitions if in_parts else check_vectors)(vectors)
        self.block_size = check_block_size(block_size)
        self.n_jobs = n_jobs
        thread_count(n_jobs)
        plain = self.metric == EUCLIDEAN and not in_parts
        self.unit = check_unit(self.vectors) if plain else 1.0
        self._database = self._make_database()

    def _make_database(self) -> Database | DistanceDatabase | Partitions:
        if is_distributed(self.vectors):
            # The scheduler has the threads.
            how = self._how | {"n_jobs": self.n_jobs or 1}
            return Partitions(self.vectors, partial(ExactIndex, **how))
        if self.metric == EUCLIDEAN:
            return Database(in_units(self.vectors, self.unit), self.block_size)
        if self.metric == COSINE:
            return Database(unit_rows(self.vectors), self.block_size)
        return DistanceDatabase(self.vectors, self.metric, self.block_size)

    def query(self, queries: ArrayLike, k: int) -> tuple[FloatArray, IntArray]:
        """Find the k nearest rows of each query.

        Parameters
        ----------
        queries : array-like or dask array of shape (m, d)
        k : int
            At most n.

        Returns
        -------
        squared_distances : float64 ndarray of shape (m, k)
            Ascending.
        indices : int64 ndarray of shape (m, k)
            Rows of ``vectors``; of two at the same distance the lower comes first.
        """
        k = check_neighbors(k, len(self.vectors))
        rows, database = self._check_queries(queries), self._database
        if isinstance(database, Partitions):
            return database.nearest(rows, k)
        if is_distributed(queries):
            blocks = [self.query(block, k) for block in gathered_blocks(queries)]
            return tuple(np.concatenate(each) for each in zip(*blocks, strict=True))  # type: ignore[return-value]
        n_threads = thread_count(self.n_jobs)
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
        rows, database = self._check_queries(queries), self._database
        reach = check_radius(radius) / self.unit
        if isinstance(database, Partitions):
            values, indices, counts = database.within(rows, reach)
        elif is_distributed(queries):
            blocks = [self.query_radius(block, radius) for block in gathered_blocks(queries)]
            counts = np.concatenate([np.diff(block[2]) for block in blocks])
            values, indices = (np.concatenate([block[i] for block in blocks]) for i in (0, 1))
        else:
            limit = {EUCLIDEAN: reach * reach, COSINE: 2 * reach}.get(self.metric, reach)
            parts = database.search(
                lambda some: database.within(some, limit), rows, thread_count(self.n_jobs)
            )
            found, indices, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
            values = self._values(found)
        return values, indices, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    def distances(self, values: FloatArray) -> FloatArray:
        """Return the distances that stand behind what was returned as squared ones."""
        if self.metric != EUCLIDEAN:
            return values
        distances: FloatArray = np.sqrt(values) * self.unit
        return distances

    def _check_queries(self, queries: Any) -> Any:
        if is_distributed(queries):
            return check_query_width(read_partitions(queries, "queries"), self.vectors)
        rows = check_queries(queries, self.vectors, self.unit)
        if is_distributed(self.vectors):  # whose chunks do the rest
            return rows
        return unit_rows(rows, "queries") if self.metric == COSINE else rows

    def _values(self, values: FloatArray) -> FloatArray:
        return values / 2 if self.metric == COSINE else values

    def add_rows(self, vectors: ArrayLike) -> None:
        """Put rows behind the present ones; answers are those of an index of all of them.

        The rows are as for the index itself.
        """
        self._refuse_changes()
        self.__init__(np.concatenate([self.vectors, self._check_width(vectors)]), **self._how)  # type: ignore[misc]

    def remove_rows(self, rows: ArrayLike) -> None:
        """Take rows out, by number or by a mask (n,); those behind them move up.

        Answers are those of an index of the rows that stay.
        """
        self._refuse_changes()
        left = rows_left(rows, len(self.vectors), "rows")
        self.__init__(self.vectors[left], **self._how)  # type: ignore[misc]

    def _refuse_changes(self) -> None:
        if is_distributed(self.vectors):
            raise ValueError(
                "rows of a dask array neither come nor go; make an index of the changed array."
            )

    @property
    def _how(self) -> dict[str, Any]:
        return {"metric": self.metric, "block_size": self.block_size, "n_jobs": self.n_jobs}

    def _check_width(self, vectors: ArrayLike) -> FloatArray:
        return check_width(check_vectors(vectors), self.vectors)

    def __getstate__(self) -> dict[str, Any]:
        names = ("vectors", "metric", "block_size", "n_jobs")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
