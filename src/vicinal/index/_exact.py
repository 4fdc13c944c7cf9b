"""Exact nearest neighbours by blocked comparison with every vector.

    queries ──centre──▶ float32 ──┐
                                  ├─ matrix product, a block at a time ─▶ lower bounds
    vectors ──centre──▶ float32 ──┘                                           │
                                            rows that may still be near ◀─────┘
    queries, vectors as given ─▶ their squared distances in float64 ─▶ the k nearest so far

The fast product only rules rows out, by a bound on its rounding (``_filter``); whatever is returned
was computed directly. scikit-learn's and faiss' searches return the rounded values themselves:
there, equal distances may differ in their last digits, and ties fall as the rounding does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vicinal._kernels._select import merge_nearest, rows_within
from vicinal._threads import map_blocks, split_rows, thread_count
from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index._filter import (
    QuerySide,
    RowSide,
    choose_centre,
    fits_float32,
    query_side,
    row_side,
)
from vicinal.index._inputs import (
    check_block_size,
    check_queries,
    check_radius,
    check_vectors,
    choose_unit,
    in_units,
)

# Below this many multiplications threads cost more than they bring.
_SMALL = 10**7
# Few enough rows that a pass over them stays in the processor's cache.
_FILL_ROWS = 128


class _Block(NamedTuple):
    """What a kernel needs to compare queries with one block of rows, in the kernels' order."""

    products: FloatArray
    squared_norms: FloatArray
    norms: FloatArray
    vectors: FloatArray
    first_row: int
    queries: FloatArray
    query_norms: FloatArray
    slack: Any
    floor: float


class ExactIndex:
    """Exact search by squared Euclidean distance.

    The squared distance of a query q and a row y is Σ_j (q_j − y_j)² in float64, summed from the
    first j to the last. Neighbours come in ascending order of that number, equal numbers by lower
    row. So equal vectors are at distance exactly 0, and results depend neither on ``block_size``,
    ``n_jobs``, the order or the number of queries, nor on whether the same numbers are given as
    float32 or as float64.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        Finite numbers, kept as float32 where given so (or as small integers), else as float64.
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
    many rows are equally far.

    Examples
    --------
    >>> from vicinal import ExactIndex
    >>> index = ExactIndex([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> squared_distances, indices = index.query([[0.0, 0.0]], k=2)
    >>> squared_distances.tolist(), indices.tolist()
    ([[0.0, 1.0]], [[0, 2]])
    """

    def __init__(
        self, vectors: ArrayLike, *, block_size: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.vectors: FloatArray = check_vectors(vectors)
        self.block_size = check_block_size(block_size)
        self.n_jobs = n_jobs
        thread_count(n_jobs)
        self.unit = choose_unit(self.vectors)
        self._rows = in_units(self.vectors, self.unit)
        self._centre = choose_centre(self._rows)
        self._filter = self._float32_filter()

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
        rows = check_queries(queries, self._rows, self.unit)
        k = check_neighbors(k, len(self.vectors))
        found = self._map(partial(self._nearest, k=k), rows)
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

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
        rows = check_queries(queries, self._rows, self.unit)
        radius = check_radius(radius) / self.unit
        found = self._map(partial(self._within, squared_radius=radius * radius), rows)
        counts = np.concatenate([f[2] for f in found])
        indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found]), indptr

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("vectors", "block_size", "n_jobs")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _map(self, search: Callable[[FloatArray], Any], queries: FloatArray) -> list[Any]:
        small = self._rows.size * len(queries) < _SMALL
        n_threads = 1 if small else thread_count(self.n_jobs)
        return map_blocks(search, split_rows(queries, self.block_size, n_threads), n_threads)

    def _nearest(self, queries: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        nearest = np.full((len(queries), k), np.inf)
        indices = np.full((len(queries), k), -1, dtype=np.int64)
        side, evaluated = self._query_side(queries), 0
        for start in range(0, len(self._rows), self.block_size):
            evaluated += merge_nearest(*self._compare(side, start), nearest, indices)
            if side.slack > 1e-10 and evaluated > len(queries) * (16 + 4 * k + start // 16):
                side = query_side(side.queries, self._centre, np.float64)
        return nearest, indices

    def _within(
        self, queries: FloatArray, squared_radius: float
    ) -> tuple[FloatArray, IntArray, IntArray]:
        side = self._query_side(queries)
        starts = range(0, len(self._rows), self.block_size)
        found = [rows_within(*self._compare(side, start), squared_radius) for start in starts]
        owners, indices, values = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.lexsort((indices, values, owners))
        return values[order], indices[order], np.bincount(owners, minlength=len(queries))

    def _query_side(self, queries: FloatArray) -> QuerySide:
        queries = queries.astype(np.float64)
        if self._filter is not None:
            side = query_side(queries, self._centre, np.float32)
            if fits_float32(side.norms):
                return side
        return query_side(queries, self._centre, np.float64)

    def _compare(self, side: QuerySide, start: int) -> _Block:
        vectors = self._rows[start : start + self.block_size]
        if self._filter is not None and side.negated.dtype == np.float32:
            rows = RowSide(*(part[start : start + self.block_size] for part in self._filter))
        else:
            rows = row_side(vectors, self._centre, np.float64)
        return _Block(
            products=side.negated @ rows.rows.T,
            squared_norms=rows.squared_norms,
            norms=rows.norms,
            vectors=vectors,
            first_row=start,
            queries=side.queries,
            query_norms=side.norms,
            slack=side.slack,
            floor=side.floor,
        )

    def _float32_filter(self) -> RowSide | None:
        """Return all rows as the float32 filter sees them; None where float32 cannot hold them."""
        n, d = self._rows.shape
        whole = RowSide(np.empty((n, d), np.float32), *np.empty((2, n), np.float32))
        for start in range(0, n, _FILL_ROWS):
            block = row_side(self._rows[start : start + _FILL_ROWS], self._centre, np.float32)
            for part, values in zip(whole, block, strict=True):
                part[start : start + _FILL_ROWS] = values
        return whole if fits_float32(whole.norms) else None
