"""Gradients of the Gaussian kernel estimate: analytic, product → exp → product.

With w_j(x) ∝ ω_j exp(−‖x − x_j‖² / 2h²) and f(x) = Σ_j w_j y_j,

    ∇f(x) = Cov_w(x, y) / h² = (Σ_j w_j y_j x_j − f(x) Σ_j w_j x_j) / h².

Everything here is in coordinates where h = 1. Gradients have shape (m, C, d): query, column,
coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray

from ._sample import TILE, Sample, divide_or_mean, log_weights, prior, tiles

# From this many features on a third product costs more than passing over the weights twice.
_HOLD_FEATURES = 128
# Weights of a block that may be held between the two passes.
_HOLD_ENTRIES = 2**24


@dataclass(frozen=True)
class KernelSums:
    """Sums over samples for each query; those over parts of a sample add up to the whole's.

    ``moments`` (C, m, d + 1) are Σ_j w_j [u_j, 1] over the samples of each column, and
    ``products`` (m, d + 1) Σ_j w_j y_j [u_j, 1], None for classes. ``scale`` is the factor s of
    the kernel exp(−s‖u − u_j‖²/2).
    """

    moments: FloatArray
    products: FloatArray | None
    scale: float = 1.0

    def merge(self, other: KernelSums) -> KernelSums:
        """Return the sums over both parts of a sample."""
        if self.scale != other.scale or self.moments.shape != other.moments.shape:
            raise ValueError("only sums for the same queries, columns and bandwidth can be merged.")
        products = None
        if self.products is not None and other.products is not None:
            products = self.products + other.products
        return KernelSums(self.moments + other.moments, products, self.scale)

    def values(self, mean: FloatArray) -> FloatArray:
        """Return f (m, C); ``mean`` (C,) where no weight is positive."""
        totals = self.moments[:, :, -1].sum(axis=0)
        numerators = self.moments[:, :, -1].T if self.products is None else self.products[:, -1:]
        return divide_or_mean(numerators, totals, mean)

    def gradients(self) -> FloatArray:
        """Return s · Cov_w(u, y), (m, C, d)."""
        totals = self.moments[:, :, -1].sum(axis=0)
        inverse = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
        centre = self.moments[:, :, :-1].sum(axis=0) * inverse[:, None]
        joint = self.moments if self.products is None else self.products[None]
        joint = joint * inverse[:, None]
        covariance = joint[:, :, :-1] - joint[:, :, -1:] * centre
        return self.scale * covariance.transpose(1, 0, 2)


def kernel_sums(
    rows: FloatArray, sample: Sample, scales: tuple[float, ...] = (1.0,)
) -> list[KernelSums]:
    """Return the sums for queries ``rows`` (m, d), one for each bandwidth s^(−1/2).

    One product with the samples serves all bandwidths. Time O(m n (d + S (1 + 2d))) for S
    bandwidths, the last 2d being d for classes; memory O(m · TILE + S m C d).
    """
    m, d = rows.shape
    real = sample.targets.is_real
    scaled = np.empty((m, TILE), rows.dtype)
    sums = np.zeros((len(scales), sample.n_columns, m, (2 if real else 1) * (d + 1)))
    for tile, logs in log_weights(rows, sample):
        right = _right_factor(sample, tile)
        for s, scale in enumerate(scales):
            weights = logs
            if len(scales) > 1 or scale != 1:
                weights = np.multiply(logs, scale, out=scaled[:, : logs.shape[1]])
            np.exp(weights, out=weights)
            for column, part in sample.segments(tile):
                sums[s, column] += weights[:, part] @ right[part]
    if not real:
        return [KernelSums(part, None, scale) for part, scale in zip(sums, scales, strict=True)]
    return [
        KernelSums(part[:, :, : d + 1], part[0, :, d + 1 :], scale)
        for part, scale in zip(sums, scales, strict=True)
    ]


def _right_factor(sample: Sample, tile: slice) -> FloatArray:
    """Return ω [u, 1] or ω [u, 1, y u, y] of a tile of samples."""
    panel = sample.panel[tile, :-1]
    if sample.targets.is_real:
        values = sample.targets.values[tile].astype(panel.dtype)
        panel = np.concatenate([panel, panel * values[:, None]], axis=1)
    weights = sample.weights[tile]
    if np.all(weights == 1):
        return panel
    weighted: FloatArray = panel * weights.astype(panel.dtype)[:, None]
    return weighted


def analytic_gradients(
    rows: FloatArray, sample: Sample, scales: tuple[float, ...] = (1.0,)
) -> list[tuple[FloatArray, FloatArray]]:
    """Return f (m, C) and its gradient (m, C, d) at the queries, for each bandwidth s^(−1/2)."""
    m, d = rows.shape
    held = m * len(sample.panel) <= _HOLD_ENTRIES and d >= _HOLD_FEATURES
    if sample.targets.is_real and held and scales == (1.0,):
        return [_two_product_gradients(rows, sample)]
    mean = prior(sample)
    return [(sums.values(mean), sums.gradients()) for sums in kernel_sums(rows, sample, scales)]


def _two_product_gradients(rows: FloatArray, sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Hold the weights of all samples, then weigh them by y_j − f(x): Σ_j w_j (y_j − f) u_j."""
    held = np.empty((len(rows), len(sample.panel)), rows.dtype)
    values = (sample.targets.values).astype(rows.dtype)
    right = np.stack([values, np.ones_like(values)], axis=1) * sample.weights[:, None]
    right = right.astype(rows.dtype)
    sums = np.zeros((len(rows), 2))
    for tile, logs in log_weights(rows, sample):
        weights = np.exp(logs, out=held[:, tile])
        sums += weights @ right[tile]
    fitted = divide_or_mean(sums[:, :1], sums[:, 1], prior(sample))
    gradients = np.zeros(rows.shape)
    for tile in tiles(len(sample.panel)):
        residuals = values[tile] - fitted.astype(rows.dtype)
        if not np.all(sample.weights[tile] == 1):
            residuals *= sample.weights[tile].astype(rows.dtype)
        residuals *= held[:, tile]
        gradients += residuals @ sample.rows[tile]
    totals = np.where(sums[:, 1:] > 0, sums[:, 1:], 1)
    return fitted, (gradients / totals)[:, None, :]


def softmax_gradients(
    values: FloatArray, gradients: FloatArray, temperature: float | None
) -> FloatArray:
    """Return the Jacobian (1/T)(diag σ − σσᵀ) J of σ(f/T); J itself where T is None."""
    if temperature is None:
        return gradients
    shares = softmax(values, temperature)
    mean = np.einsum("mc,mcd->md", shares, gradients)
    return (shares / temperature)[:, :, None] * (gradients - mean[:, None, :])


def softmax(values: FloatArray, temperature: float) -> FloatArray:
    """Return exp(f_c / T) / Σ_k exp(f_k / T) along the last axis."""
    powers = np.exp((values - values.max(axis=-1, keepdims=True)) / temperature)
    shares: FloatArray = powers / powers.sum(axis=-1, keepdims=True)
    return shares
