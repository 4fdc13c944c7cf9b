"""Forces between pairs of mapped rows: a graph's Laplacian times the rows, never formed."""

from __future__ import annotations

from numba import njit

from vicinal._types import FloatArray, IntArray


@njit(nogil=True, cache=True)
def add_forces(
    mapped_queries: FloatArray,
    mapped_points: FloatArray,
    queries: IntArray,
    points: IntArray,
    weights: FloatArray,
    query_forces: FloatArray,
    point_forces: FloatArray,
) -> None:
    """Add w (u_q − v_j) to the row of each pair's query and take it from that of its point.

    ``mapped_queries`` and ``mapped_points`` are (m, p), as the forces are, the pairs' ``queries``,
    ``points`` and ``weights`` (s,). Where one map serves both sides, so do mapped rows and forces.
    """
    for s in range(len(queries)):
        q, j = queries[s], points[s]
        for a in range(mapped_queries.shape[1]):
            force = weights[s] * (mapped_queries[q, a] - mapped_points[j, a])
            query_forces[q, a] += force
            point_forces[j, a] -= force
