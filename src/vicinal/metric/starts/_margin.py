"""The size of a start: such that about half of the rows have something to teach.

A start is scaled so that the median row's gap, by which its nearest wrong vote is farther than its
nearest right one, is 1, the size of the margin Δ. A start that parts its own rows too well
(discriminants of few rows do) would otherwise satisfy every margin and learn nothing.
"""

from __future__ import annotations

import numpy as np

from vicinal._kernels._targeted import infer_sets
from vicinal._types import AnyArray, FloatArray, IntArray

# Rows whose gaps are looked at.
PROBES = 256


def scale_to_margin(
    components: FloatArray, X: AnyArray, codes: IntArray, k: int, rng: np.random.Generator
) -> FloatArray:
    """Scale L so that the median size of the rows' gaps is 1 (see :func:`vote_gaps`)."""
    mapped = np.ascontiguousarray(X @ components.T)
    mapped -= mapped.mean(axis=0)
    probes = rng.permutation(len(codes))[:PROBES]
    sizes = np.abs(vote_gaps(mapped, codes.astype(np.int32), k, probes))
    known = sizes[(sizes > 0) & np.isfinite(sizes)]
    if not len(known):
        return components
    # In float64 the quotient would have all epochs that begin here walked in float64.
    return (components / np.sqrt(np.median(known))).astype(components.dtype)


def vote_gaps(mapped: FloatArray, codes: IntArray, k: int, probes: IntArray) -> FloatArray:
    """Return how much farther the nearest wrong vote of each probe is than its nearest right one.

    Σ_{j∈h'} D(x_i, x_j) − Σ_{j∈h*} D(x_i, x_j) with h' the nearest set of k other rows that can
    vote for another class; negative where the row is misclassified. Probes whose class cannot win
    are left out. Time O(m n p) for m probes.
    """
    squared_norms = np.einsum("ij,ij->i", mapped, mapped)
    # Cost of a vote that no distance outweighs: the most violating set is then the nearest wrong.
    cost = 1 + 8.0 * k * float(squared_norms.max())
    costs = cost * (1 - np.eye(int(codes.max()) + 1))
    gaps = []
    for rows in np.array_split(probes, -(-len(probes) // 32)):
        squared_distances = squared_norms[rows, None] + squared_norms - 2 * mapped[rows] @ mapped.T
        np.maximum(squared_distances, 0, out=squared_distances)
        squared_distances[np.arange(len(rows)), rows] = np.inf
        labels = np.tile(codes, (len(rows), 1))
        star, hat = (np.empty((len(rows), k), np.int32) for _ in range(2))
        loss, voted = np.empty(len(rows)), np.empty(len(rows), np.int32)
        infer_sets(squared_distances, labels, codes[rows], k, costs, star, hat, loss, voted)
        feasible = (star[:, 0] >= 0) & (voted != codes[rows])
        gaps.append((cost - loss)[feasible])
    return np.concatenate(gaps)
