"""Gradients of Gaussian kernel ridge regression, and its leave-one-out error.

With K_ij = exp(−‖u_i − u_j‖² / 2), sample weights ω of mean 1 and the weighted mean ȳ,

    α = (K + λ diag(1/ω))⁻¹ (y − ȳ),   f(u) = ȳ + Σ_j α_j K(u, u_j),
    ∇f(u) = Σ_j α_j K(u, u_j) (u_j − u).

Everything is in coordinates where h = 1. Unlike a smoother, f is no average of targets: what the
kernel would flatten the solve restores, so that a wide h costs variance no bias.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from vicinal._threads import map_blocks
from vicinal._types import FloatArray, IntArray

from ._sample import Sample, log_weights, prior

# Rows the solve, cubic in their number, is made for.
MOST_ROWS = 5000
# Times a solution in single precision is refined at most, and what may be left of the targets.
_REFINEMENTS, _LEFT = 8, 1e-10


def rows_to_solve_for(n_rows: int) -> IntArray:
    """Return which of n rows kernel ridge regression uses: all, or MOST_ROWS of them at random.

    The draw depends on n alone, so that every process makes the same.
    """
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(0).permutation(n_rows)[:MOST_ROWS])


def ridge_coefficients(sample: Sample, ridges: Sequence[float]) -> list[FloatArray]:
    """Return α (n, C) for each ridge. Time O(n³) each, memory O(n²).

    Weights count in units of their mean.
    """
    kernel = _gaussian(np.asarray(sample.rows, np.float64))
    residuals = sample.targets.columns() - prior(sample)
    plain, noise = kernel.diagonal().copy(), sample.weights.mean() / sample.weights
    coefficients: list[FloatArray] = []
    for ridge in ridges:
        np.fill_diagonal(kernel, plain + ridge * noise)
        coefficients.append(_solved(kernel, residuals))
    return coefficients


def _solved(matrix: FloatArray, columns: FloatArray) -> FloatArray:
    """Return A⁻¹B of a symmetric A ≻ 0 (n, n) and B (n, C), so that hardly anything of B is left.

    The factor is single, of half the cost, and what its solution leaves of B is solved for again;
    where that does not get there, A being too near to a singular matrix, the factor is double.
    """
    try:
        with np.errstate(over="ignore"):  # infinite entries leave too much, and tell of it so
            single = matrix.astype(np.float32, order="F")
        factor = cho_factor(single, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return _double_solved(matrix, columns)
    solution, left = np.zeros_like(columns), columns
    for _ in range(_REFINEMENTS):
        solution = solution + cho_solve(factor, left.astype(np.float32), check_finite=False)
        left = columns - matrix @ solution
        if np.abs(left).max() <= _LEFT * np.abs(columns).max():
            return solution
    return _double_solved(matrix, columns)


def _double_solved(matrix: FloatArray, columns: FloatArray) -> FloatArray:
    factor = cho_factor(matrix, lower=True, check_finite=False)
    solution: FloatArray = cho_solve(factor, columns, check_finite=False)
    return solution


def ridge_gradients(rows: FloatArray, sample: Sample, coefficients: FloatArray) -> FloatArray:
    """Return ∇f (m, C, d) at the queries ``rows``. Time O(m n C d)."""
    m, d = rows.shape
    sums = np.zeros((coefficients.shape[1], m, d + 1))
    for tile, logs in log_weights(rows, sample):
        weights = np.exp(logs, out=logs)
        for column, factors in zip(sums, coefficients[tile].T, strict=True):
            # [u, 1] of the samples, times their coefficients.
            column += weights @ (sample.panel[tile, :-1] * factors[:, None]).astype(rows.dtype)
    return (sums[:, :, :-1] - sums[:, :, -1:] * rows).transpose(1, 0, 2)


def leave_one_out_errors(
    rows: FloatArray,
    targets: FloatArray,
    bandwidths: Sequence[float],
    ridges: Sequence[float],
    n_threads: int = 1,
) -> FloatArray:
    """Return the mean squared error of each row (n, d) predicted from all others, (B, R).

    The residual without row i is α_i / ((K + λI)⁻¹)_ii: one eigendecomposition a bandwidth
    serves all ridges. Time O(B n³).
    """
    rows = np.asarray(rows, np.float64)
    targets = targets - targets.mean(axis=0)

    def of_bandwidth(bandwidth: float) -> list[float]:
        # Single precision: ridges are far above its rounding.
        kernel = _gaussian(rows / bandwidth).astype(np.float32, order="F")
        values, vectors = eigh(kernel, driver="evd", overwrite_a=True, check_finite=False)
        values = np.maximum(values, 0)
        turned, shares = vectors.T @ targets, vectors**2
        errors = []
        for ridge in ridges:
            inverse = 1 / (values + ridge)
            residuals = vectors @ (inverse[:, None] * turned) / (shares @ inverse)[:, None]
            errors.append(float((residuals**2).sum(axis=1).mean()))
        return errors

    # A thread a bandwidth: those of the library spin within a decomposition on a busy machine.
    return np.array(map_blocks(of_bandwidth, bandwidths, n_threads))


def _gaussian(rows: FloatArray) -> FloatArray:
    """Return exp(−‖u − u'‖² / 2) of all pairs of rows, (n, n)."""
    halves = np.einsum("ij,ij->i", rows, rows) / 2
    ones = np.ones_like(halves)
    # The norms are folded into the product.
    kernel: FloatArray = np.column_stack([rows, ones, -halves]) @ np.vstack([rows.T, -halves, ones])
    np.minimum(kernel, 0, out=kernel)
    # Rounding must not make a row differ from itself, or the matrix could lose its definiteness.
    np.fill_diagonal(kernel, 0)
    return np.exp(kernel, out=kernel)
