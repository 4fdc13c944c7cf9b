"""Exact nearest neighbours among packed bit codes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vicinal._kernels._hamming import codes_within, merge_nearest_codes
from vicinal._threads import map_blocks, split_rows, thread_count
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index._changes import rows_left
from vicinal.index._inputs import (
    check_block_size,
    check_codes,
    check_radius,
    check_soft_codes,
    check_width,
)

# Below this many words compared, threads cost more than they bring.
_SMALL = 10**7
# Queries that are put in order at a time.
_SOFT_BLOCK = 128


class BinaryIndex:
    """Exact search by Hamming distance: in how many bits two codes differ.

    Neighbours come in ascending order of distance, equal distances by lower row.

    Parameters
    ----------
    codes : uint8 array-like of shape (n, n_bytes)
        Bits packed by 8, as by ``numpy.packbits``. Unused bits must be alike in all codes.
    block_size : int, default=1024
        How many queries and how many codes are compared at a time.
    n_jobs : int, default=None
        Threads. None takes as many as the linear algebra library is set to use.

    Attributes
    ----------
    codes : uint8 ndarray of shape (n, n_bytes)

    Notes
    -----
    Memory: the codes, a copy in words of 64 bits, and for each thread O(block_size). Time:
    O(n · n_bytes / 8) a query.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import BinaryIndex
    >>> index = BinaryIndex(np.array([[0b0000], [0b0111], [0b0001]], dtype=np.uint8))
    >>> distances, indices = index.query(np.array([[0b0000]], dtype=np.uint8), k=2)
    >>> distances.tolist(), indices.tolist()
    ([[0, 1]], [[0, 2]])
    """

    def __init__(
        self, codes: ArrayLike, *, block_size: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.codes = check_codes(codes, "codes")
        self.block_size = check_block_size(block_size)
        self.n_jobs = n_jobs
        thread_count(n_jobs)
        self._words = np.ascontiguousarray(_as_words(self.codes).T)

    def query(self, codes: ArrayLike, k: int) -> tuple[AnyArray, IntArray]:
        """Find the k nearest codes of each query.

        Parameters
        ----------
        codes : uint8 array-like of shape (m, n_bytes), or floats of shape (m, 8 n_bytes)
            Floats in [−½, ½] are queries before they are bits, of which the signs are the code:
            the codes nearest by these, ten times k and 100 at least, are put in the order of the
            asymmetric Hamming distance ‖b − t‖² with b = ±½.
        k : int
            At most n.

        Returns
        -------
        distances : ndarray of shape (m, k)
            Differing bits (int64), or asymmetric distances (float64), ascending.
        indices : int64 ndarray of shape (m, k)
            Rows of ``codes``; of two at the same distance the lower comes first.
        """
        soft = np.asarray(codes)
        if soft.dtype.kind == "f":
            return self._rerank(check_soft_codes(soft, self.codes), k)
        queries = self._check_queries(codes)
        k = check_neighbors(k, len(self.codes))
        blocks = self._map(partial(self._nearest, k=k), queries)
        return np.concatenate([f[0] for f in blocks]), np.concatenate([f[1] for f in blocks])

    def distances(self, values: AnyArray) -> FloatArray:
        """Return numbers of bits as floats, the distances themselves."""
        return values.astype(np.float64)

    def query_radius(self, codes: ArrayLike, radius: float) -> tuple[IntArray, IntArray, IntArray]:
        """Find all codes that differ from each query in at most ``radius`` bits.

        Returns
        -------
        distances : int64 ndarray of shape (found,)
            Query after query, ascending within each.
        indices : int64 ndarray of shape (found,)
            Rows of ``codes``; of two at the same distance the lower comes first.
        indptr : int64 ndarray of shape (m + 1,)
            What belongs to query i stands at ``indptr[i]:indptr[i + 1]``.
        """
        queries = self._check_queries(codes)
        bits = int(min(check_radius(radius), 8 * self.codes.shape[1]))
        blocks = self._map(partial(self._within, radius=bits), queries)
        counts = np.concatenate([f[2] for f in blocks])
        indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return (
            np.concatenate([f[0] for f in blocks]),
            np.concatenate([f[1] for f in blocks]),
            indptr,
        )

    def add_rows(self, codes: ArrayLike) -> None:
        """Put rows behind the present ones; answers are those of an index of all of them.

        The rows are as for the index itself.
        """
        added = check_width(check_codes(codes, "codes"), self.codes)
        self.__init__(np.concatenate([self.codes, added]), **self._how)  # type: ignore[misc]

    def remove_rows(self, rows: ArrayLike) -> None:
        """Take rows out, by number or by a mask (n,); those behind them move up.

        Answers are those of an index of the rows that stay.
        """
        left = rows_left(rows, len(self.codes), "rows")
        self.__init__(self.codes[left], **self._how)  # type: ignore[misc]

    @property
    def _how(self) -> dict[str, Any]:
        return {"block_size": self.block_size, "n_jobs": self.n_jobs}

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("codes", "block_size", "n_jobs")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _rerank(self, soft: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        k = check_neighbors(k, len(self.codes))
        n_listed = min(len(self.codes), max(10 * k, 100))
        _, listed = self.query(np.packbits(soft > 0, axis=1), n_listed)
        values, indices = np.empty((len(soft), k)), np.empty((len(soft), k), np.int64)
        for start in range(0, len(soft), _SOFT_BLOCK):
            rows = slice(start, start + _SOFT_BLOCK)
            near = np.sort(listed[rows], axis=1)  # of equal distances the lower row is first
            bits = np.unpackbits(self.codes[near], axis=2).astype(np.float32) - np.float32(0.5)
            gaps = bits - soft[rows, None]
            distances = np.einsum("ijk,ijk->ij", gaps, gaps, dtype=np.float64)
            order = np.argsort(distances, axis=1, kind="stable")[:, :k]
            values[rows] = np.take_along_axis(distances, order, axis=1)
            indices[rows] = np.take_along_axis(near, order, axis=1)
        return values, indices

    def _check_queries(self, codes: ArrayLike) -> NDArray[np.uint64]:
        if np.asarray(codes).dtype.kind == "f":
            codes = np.packbits(check_soft_codes(np.asarray(codes), self.codes) > 0, axis=1)
        queries = check_codes(codes, "queries")
        if queries.shape[1] != self.codes.shape[1]:
            raise ValueError(
                f"queries have {queries.shape[1]} bytes each, but the indexed codes have "
                f"{self.codes.shape[1]}."
            )
        return _as_words(queries)

    def _map(self, search: Any, queries: NDArray[np.uint64]) -> list[Any]:
        n_threads = 1 if self._words.size * len(queries) < _SMALL else thread_count(self.n_jobs)
        return map_blocks(search, split_rows(queries, self.block_size, n_threads), n_threads)

    def _nearest(self, queries: NDArray[np.uint64], k: int) -> tuple[IntArray, IntArray]:
        nearest = np.full((len(queries), k), 64 * len(self._words) + 1, dtype=np.int32)
        indices = np.full((len(queries), k), -1, dtype=np.int64)
        for start in range(0, len(self.codes), self.block_size):
            merge_nearest_codes(self._block(start), start, queries, nearest, indices)
        return nearest.astype(np.int64), indices

    def _within(
        self, queries: NDArray[np.uint64], radius: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        starts = range(0, len(self.codes), self.block_size)
        blocks = [codes_within(self._block(start), start, queries, radius) for start in starts]
        owners, indices, values = (np.concatenate(part) for part in zip(*blocks, strict=True))
        order = np.lexsort((indices, values, owners))
        return values[order], indices[order], np.bincount(owners, minlength=len(queries))

    def _block(self, start: int) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self._words[:, start : start + self.block_size])


def _as_words(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return codes (n, bytes) as words of 64 bits, the last filled up with zeros."""
    n, n_bytes = codes.shape
    padded = np.zeros((n, -(-n_bytes // 8) * 8), dtype=np.uint8)
    padded[:, :n_bytes] = codes
    return padded.view(np.uint64)
