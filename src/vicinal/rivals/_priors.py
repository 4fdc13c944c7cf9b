"""Metrics known before learning: where a learner starts from, or stays near to."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from vicinal._types import FloatArray
from vicinal._validation import check_choice
from vicinal.metric.descent import FramedRows
from vicinal.metric.starts import discriminant_map, within_scatter

PRIORS = ("identity", "covariance", "within")
SHRINKAGE = "ledoit_wolf"


def check_prior(prior: Any) -> None:
    """Refuse a name that is no prior and an array that is no metric."""
    if isinstance(prior, str):
        check_choice("prior", prior, ("auto", *PRIORS))
        return
    matrix = np.asarray(prior, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"prior must be a name or a finite square matrix, got {matrix.shape}.")
    if not np.allclose(matrix, matrix.T):
        raise ValueError("prior must be symmetric: a distance is the same both ways.")
    smallest, largest = np.linalg.eigvalsh(matrix)[[0, -1]]
    if smallest <= 1e-12 * max(largest, 0.0):
        raise ValueError(
            f"prior must be positive definite, but its smallest eigenvalue is {smallest:.3g}; add "
            "a small multiple of the identity."
        )


def known_prior(prior: Any) -> Any:
    """Return the prior where there are no classes to choose it by: "auto" is the identity."""
    return "identity" if isinstance(prior, str) and prior == "auto" else prior


def prior_matrix(prior: Any, rows: FramedRows) -> FloatArray:
    """Return L (r, r) of the prior M₀ = LᵀL in the frame of some rows.

    Parameters
    ----------
    prior : "identity", "covariance", "within" or ndarray of shape (d, d)
    rows : FramedRows
        In a frame of one scale.
    """
    if not isinstance(prior, str):
        return _given(np.asarray(prior, dtype=np.float64), rows)
    width = rows.X.shape[1]
    if prior == "identity":
        return rows.frame.plain(width).astype(np.float64)
    together = np.zeros(rows.n_rows, np.int64)
    codes = rows.codes if prior == "within" else together
    scatter = within_scatter(rows.X, codes, len(rows.frame.scale))
    return discriminant_map(scatter, width, SHRINKAGE)


def _given(matrix: FloatArray, rows: FramedRows) -> FloatArray:
    if len(matrix) != len(rows.frame.scale):
        raise ValueError(
            f"prior is of {len(matrix)} features, but the rows have {len(rows.frame.scale)}."
        )
    values, directions = eigh(matrix)
    root = rows.frame.unfold((np.sqrt(np.maximum(values, 0.0)) * directions).T)
    triangle: FloatArray = np.linalg.qr(root)[1]
    return triangle
