"""The mean of several metrics of linear maps, near rows being the unit of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vicinal._types import AnyArray, FloatArray
from vicinal.pairs import nearest_rows

# Rows looked at, and how many neighbours of each, to tell the size of a metric.
PROBES, NEAR = 1000, 5


def mean_metric(X: AnyArray, maps: Sequence[FloatArray]) -> FloatArray:
    """Return the map of the mean of several metrics, near rows of X (n, d) being their unit."""
    sizes = [near_squared_distance(X, components) for components in maps]
    if not any(sizes):  # all rows are one
        return maps[0]
    return mean_map(maps, np.array(sizes))


def mean_map(
    maps: Sequence[FloatArray], sizes: FloatArray, n_components: int | None = None
) -> FloatArray:
    """Return L with LᵀL = (1/m) Σ_s c_s L_sᵀL_s.

    Parameters
    ----------
    maps : arrays L_s of shape (p_s, d)
    sizes : ndarray of shape (m,)
        The squared distance of near rows under each map (:func:`near_squared_distance`). c_s is
        one over it: no metric counts more for its units. A map without any has no share.
    n_components : int or None
        Keep so many rows, those with the largest share in the mean; None keeps its rank.

    Returns
    -------
    ndarray of shape (p, d)
        Orthogonal rows, the longest first.
    """
    shares = np.where(sizes > 0, 1 / np.where(sizes > 0, sizes, 1), 0.0)
    scaled = [np.sqrt(c) * part.astype(np.float64) for c, part in zip(shares, maps, strict=True)]
    stacked = np.vstack(scaled) / np.sqrt(len(maps))
    _, lengths, directions = np.linalg.svd(stacked, full_matrices=False)
    rank = max(1, int(np.sum(lengths > 1e-6 * lengths[0])))
    rows = rank if n_components is None else min(rank, n_components)
    mean = lengths[:rows, None] * directions[:rows]
    return np.ascontiguousarray(mean, dtype=maps[0].dtype)


def near_squared_distance(X: AnyArray, components: FloatArray) -> float:
    """Return the mean squared distance of rows X (n, d) to their few nearest, under a map.

    Of many rows, some at equal steps are looked at: neighbours of all, so that the size is that of
    the neighbourhoods a vote is taken in. Time O(n p) times the rows looked at.
    """
    return near_squared_size(np.ascontiguousarray(X @ components.T))


def near_squared_size(mapped: AnyArray) -> float:
    """Return the same of rows (n, p) that are mapped already."""
    some = mapped[:: -(-len(mapped) // PROBES)]
    k = min(NEAR + 1, len(mapped))  # the first is the row itself, or its equal
    near = mapped[nearest_rows(mapped, some, k)[:, 1:]]
    gaps = near - some[:, None]
    return float(np.square(gaps, dtype=np.float64).sum(axis=2).mean()) if k > 1 else 0.0
