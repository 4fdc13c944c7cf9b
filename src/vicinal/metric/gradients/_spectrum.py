"""From a matrix to a metric: its spectrum, its powers, and how sure both are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import subspace_angles

from vicinal._threads import map_blocks
from vicinal._types import FloatArray

from ._sums import GradientSums, sum_gradients

_EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True)
class LearnedMetric:
    """A matrix (d, d), its eigenvalues (d,), descending, and the map (d, d) made of both."""

    matrix: FloatArray
    eigenvalues: FloatArray
    components: FloatArray


@dataclass(frozen=True)
class MetricKind:
    """What GW, EGOP and EJOP differ in.

    Attributes
    ----------
    matrix : function of GradientSums
        The matrix (d, d) the metric is made of.
    powers : tuple of float
        Powers of its eigenvalues that cross-validation tries.
    iterations : int
        How many there are where none are asked for, and rows are neither few nor many.
    """

    matrix: Callable[[GradientSums], FloatArray]
    powers: tuple[float, ...] = (0.5, 1.0)
    iterations: int = 1

    def learn(self, sums: GradientSums, power: float) -> LearnedMetric:
        """Return the metric of some sums."""
        matrix = self.matrix(sums)
        values, vectors = spectrum(matrix)
        return LearnedMetric(matrix, values, metric_components(values, vectors, power))


def spectrum(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues (d,) descending and eigenvectors (d, d), as rows, of a matrix ⪰ 0.

    The entry of largest size of each eigenvector is positive, so that signs are determined.
    """
    # Threads of the linear algebra library would spin longer than they work here.
    ((values, vectors),) = map_blocks(np.linalg.eigh, [(matrix + matrix.T) / 2], 1)
    values, vectors = values[::-1], vectors[:, ::-1].T
    # What rounding left of a zero would come back as a direction of its square root's size.
    values = np.where(values > 10 * len(values) * _EPSILON * values[0], values, 0)
    largest = vectors[np.arange(len(values)), np.abs(vectors).argmax(axis=1)]
    return values, vectors * np.where(largest < 0, -1.0, 1.0)[:, None]


def metric_components(values: FloatArray, vectors: FloatArray, power: float = 1.0) -> FloatArray:
    """Return D^{q/2}Vᵀ (d, d), scaled to mean eigenvalue 1, from a spectrum and a power q."""
    scaled = (values / values[0]) ** power
    components: FloatArray = vectors * np.sqrt(scaled / scaled.mean())[:, None]
    return components


def bootstrap_spectra(
    gradients: FloatArray,
    weights: FloatArray,
    n_resamples: int,
    rank: int,
    random: np.random.RandomState,
    kind: MetricKind,
) -> tuple[FloatArray, FloatArray]:
    """Resample evaluation points; return eigenvalues (B, d) and angles in degrees (B, rank).

    Points are drawn alike and bring their weights (m,) along; one without weight is not drawn. The
    eigenvalues are those of the resample's matrix; the angles are those between the leading
    ``rank`` eigenvectors of a resample and of all points, ascending. Time O(B (m C d² + d³)).
    """
    gradients, weights = gradients[weights > 0], weights[weights > 0]
    m, _, d = gradients.shape
    leading = np.linalg.eigh(kind.matrix(sum_gradients(gradients, weights)))[1][:, -rank:]
    spectra, angles = np.empty((n_resamples, d)), np.empty((n_resamples, rank))
    for b in range(n_resamples):
        counts = np.bincount(random.randint(m, size=m), minlength=m).astype(np.float64)
        resampled = kind.matrix(sum_gradients(gradients, weights * counts))
        values, vectors = np.linalg.eigh(resampled)
        spectra[b] = np.maximum(values[::-1], 0)
        angles[b] = np.degrees(subspace_angles(leading, vectors[:, -rank:]))[::-1]
    return spectra, angles


def interval(values: FloatArray, level: float) -> FloatArray:
    """Return the central interval of resampled values (B, p), of shape (p, 2)."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}.")
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.quantile(values, tails, axis=0).T
