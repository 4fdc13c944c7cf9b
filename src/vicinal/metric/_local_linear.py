"""Slopes of local linear regression, by weighted ridge among the neighbours of each query.

    β(x) = (Cov_w(u) + λI)⁻¹ Cov_w(u, y),   λ = ridge · tr Cov_w(u) / d,

with w_j = K(‖u − u_j‖ / r). Cov_w is d × d; with fewer neighbours k than features, the same β
is Uᵀ(UUᵀ + λI)⁻¹y over the weighted, centred rows U (k, d).
"""

from __future__ import annotations

import numpy as np

from vicinal._kernels import _smoothing as kernels
from vicinal._types import FloatArray, IntArray

# Numbers a batch of neighbourhoods may hold.
BATCH_ENTRIES = 2**22


def neighbour_weights(squared_distances: FloatArray, kernel: int) -> FloatArray:
    """Return K(‖u − u_j‖ / r), r a little beyond the farthest of the k neighbours, (m, k)."""
    # The farthest itself would have weight 0; a tenth of a neighbour's share keeps it.
    reach = squared_distances[:, -1:] * (1 + 0.1 / squared_distances.shape[1])
    ratios = np.divide(
        squared_distances, reach, out=np.zeros_like(squared_distances), where=reach > 0
    )
    weights: FloatArray = kernels.profiles(ratios, kernel)
    return weights


def local_fits(
    neighbours: FloatArray, targets: FloatArray, weights: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit a plane to each neighbourhood.

    Parameters
    ----------
    neighbours : ndarray of shape (m, k, d)
    targets : ndarray of shape (m, k, C)
    weights : ndarray of shape (m, k)
        Not negative; a neighbourhood without weight gets slope 0.
    ridge : float
        λ in units of the mean variance of the neighbourhood.

    Returns
    -------
    centres : ndarray of shape (m, d)
    means : ndarray of shape (m, C)
    slopes : ndarray of shape (m, C, d)
        The plane is mean_c + slope_c · (u − centre).

    Notes
    -----
    Time O(m (k d² + d³)), or O(m (k² d + k³)) where k < d; memory O(m (k d + min(k, d)²)).
    """
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    centres = np.einsum("mk,mkd->md", shares, neighbours)
    means = np.einsum("mk,mkc->mc", shares, targets)
    roots = np.sqrt(shares)[:, :, None]
    centred = (neighbours - centres[:, None, :]) * roots
    residuals = (targets - means[:, None, :]) * roots
    solve = _dual_slopes if centred.shape[1] < centred.shape[2] else _primal_slopes
    return centres, means, solve(centred, residuals, ridge)


def _primal_slopes(centred: FloatArray, residuals: FloatArray, ridge: float) -> FloatArray:
    d = centred.shape[2]
    covariance = centred.transpose(0, 2, 1) @ centred
    joint = centred.transpose(0, 2, 1) @ residuals
    add_ridge(covariance, ridge * np.trace(covariance, axis1=1, axis2=2) / d)
    return np.linalg.solve(covariance, joint).transpose(0, 2, 1)


def _dual_slopes(centred: FloatArray, residuals: FloatArray, ridge: float) -> FloatArray:
    d = centred.shape[2]
    gram = centred @ centred.transpose(0, 2, 1)
    add_ridge(gram, ridge * np.trace(gram, axis1=1, axis2=2) / d)
    coefficients = np.linalg.solve(gram, residuals)
    return coefficients.transpose(0, 2, 1) @ centred


def add_ridge(matrices: FloatArray, amounts: FloatArray) -> None:
    """Add amounts (m,) to the diagonals of matrices (m, p, p), in place.

    A neighbourhood of equal rows has amount 0 and slope 0: any positive amount will do.
    """
    largest = np.abs(matrices).max(axis=(1, 2))
    floor = np.maximum(1e-10 * largest, np.finfo(np.float64).tiny * 1e16)
    diagonal = np.einsum("mpp->mp", matrices)
    diagonal += np.maximum(amounts, floor)[:, None]


def slopes_at(
    indices: IntArray,
    squared_distances: FloatArray,
    rows: FloatArray,
    targets: FloatArray,
    sample_weights: FloatArray,
    ridge: float,
    kernel: int,
) -> FloatArray:
    """Return the slopes (m, C, d) of the planes through the neighbours ``indices`` (m, k)."""
    k = indices.shape[1]
    batch = max(1, BATCH_ENTRIES // (k * (rows.shape[1] + targets.shape[1])))
    slopes = np.empty((len(indices), targets.shape[1], rows.shape[1]))
    for start in range(0, len(indices), batch):
        part = slice(start, start + batch)
        weights = neighbour_weights(squared_distances[part], kernel)
        weights *= sample_weights[indices[part]]
        slopes[part] = local_fits(rows[indices[part]], targets[indices[part]], weights, ridge)[2]
    return slopes
