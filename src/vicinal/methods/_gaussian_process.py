"""Regression by a Gaussian process with a length for each feature: a model to compare with."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal._types import FloatArray

MOST_ROWS = 8_000  # a few square matrices of so many rows take 2 GB
LARGEST_LOG = 10.0


class GaussianProcess(RegressorMixin, BaseEstimator):
    """Gaussian process of a squared-exponential kernel, its lengths learned, with noise.

    Amplitude, one length a feature and noise are those of greatest likelihood
    (Rasmussen & Williams 2006, chapter 5). scikit-learn's own holds the slopes of the kernel in
    every length at once, rows times rows times features; here all slopes are read from one
    product, since the kernel's are squared differences.

    Parameters
    ----------
    max_iter : int
        Steps of L-BFGS at most.
    """

    def __init__(self, max_iter: int = 100) -> None:
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel; refuse more rows than a square matrix should have."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        if len(X) > MOST_ROWS:
            raise ValueError(
                f"a Gaussian process of {len(X):,} rows needs more than 2 GB; take at most "
                f"{MOST_ROWS:,} rows, or another method."
            )
        self.mean_, self.scale_ = y.mean(), y.std() or 1.0
        z = (y - self.mean_) / self.scale_
        start = np.concatenate([[0.0], np.full(X.shape[1], 0.5 * np.log(X.shape[1])), [-1.0]])
        optimum = minimize(
            likelihood, start, (X, z), jac=True, method="L-BFGS-B",
            bounds=[(-LARGEST_LOG, LARGEST_LOG)] * len(start), options={"maxiter": self.max_iter},
        )  # fmt: skip
        self.amplitude_, self.noise_ = np.exp(optimum.x[[0, -1]])
        self.lengths_ = np.exp(optimum.x[1:-1])
        self.X_ = X / self.lengths_
        kernel = _covariance(self.X_, self.amplitude_, self.noise_)
        self.weights_ = cho_solve(cho_factor(kernel), z)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the mean at each row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False) / self.lengths_
        near = self.amplitude_ * np.exp(-0.5 * cdist(X, self.X_, "sqeuclidean"))
        return self.mean_ + self.scale_ * (near @ self.weights_)


def likelihood(logs: FloatArray, X: FloatArray, z: FloatArray) -> tuple[float, FloatArray]:
    """Return minus the log likelihood (its constant left out), and its slope.

    ``logs`` are those of amplitude, lengths and noise. With W = K⁻¹ − αα' and M = W ∘ (K − noise),
    the slope in a length is half of Σ M_ab (x_a − x_b)², which is Σ_a (M1)_a x_a² − x'Mx.
    """
    amplitude, lengths, noise = np.exp(logs[0]), np.exp(logs[1:-1]), np.exp(logs[-1])
    scaled = X / lengths
    kernel = _covariance(scaled, amplitude, noise)
    factor = cho_factor(kernel)
    alpha = cho_solve(factor, z)
    W = cho_solve(factor, np.eye(len(z))) - np.outer(alpha, alpha)
    value = 0.5 * z @ alpha + np.log(np.diag(factor[0])).sum()
    np.fill_diagonal(kernel, amplitude)
    slope_noise = 0.5 * noise * np.trace(W)
    M = np.multiply(W, kernel, out=kernel)
    in_lengths = M.sum(axis=1) @ scaled**2 - np.einsum("ij,ij->j", scaled, M @ scaled)
    slope = np.concatenate([[0.5 * M.sum()], in_lengths, [slope_noise]])
    return float(value), slope


def _covariance(scaled: FloatArray, amplitude: float, noise: float) -> FloatArray:
    kernel = amplitude * np.exp(-0.5 * cdist(scaled, scaled, "sqeuclidean"))
    kernel[np.diag_indices_from(kernel)] += noise + 1e-10
    return kernel
