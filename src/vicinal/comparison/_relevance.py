"""What a linear metric looks at, told in the features the user knows."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, FloatArray
from vicinal.data import Preparation


def relevance_of(components: AnyArray, preparation: Preparation, X: AnyArray) -> FloatArray:
    """Return each original feature's share in the learned squared distance, of shape (d,).

    r_j ∝ M_jj var_j, where M is mapped back through the PCA of the preparation, if any, and var_j
    is the variance of the scaled feature over the training rows X (n, d) without holes (1 after
    a z-score), so that features of other units compare and constant ones count nothing.
    """
    through = weigh_features(components, preparation, X)
    shares: FloatArray = np.einsum("ij,ij->j", through, through)
    total = shares.sum()
    return shares / total if total > 0 else shares


def weigh_features(directions: AnyArray, preparation: Preparation, X: AnyArray) -> FloatArray:
    """Return what a standard deviation of each original feature weighs in directions (r, d)."""
    through: FloatArray = np.asarray(directions, np.float64)
    if preparation.n_components is None:
        return through * preparation.transform(X).std(axis=0, dtype=np.float64)
    if preparation.pca_first and preparation.scale == "zscore":
        through = through @ (preparation.axes_ / preparation.scale_[:, None])
        return through * X.std(axis=0, dtype=np.float64)
    bare = Preparation(preparation.scale, deviations=preparation.deviations)
    scaled = bare.fit_transform(X)
    return through @ preparation.axes_ * scaled.std(axis=0, dtype=np.float64)
