"""Metrics are averaged: the mean of several, learned a little differently, errs less than each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vicinal._types import FloatArray


def mean_map(maps: Sequence[FloatArray], n_components: int | None = None) -> FloatArray:
    """Return L with LᵀL = (1/m) Σ_s c_s L_sᵀL_s, the metrics scaled to the size of the first.

    Parameters
    ----------
    maps : arrays L_s of shape (p_s, r)
    n_components : int or None
        Keep so many rows, those with the largest share in the mean; None keeps its rank.

    Returns
    -------
    ndarray of shape (p, r)
        Orthogonal rows, the longest first. c_s makes every tr L_sᵀL_s that of the first.
    """
    size = float(np.linalg.norm(maps[0]))
    scaled = [size / (np.linalg.norm(part) or 1.0) * part.astype(np.float64) for part in maps]
    stacked = np.vstack(scaled) / np.sqrt(len(maps))
    _, lengths, directions = np.linalg.svd(stacked, full_matrices=False)
    rank = max(1, int(np.sum(lengths > 1e-6 * lengths[0])))
    kept = rank if n_components is None else min(rank, n_components)
    mean = lengths[:kept, None] * directions[:kept]
    return np.ascontiguousarray(mean, dtype=maps[0].dtype)
