"""Sums over gradients that merge: what GW, EGOP and EJOP are computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from vicinal._threads import map_blocks
from vicinal._types import AnyArray, FloatArray

_EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True)
class GradientSums:
    """Σ_x ω_x and Σ_x ω_x Σ_c g_c(x) g_c(x)ᵀ, Σ_x ω_x Σ_c |g_c(x)| over evaluation points.

    The sums over parts of the evaluation points, all against the same sample, add up to the
    sums over the whole.

    Attributes
    ----------
    count : int
        Evaluation points.
    weight : float
        Their total weight.
    outer : float64 ndarray of shape (d, d)
    absolute : float64 ndarray of shape (d,)
    """

    count: int
    weight: float
    outer: FloatArray
    absolute: FloatArray

    def merge(self, other: GradientSums) -> GradientSums:
        """Return the sums over both sets of evaluation points."""
        if self.outer.shape != other.outer.shape:
            raise ValueError(
                f"sums over {len(self.outer)} and {len(other.outer)} features cannot be merged."
            )
        return GradientSums(
            self.count + other.count,
            self.weight + other.weight,
            self.outer + other.outer,
            self.absolute + other.absolute,
        )

    @property
    def mean_outer(self) -> FloatArray:
        """E_n[Σ_c g_c g_cᵀ], of shape (d, d)."""
        return self.outer / self.weight

    @property
    def mean_absolute(self) -> FloatArray:
        """E_n[Σ_c |g_c|], of shape (d,)."""
        return self.absolute / self.weight


def sum_gradients(gradients: FloatArray, weights: AnyArray) -> GradientSums:
    """Return the sums over gradients (m, C, d) with weights (m,). Time O(m C d²)."""
    m, n_columns, d = gradients.shape
    weighted = gradients * np.sqrt(weights)[:, None, None]
    flat = weighted.reshape(m * n_columns, d).astype(np.float64, copy=False)
    absolute = np.abs(gradients).sum(axis=1, dtype=np.float64)
    return GradientSums(m, float(np.sum(weights)), flat.T @ flat, weights @ absolute)


def merge_sums(parts: Iterable[GradientSums]) -> GradientSums:
    """Return all parts merged."""
    return reduce(GradientSums.merge, parts)


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


def mean_outer(sums: GradientSums) -> FloatArray:
    """Return E_n[Σ_c g_c g_cᵀ]: the matrix of EGOP and EJOP."""
    return sums.mean_outer


def bootstrap_spectra(
    gradients: FloatArray,
    weights: FloatArray,
    n_resamples: int,
    rank: int,
    random: np.random.RandomState,
    matrix: Callable[[GradientSums], FloatArray] = mean_outer,
) -> tuple[FloatArray, FloatArray]:
    """Resample evaluation points; return eigenvalues (B, d) and angles in degrees (B, rank).

    Points are drawn alike and bring their weights (m,) along; one without weight is not drawn. The
    eigenvalues are those of ``matrix`` of the resample's sums. The angles are those between
    the leading ``rank`` eigenvectors of a resample and of all points, ascending. Time
    O(B (m C d² + d³)).
    """
    gradients, weights = gradients[weights > 0], weights[weights > 0]
    m, _, d = gradients.shape
    leading = _leading(matrix(sum_gradients(gradients, weights)), rank)
    spectra, angles = np.empty((n_resamples, d)), np.empty((n_resamples, rank))
    for b in range(n_resamples):
        counts = np.bincount(random.randint(m, size=m), minlength=m).astype(np.float64)
        resampled = matrix(sum_gradients(gradients, weights * counts))
        spectra[b] = np.maximum(np.linalg.eigvalsh(resampled)[::-1], 0)
        angles[b] = principal_angles(leading, _leading(resampled, rank))
    return spectra, angles


def _leading(matrix: FloatArray, rank: int) -> FloatArray:
    vectors: FloatArray = np.linalg.eigh(matrix)[1][:, ::-1][:, :rank]
    return vectors


def principal_angles(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the principal angles in degrees between the spans of orthonormal columns, ascending.

    Angles come from sines, which keep small ones exact where cosines round to 1.
    """
    cosines = np.linalg.svd(first.T @ second, compute_uv=False)
    sines = np.linalg.svd(second - first @ (first.T @ second), compute_uv=False)[::-1]
    angles = np.where(
        cosines > 0.7, np.arcsin(np.clip(sines, 0, 1)), np.arccos(np.clip(cosines, 0, 1))
    )
    degrees: FloatArray = np.degrees(angles)
    return degrees
