"""The mean of several metrics: learned a little differently, it errs less than each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vicinal._types import AnyArray, FloatArray


def mean_map(
    maps: Sequence[FloatArray], variances: FloatArray, n_components: int | None = None
) -> FloatArray:
    """Return L with LᵀL = (1/m) Σ_s c_s L_sᵀL_s.

    Parameters
    ----------
    maps : arrays L_s of shape (p_s, d)
    variances : ndarray of shape (m,)
        Of the rows under each map, summed over its components (:func:`mapped_variance`). c_s is
        one over it: no metric counts more for its units. A map without any has no share.
    n_components : int or None
        Keep so many rows, those with the largest share in the mean; None keeps its rank.

    Returns
    -------
    ndarray of shape (p, d)
        Orthogonal rows, the longest first.
    """
    shares = np.where(variances > 0, 1 / np.where(variances > 0, variances, 1), 0.0)
    scaled = [np.sqrt(c) * part.astype(np.float64) for c, part in zip(shares, maps, strict=True)]
    stacked = np.vstack(scaled) / np.sqrt(len(maps))
    _, lengths, directions = np.linalg.svd(stacked, full_matrices=False)
    rank = max(1, int(np.sum(lengths > 1e-6 * lengths[0])))
    kept = rank if n_components is None else min(rank, n_components)
    mean = lengths[:kept, None] * directions[:kept]
    return np.ascontiguousarray(mean, dtype=maps[0].dtype)


def mapped_variance(X: AnyArray, components: FloatArray) -> float:
    """Return the variance of rows X (n, d) under a map, summed over its components."""
    mapped = np.asarray(X @ components.T, dtype=np.float64)
    return float(mapped.var(axis=0).sum())
