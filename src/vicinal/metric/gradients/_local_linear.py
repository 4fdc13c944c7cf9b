"""Slopes of local linear regression, by weighted ridge among the neighbours of each query.

    β(x) = (Cov_w(u) + λI)⁻¹ Cov_w(u, y),   λ = ridge · tr Cov_w(u) / d,

with w_j = K(‖u − u_j‖ / r). Cov_w is d × d; with fewer neighbours k than features, the same β
is Uᵀ(UUᵀ + λI)⁻¹y over the weighted, centred rows U (k, d).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from vicinal._kernels import _smoothing as kernels
from vicinal._types import FloatArray, IntArray

# Numbers a batch of neighbourhoods may hold.
BATCH_ENTRIES = 2**22
# From this size on a matrix is worth a call of its own.
_BLOCKED = 64


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
    neighbours: FloatArray, targets: FloatArray, weights: FloatArray, ridges: Sequence[float]
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Fit planes to each neighbourhood, one for each ridge.

    Parameters
    ----------
    neighbours : ndarray of shape (m, k, d)
    targets : ndarray of shape (m, k, C)
    weights : ndarray of shape (m, k)
        Not negative; a neighbourhood without weight gets slope 0.
    ridges : sequence of float
        λ in units of the mean variance of the neighbourhood.

    Returns
    -------
    centres : ndarray of shape (m, d)
    means : ndarray of shape (m, C)
    slopes : list of ndarray of shape (m, C, d)
        The plane is mean_c + slope_c · (u − centre).

    Notes
    -----
    Time O(m (k d² + d³)), or O(m (k² d + k³)) where k < d, and O(m min(k, d)³) for each further
    ridge; memory O(m (k d + min(k, d)²)).
    """
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    centres = (shares[:, None, :] @ neighbours)[:, 0]
    means = (shares[:, None, :] @ targets)[:, 0]
    roots = np.sqrt(shares)[:, :, None]
    centred = neighbours - centres[:, None, :]
    centred *= roots
    residuals = (targets - means[:, None, :]) * roots
    solve = _dual_slopes if centred.shape[1] < centred.shape[2] else _primal_slopes
    return centres, means, solve(centred, residuals, ridges)


def _primal_slopes(
    centred: FloatArray, residuals: FloatArray, ridges: Sequence[float]
) -> list[FloatArray]:
    covariance = centred.transpose(0, 2, 1) @ centred
    joint = centred.transpose(0, 2, 1) @ residuals
    ridged = _with_ridges(covariance, ridges, centred.shape[2])
    return [_solved(matrices, joint).transpose(0, 2, 1) for matrices in ridged]


def _dual_slopes(
    centred: FloatArray, residuals: FloatArray, ridges: Sequence[float]
) -> list[FloatArray]:
    gram = centred @ centred.transpose(0, 2, 1)
    ridged = _with_ridges(gram, ridges, centred.shape[2])
    return [_solved(matrices, residuals).transpose(0, 2, 1) @ centred for matrices in ridged]


def _solved(matrices: FloatArray, columns: FloatArray) -> FloatArray:
    """Return A⁻¹B of symmetric A ≻ 0 (m, p, p) and B (m, p, C): by Cholesky where p is large."""
    if matrices.shape[1] >= _BLOCKED:
        with suppress(LinAlgError):
            return np.stack(
                [cho_solve(cho_factor(a), b) for a, b in zip(matrices, columns, strict=True)]
            )
    solution: FloatArray = np.linalg.solve(matrices, columns)
    return solution


def _with_ridges(
    matrices: FloatArray, ridges: Sequence[float], n_features: int
) -> Iterator[FloatArray]:
    """Yield matrices (m, p, p) with ridge · trace / d added to their diagonals.

    A neighbourhood of equal rows has trace 0 and slope 0: any positive amount will do.
    """
    diagonal = np.einsum("mpp->mp", matrices)
    plain = diagonal.copy()
    traces = plain.sum(axis=1, keepdims=True) / n_features
    floor = np.where(traces > 0, 1e-10 * traces, 1)
    for ridge in ridges:
        diagonal[:] = plain + np.maximum(ridge * traces, floor)
        yield matrices


def slopes_at(
    indices: IntArray,
    squared_distances: FloatArray,
    rows: FloatArray,
    targets: FloatArray,
    sample_weights: FloatArray,
    ridges: Sequence[float],
    kernel: int,
) -> list[FloatArray]:
    """Return the slopes (m, C, d) of planes through neighbours ``indices`` (m, k), by ridge."""
    k = indices.shape[1]
    batch = max(1, BATCH_ENTRIES // (k * (rows.shape[1] + targets.shape[1])))
    shape = (len(indices), targets.shape[1], rows.shape[1])
    slopes: list[FloatArray] = [np.empty(shape) for _ in ridges]
    for start in range(0, len(indices), batch):
        part = slice(start, start + batch)
        weights = neighbour_weights(squared_distances[part], kernel)
        weights = (weights * sample_weights[indices[part]]).astype(rows.dtype)
        near = (rows[indices[part]], targets[indices[part]])
        for slope, fit in zip(slopes, local_fits(*near, weights, ridges)[2], strict=True):
            slope[part] = fit
    return slopes
