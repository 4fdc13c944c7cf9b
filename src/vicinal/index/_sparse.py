"""Exact nearest neighbours of sparse rows, never made dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index._distances import COSINE, EUCLIDEAN, check_distance, unit_rows
from vicinal.index._inputs import (
    check_block_size,
    check_radius,
    check_unit,
    check_vectors,
    refuse_far,
)
from vicinal.rows import refuse_long_whole_numbers

# Squared distances by norms and products are within this share of the norms of the true ones:
# sums of up to 2²⁰ products in float64.
_ROUNDING = 2.0**-32
_FARTHEST = 1e153  # in units: beyond any distance there is, and its square is a float


class SparseIndex:
    """Exact search by squared Euclidean distance among sparse rows.

    Same questions and answers as :class:`ExactIndex`. Norms and sparse products only rule rows
    out; the distances of what may be near are computed from the differences, in float64.

    Parameters
    ----------
    vectors : sparse matrix of shape (n, d)
        Finite numbers.
    metric : {"euclidean", "cosine"}
        By "cosine" rows are kept at length one, and values are 1 − cos.
    block_size : int, default=1024
        How many queries are compared with all rows at a time.

    Attributes
    ----------
    vectors : csr_matrix of shape (n, d)
    unit : float
        What a distance of 1 stands for.

    Notes
    -----
    O(m n s) time for s entries a row, O(block_size · n) memory beside the rows.
    """

    def __init__(
        self, vectors: Any, *, metric: str = EUCLIDEAN, block_size: int | None = None
    ) -> None:
        self.metric = check_distance(metric)
        if self.metric not in (EUCLIDEAN, COSINE):
            raise ValueError(f"sparse rows are searched by euclidean or cosine, not {metric!r}.")
        self.vectors = _finite_rows(vectors, "vectors")
        if self.metric == COSINE:
            self.vectors = unit_rows(self.vectors)
        self.block_size = block_size
        self.unit = check_unit(self.vectors.data[:, None])
        self._rows = self.vectors if self.unit == 1.0 else self.vectors / self.unit
        self._norms = _squared_norms(self._rows)
        self._block = check_block_size(block_size)

    def query(self, queries: Any, k: int) -> tuple[FloatArray, IntArray]:
        """Find the k nearest rows of each query; returns as :meth:`ExactIndex.query`."""
        queries = self._check_queries(queries)
        k = check_neighbors(k, self.vectors.shape[0])
        values, indices = np.empty((queries.shape[0], k)), np.empty((queries.shape[0], k), np.int64)
        for number, rounded, slack in self._rounded(queries):
            bound = np.partition(rounded, k - 1)[k - 1] + 2 * slack
            found, squared = self._exactly(queries[number], rounded <= bound)
            values[number], indices[number] = squared[:k], found[:k]
        return self._values(values), indices

    def query_radius(self, queries: Any, radius: float) -> tuple[FloatArray, IntArray, IntArray]:
        """Find the rows within a distance; returns as :meth:`ExactIndex.query_radius`."""
        queries = self._check_queries(queries)
        radius = check_radius(radius)
        limit = min(radius / self.unit, _FARTHEST) ** 2 if self.metric == EUCLIDEAN else 2 * radius
        values, indices, sizes = [], [], [0]
        for number, rounded, slack in self._rounded(queries):
            found, squared = self._exactly(queries[number], rounded <= limit + slack)
            within = squared <= limit
            values.append(squared[within])
            indices.append(found[within])
            sizes.append(int(within.sum()))
        return self._values(np.concatenate(values)), np.concatenate(indices), np.cumsum(sizes)

    def distances(self, values: FloatArray) -> FloatArray:
        """Return the distances that stand behind what was returned as squared ones."""
        if self.metric == COSINE:
            return values
        distances: FloatArray = np.sqrt(values) * self.unit
        return distances

    def _values(self, values: FloatArray) -> FloatArray:
        return values / 2 if self.metric == COSINE else values

    def _check_queries(self, queries: Any) -> csr_matrix:
        queries = _finite_rows(queries, "queries")
        if self.metric == COSINE:
            queries = unit_rows(queries, "queries")
        if self.unit != 1.0:
            queries = csr_matrix(queries / self.unit)
        refuse_far(queries.data, self.unit)
        if queries.shape[1] != self.vectors.shape[1]:
            raise ValueError(
                f"queries have {queries.shape[1]} columns, but the indexed vectors have "
                f"{self.vectors.shape[1]}."
            )
        return queries

    def _rounded(self, queries: csr_matrix) -> Any:
        """Yield each query's number, rounded distances to all rows, and how far off these are."""
        for start in range(0, queries.shape[0], self._block):
            block = queries[start : start + self._block]
            norms = _squared_norms(block)
            products = (block @ self._rows.T).toarray()
            for i, own in enumerate(norms):
                largest = own + self._norms.max()
                yield start + i, own + self._norms - 2 * products[i], _ROUNDING * largest

    def _exactly(self, query: csr_matrix, near: Any) -> tuple[IntArray, FloatArray]:
        """Return the rows that may be near with their squared distances, ascending."""
        rows = np.flatnonzero(near)
        gaps = self._rows[rows] - csr_matrix(
            (
                np.tile(query.data, len(rows)),
                np.tile(query.indices, len(rows)),
                np.arange(len(rows) + 1) * query.nnz,
            ),
            shape=(len(rows), query.shape[1]),
        )
        squared = _squared_norms(csr_matrix(gaps))
        order = np.lexsort((rows, squared))
        return rows[order], squared[order]


def _finite_rows(rows: Any, name: str) -> csr_matrix:
    if not issparse(rows):
        rows = check_vectors(rows, name)
    if rows.ndim != 2 or 0 in rows.shape[1:] or rows.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must be real numbers in rows and columns, got {rows.dtype} of shape "
            f"{rows.shape}."
        )
    refuse_long_whole_numbers(rows, name)
    checked = csr_matrix(rows, dtype=np.float64)
    if not np.isfinite(checked.data).all():
        raise ValueError(f"{name} hold NaN or infinity; remove or impute it.")
    return checked


def _squared_norms(rows: csr_matrix) -> FloatArray:
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
