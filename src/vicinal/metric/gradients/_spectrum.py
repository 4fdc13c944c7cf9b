"""From a matrix to a metric: its spectrum, its powers, and how sure both are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import subspace_angles

from vicinal._threads import map_blocks
from vicinal._types import FloatArray

from ._smoother import Smoother
from ._sums import GradientSums, sum_gradients

_EPSILON = np.finfo(np.float64).eps
# Eigenvectors the ladle looks at, and resamples it takes: means of shares, to about a tenth.
_LADLE, _LADLE_RESAMPLES = 30, 50


@dataclass(frozen=True)
class MetricKind:
    """What GW, EGOP and EJOP differ in.

    Attributes
    ----------
    diagonal : bool
        Whether the matrix is the diagonal one of mean absolute gradients, which is then held as
        its diagonal, (d,); so is the map made of it.
    powers : tuple of float
        Powers of its eigenvalues that cross-validation tries.
    """

    diagonal: bool = False
    powers: tuple[float, ...] = (0.5, 1.0)

    def components(self, sums: GradientSums, *smoothers: Smoother) -> list[FloatArray]:
        """Return D^{q/2}Vᵀ (d, d), or in the order of the features D^{q/2} (d,), for each smoother.

        They differ in the power q and in whether the metric is the diagonal of the matrix.
        """
        full = any(not (self.diagonal or smoother.diagonal) for smoother in smoothers)
        values_and_vectors = spectrum(sums.mean) if full else None
        return [
            diagonal_components(sums.mean, smoother.power)
            if self.diagonal or smoother.diagonal or values_and_vectors is None
            else metric_components(*values_and_vectors, smoother.power)
            for smoother in smoothers
        ]


def diagonal_components(mean: FloatArray, power: float) -> FloatArray:
    """Return D^{q/2} (d,) of the diagonal D of a matrix, or of D itself, of mean square 1."""
    diagonal = mean if mean.ndim == 1 else np.diagonal(mean)
    scaled = (diagonal / diagonal.max()) ** power
    components: FloatArray = np.sqrt(scaled / scaled.mean())
    return components


def change_over(sums: GradientSums, length: float) -> float:
    """Return the mean squared change of f over a length."""
    mean = sums.mean
    squared = float(np.trace(mean) if mean.ndim == 2 else mean.sum() ** 2)
    return squared * length**2


def spectrum(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues (d,) descending and eigenvectors (d, d), as rows, of a matrix ⪰ 0.

    The entry of largest size of each eigenvector is positive, so that signs are determined.
    """
    # Threads of the linear algebra library would spin longer than they work here.
    ((values, vectors),) = map_blocks(np.linalg.eigh, [(matrix + matrix.T) / 2], 1)
    values, vectors = values[::-1], vectors[:, ::-1].T
    # What rounding left of a zero would come back as a direction of its square root's size.
    values = np.where(values > 10 * len(values) * _EPSILON * values[0], values, 0)
    return values, with_signs(vectors)


def with_signs(vectors: FloatArray) -> FloatArray:
    """Return vectors (p, d), as rows, the entry of largest size of each positive."""
    largest = vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)]
    signed: FloatArray = vectors * np.where(largest < 0, -1.0, 1.0)[:, None]
    return signed


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

    def matrix(weights: FloatArray) -> FloatArray:
        mean = sum_gradients(gradients, weights, diagonal=kind.diagonal).mean
        return np.diag(mean) if kind.diagonal else mean

    leading = np.linalg.eigh(matrix(weights))[1][:, -rank:]
    spectra, angles = np.empty((n_resamples, d)), np.empty((n_resamples, rank))
    for b in range(n_resamples):
        counts = np.bincount(random.randint(m, size=m), minlength=m).astype(np.float64)
        values, vectors = np.linalg.eigh(matrix(weights * counts))
        spectra[b] = np.maximum(values[::-1], 0)
        angles[b] = np.degrees(subspace_angles(leading, vectors[:, -rank:]))[::-1]
    return spectra, angles


def ladle(gradients: FloatArray, random: np.random.RandomState) -> int:
    """Return how many eigenvalues of E[g gᵀ] stand out, from gradients (m, C, d), 1 at least.

    The r that minimises f(r) / (1 + Σ f) + λ_{r+1} / (1 + Σ λ), where f(r) = E*[1 − |det VᵀV*|] is
    how much the leading r eigenvectors vary between resamples of the points: among equal
    eigenvalues they turn freely, so that r is where eigenvalues are small and directions arbitrary.
    Only the leading _LADLE eigenvectors are looked at.
    """
    m, d = len(gradients), gradients.shape[2]
    values, vectors = spectrum(sum_gradients(gradients, np.ones(m)).mean)
    most = min(d, _LADLE)
    values, along = values[:most], gradients @ vectors[:most].T
    varied = np.zeros(most)
    for _ in range(_LADLE_RESAMPLES):
        counts = np.bincount(random.randint(m, size=m), minlength=m).astype(np.float64)
        turned = np.linalg.eigh(sum_gradients(along, counts).mean)[1][:, ::-1]
        varied[1:] += [1 - abs(np.linalg.det(turned[:r, :r])) for r in range(1, most)]
    varied /= _LADLE_RESAMPLES
    scree = values / (1 + values.sum() / values[0]) / values[0]
    rungs = varied / (1 + varied.sum()) + scree
    return max(1, int(rungs.argmin()))


def interval(values: FloatArray, level: float) -> FloatArray:
    """Return the central interval of resampled values (B, p), of shape (p, 2)."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}.")
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.quantile(values, tails, axis=0).T
