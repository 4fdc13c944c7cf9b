"""Features and targets as the user knows them, whatever the preparation made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import AnyArray, Dataset, FloatArray
from vicinal.comparison._rows import PreparedFold
from vicinal.data import Preparation


def original_relevance(metric: Any, prepared: PreparedFold) -> FloatArray:
    """Return each original feature's share in the learned squared distance.

    r_j ∝ M_jj var_j, where M is mapped back through the PCA of the preparation, if any, and
    var_j is the variance of the scaled feature on the training part (1 after a z-score), so
    that features of other units compare and constant ones count nothing. Empty for a map that
    is not linear.
    """
    components = getattr(metric, "components_", None)
    if components is None:
        return np.empty(0)
    back, variances = undo_reduction(prepared)
    through = np.asarray(components, np.float64) @ back if back is not None else components
    shares: FloatArray = np.einsum("ij,ij->j", through, through) * variances
    total = shares.sum()
    return shares / total if total > 0 else shares


def undo_reduction(prepared: PreparedFold) -> tuple[FloatArray | None, FloatArray]:
    """The linear map from scaled features to prepared ones (None: they are the same), variances."""
    preparation = prepared.preparation
    if preparation.n_components is None:
        return None, prepared.X_train.var(axis=0, dtype=np.float64)
    X = prepared.dataset.X[prepared.rows.train]
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    if preparation.pca_first and preparation.scale == "zscore":
        return preparation.axes_ / preparation.scale_[:, None], X.var(axis=0, dtype=np.float64)
    scaled = Preparation(preparation.scale).fit_transform(X)
    return preparation.axes_, scaled.var(axis=0, dtype=np.float64)


def feature_names(dataset: Dataset) -> tuple[str, ...]:
    """Return what the features are called, x0, x1, … where nobody named them."""
    names = dataset.feature_names or tuple(f"x{i}" for i in range(dataset.X.shape[1]))
    return tuple(str(name) for name in names)


def name_targets(y: AnyArray, dataset: Dataset) -> AnyArray:
    """Return classes by name as texts, numbers as floats."""
    if dataset.task == "regression":
        return np.asarray(y, dtype=np.float64)
    return np.array([name_target(value, dataset) for value in y], dtype=np.str_)


def name_target(value: Any, dataset: Dataset) -> str:
    if dataset.task == "regression":
        return f"{float(value):.4g}"
    return str(dataset.classes[int(value)]) if dataset.classes else str(value)
