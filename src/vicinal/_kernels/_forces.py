"""Forces between pairs of mapped rows: a graph's Laplacian times the rows, never formed."""

from __future__ import annotations

from numba import njit

from vicinal._types import FloatArray, IntArray


@njit(nogil=True, cache=True)
def add_forces(
    mapped: FloatArray, queries: IntArray, points: IntArray, weights: FloatArray, out: FloatArray
) -> None:
    """Add w (z_q − z_j) to the row of each pair's query and take it from that of its point.

    ``mapped`` and ``out`` are (m, p), the pairs' ``queries``, ``points`` and ``weights`` (s,).
    """
    for s in range(len(queries)):
        q, j = queries[s], points[s]
        for a in range(mapped.shape[1]):
            force = weights[s] * (mapped[q, a] - mapped[j, a])
            out[q, a] += force
            out[j, a] -= force
