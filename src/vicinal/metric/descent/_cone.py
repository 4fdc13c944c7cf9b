"""The cone of metrics: symmetric matrices without negative eigenvalues."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from vicinal._types import FloatArray


def project_to_cone(
    metric: FloatArray, n_components: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the nearest positive semidefinite matrix and its factor L, W = LᵀL.

    L has a row for every positive eigenvalue (at least one), largest first; with ``n_components``
    no more than so many, and the matrix is the nearest of that rank.
    """
    # Divide and conquer is twice as fast as the default driver at several hundred features.
    values, directions = eigh((metric + metric.T) / 2, driver="evd")
    positive = values > max(values[-1], 0.0) * 1e-7
    positive[-1] = True
    if n_components is not None:
        positive[:-n_components] = False
    factor = np.sqrt(np.maximum(values[positive], 0.0))[:, None] * directions[:, positive].T
    factor = np.ascontiguousarray(factor[::-1], dtype=metric.dtype)
    return factor.T @ factor, factor
