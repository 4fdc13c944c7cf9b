"""Exact nearest neighbours by blocked comparison with every vector."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray


class ExactIndex:
    """Exact k-nearest and radius search under the squared Euclidean distance."""

    def __init__(
        self, vectors: AnyArray, *, block_size: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.vectors = np.ascontiguousarray(vectors)
        self.block_size = block_size
        self.n_jobs = n_jobs

    def query(self, queries: AnyArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances and indices, both (m, k), ascending, ties by lower index."""
        found = [_nearest(query, self.vectors, k) for query in np.asarray(queries)]
        return np.array([f[0] for f in found]), np.array([f[1] for f in found])


def _nearest(query: AnyArray, vectors: AnyArray, k: int) -> tuple[FloatArray, IntArray]:
    gap = vectors.astype(np.float64) - query
    squared_distances = np.einsum("ij,ij->i", gap, gap)
    order = np.argsort(squared_distances, kind="stable")[:k]
    return squared_distances[order], order
