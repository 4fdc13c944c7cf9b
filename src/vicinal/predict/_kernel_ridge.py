"""Ridge regression on a kernel of mapped rows, through landmarks where rows are many.

With landmarks z_1 … z_m among the rows, K_zz = L Lᵀ and φ(u) = L⁻¹ k_z(u),

    f(u) = ȳ + φ(u)·β,   β = (Φᵀ W Φ + λI)⁻¹ Φᵀ W (y − ȳ),

which with all rows as landmarks is kernel ridge regression itself. The error of each row without
itself is its residual over 1 − its leverage, so that one decomposition judges every λ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular
from scipy.spatial.distance import cdist

from vicinal._types import FloatArray, IntArray

KERNELS = ("gaussian", "laplace")
# Bandwidths tried, in median distances of rows, and ridges, in units of a row.
BANDWIDTHS: dict[str, tuple[float, ...]] = {
    "gaussian": (0.25, 0.5, 1.0, 2.0, 4.0),
    "laplace": (0.25, 0.5, 1.0, 2.0, 4.0, 16.0),
}
RIDGES = (1e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0)
# Rows that settings are compared on, and landmarks there.
COMPARED_ROWS, COMPARED_LANDMARKS = 1000, 400
# What K_zz has more on its diagonal, or equal landmarks would have no Cholesky factor.
_JITTER = 1e-8
# The largest leverage that a row is judged at: at 1 it decides its own prediction.
_MOST_LEVERAGE = 1 - 1e-6
_BLOCK = 4096


@dataclass(frozen=True)
class KernelSettings:
    """A kernel, its bandwidth in units of the learned distance, and a ridge λ."""

    kernel: str
    bandwidth: float
    ridge: float


@dataclass(frozen=True)
class KernelFit:
    """Landmarks (m, p), L (m, m), β (m, C) and ȳ (C,): all that a prediction needs."""

    settings: KernelSettings
    landmarks: FloatArray
    factor: FloatArray
    coefficients: FloatArray
    mean: FloatArray

    def predict(self, rows: FloatArray) -> FloatArray:
        """Return f at mapped rows (q, p), of shape (q, C). Time O(q m (p + m))."""
        blocks = [
            _features(rows[start : start + _BLOCK], self.landmarks, self.factor, self.settings)
            for start in range(0, len(rows), _BLOCK)
        ]
        return np.vstack([self.mean + block @ self.coefficients for block in blocks])


def solve_kernel(
    rows: FloatArray,
    columns: FloatArray,
    weights: FloatArray | None,
    settings: KernelSettings,
    n_landmarks: int,
    rng: np.random.Generator,
) -> KernelFit:
    """Return the regression of columns (n, C) on mapped rows (n, p).

    Time O(n m (p + m) + m³) for m landmarks, memory O(m² + block · m).
    """
    landmarks = rows[draw(len(rows), n_landmarks, rng)]
    factor = _factor(landmarks, settings)
    shares = np.ones(len(rows)) if weights is None else weights
    mean = np.average(columns, axis=0, weights=shares)
    m = len(landmarks)
    gram, sums = np.zeros((m, m)), np.zeros((m, columns.shape[1]))
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        features = _features(rows[part], landmarks, factor, settings)
        roots = np.sqrt(shares[part, None])
        features *= roots
        gram += features.T @ features  # of one array: half the products
        sums += features.T @ (roots * (columns[part] - mean))
    gram[np.diag_indices(m)] += settings.ridge
    coefficients = cho_solve(cho_factor(gram, lower=True), sums)
    return KernelFit(settings, landmarks, factor, coefficients, mean)


def choose_settings(
    rows: FloatArray,
    columns: FloatArray,
    weights: FloatArray | None,
    candidates: tuple[Sequence[str], float | None, float | None],
    rng: np.random.Generator,
) -> KernelSettings:
    """Return the kernel, bandwidth and ridge of least error of each row without itself.

    ``candidates`` are the kernels, and a bandwidth and a ridge that are given, or None. At most
    1,000 rows are looked at, through 400 landmarks.
    """
    kernels, bandwidth, ridge = candidates
    some = draw(len(rows), COMPARED_ROWS, rng)
    rows, columns = rows[some], columns[some]
    shares = np.ones(len(rows)) if weights is None else weights[some]
    unit = median_distance(rows)
    landmarks = rows[draw(len(rows), COMPARED_LANDMARKS, rng)]
    ridges = RIDGES if ridge is None else (ridge,)
    best, chosen = np.inf, KernelSettings(kernels[0], bandwidth or unit, ridges[-1])
    for kernel in kernels:
        lengths = [r * unit for r in BANDWIDTHS[kernel]] if bandwidth is None else [bandwidth]
        for length in lengths:
            settings = KernelSettings(kernel, length, ridges[0])
            errors = _errors(rows, columns, shares, landmarks, settings, ridges)
            place = int(np.argmin(errors))
            if errors[place] < best:
                best, chosen = errors[place], KernelSettings(kernel, length, ridges[place])
    return chosen


def _errors(
    rows: FloatArray, columns: FloatArray, shares: FloatArray, landmarks: FloatArray,
    settings: KernelSettings, ridges: Sequence[float],
) -> list[float]:  # fmt: skip
    """Return the mean squared error of rows without themselves, for each ridge."""
    features = _features(rows, landmarks, _factor(landmarks, settings), settings)
    roots = np.sqrt(shares)[:, None]
    features *= roots
    centred = (columns - np.average(columns, axis=0, weights=shares)) * roots
    values, vectors = eigh(features.T @ features, driver="evd", check_finite=False)
    turned = features @ vectors
    sums = turned.T @ centred
    squares = turned**2
    errors = []
    for ridge in ridges:
        inverse = 1 / (np.maximum(values, 0) + ridge)
        left = centred - turned @ (inverse[:, None] * sums)
        leverages = np.minimum(squares @ inverse, _MOST_LEVERAGE)
        errors.append(float(np.square(left / (1 - leverages)[:, None]).sum(axis=1).mean()))
    return errors


def _features(
    rows: FloatArray, landmarks: FloatArray, factor: FloatArray, settings: KernelSettings
) -> FloatArray:
    kernel = _kernel(rows, landmarks, settings)
    features: FloatArray = solve_triangular(factor, kernel.T, lower=True, check_finite=False).T
    return features


def _factor(landmarks: FloatArray, settings: KernelSettings) -> FloatArray:
    kernel = _kernel(landmarks, landmarks, settings)
    kernel[np.diag_indices(len(kernel))] += _JITTER
    factor: FloatArray = cholesky(kernel, lower=True, check_finite=False)
    return factor


def _kernel(first: FloatArray, second: FloatArray, settings: KernelSettings) -> FloatArray:
    """Return exp(−d² / 2h²) or exp(−d / h) of all pairs."""
    if settings.kernel == "gaussian":
        squares = cdist(first, second, "sqeuclidean")
        kernel: FloatArray = np.exp(-squares / (2 * settings.bandwidth**2))
    else:
        kernel = np.exp(-cdist(first, second) / settings.bandwidth)
    return kernel


def median_distance(rows: FloatArray) -> float:
    """Return the median distance of different rows, at equal steps; 1 where all are equal."""
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 500)).astype(int)]
    distances = cdist(some, some)
    apart = distances[distances > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def draw(n_rows: int, most: int, rng: np.random.Generator) -> IntArray:
    """Return all rows, or so many at random, in a random order."""
    chosen: IntArray = rng.permutation(n_rows)[:most]
    return chosen
