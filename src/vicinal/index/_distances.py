"""Distances by their names, other than the Euclidean one: rows compared block by block.

    "cosine"     1 − cos of the angle: half the squared Euclidean distance of rows of length one,
                 and so searched by the same products
    all others   by SciPy, a block of queries against all rows

Values are the distances themselves, not squared; of equal ones the lower row comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist

from vicinal._threads import map_blocks, split_rows
from vicinal._types import AnyArray, FloatArray, IntArray

EUCLIDEAN, COSINE = "euclidean", "cosine"
# What SciPy calls them. Those that need parameters, or truth values, are not among them.
SCIPY_NAMES = {
    "braycurtis": "braycurtis",
    "canberra": "canberra",
    "chebyshev": "chebyshev",
    "correlation": "correlation",
    "hamming": "hamming",
    "manhattan": "cityblock",
}
# Further names that scikit-learn has for the same.
ALIASES = {"cityblock": "manhattan", "l1": "manhattan", "l2": EUCLIDEAN, "minkowski": EUCLIDEAN}
DISTANCES = (EUCLIDEAN, COSINE, *SCIPY_NAMES)
# Pairs of rows that are compared at a time.
MOST_PAIRS = 2**22


def check_distance(name: Any) -> str:
    """Return the name of a distance; refuse others, naming the nearest."""
    plain = ALIASES.get(name, name) if isinstance(name, str) else name
    if isinstance(plain, str) and plain in DISTANCES:
        return plain
    close = get_close_matches(str(name), DISTANCES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"metric must be one of {', '.join(DISTANCES)}, got {name!r}.{hint}")


def unit_rows(rows: Any, name: str = "vectors") -> Any:
    """Return dense or sparse rows divided by their lengths; refuse rows of zeros."""
    if issparse(rows):
        rows = csr_matrix(rows, dtype=np.float64)
        largest = np.asarray(abs(rows).max(axis=1).todense()).ravel()
    else:
        largest = np.abs(rows).max(axis=1).astype(np.float64)
    if not largest.all():
        row = int(np.argmin(largest))
        raise ValueError(
            f"{name} hold a row of zeros, row {row}, which has no direction: the cosine is not "
            "defined for it; remove it or take another distance."
        )
    # By the largest entry first, so that no square leaves the range of floats.
    if issparse(rows):
        rows = csr_matrix(rows.multiply(1 / largest[:, None]))
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        return csr_matrix(rows.multiply(1 / np.sqrt(squares)[:, None]))
    rows = rows.astype(np.float64) / largest[:, None]
    return rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]


class DistanceDatabase:
    """Rows that are searched by a distance SciPy knows; asked as ``pairs.Database`` is."""

    def __init__(self, rows: FloatArray, name: str, block_size: int) -> None:
        self.rows, self.name = rows, SCIPY_NAMES[name]
        self.block_size = min(block_size, max(1, MOST_PAIRS // len(rows)))

    def search(
        self, search: Callable[[FloatArray], Any], queries: FloatArray, n_threads: int
    ) -> list[Any]:
        """Return what a search makes of each block of the queries, in order."""
        return map_blocks(search, split_rows(queries, self.block_size, n_threads), n_threads)

    def nearest(self, queries: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return distances and rows (m, k) of the nearest, ascending, ties by row."""
        values = self._compare(queries)
        if len(queries) == 0:
            return np.empty((0, k)), np.empty((0, k), np.int64)
        limits = np.partition(values, k - 1, axis=1)[:, k - 1]
        near, rows, counts = _sorted(values, values <= limits[:, None])
        first = (np.cumsum(counts) - counts)[:, None] + np.arange(k)
        return near[first], rows[first]

    def within(self, queries: FloatArray, radius: float) -> tuple[FloatArray, IntArray, IntArray]:
        """Return distances and rows of all within, query after query, and their counts."""
        values = self._compare(queries)
        return _sorted(values, values <= radius)

    def _compare(self, queries: FloatArray) -> FloatArray:
        """Return all distances (m, n); rows that do not vary correlate with nothing."""
        values: FloatArray = cdist(queries, self.rows, self.name)
        return np.nan_to_num(values, nan=1.0, copy=False)


def _sorted(values: FloatArray, near: AnyArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return what is near, query after query, by distance, then row; and how many each has."""
    owners, rows = np.nonzero(near)
    some = values[owners, rows]
    order = np.lexsort((rows, some, owners))
    return some[order], rows[order].astype(np.int64), near.sum(axis=1)
