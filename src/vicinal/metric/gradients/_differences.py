"""The difference estimate of a gradient: all 2d perturbed fits from one block of distances.

    Δ_i f(x) = (f(x + t_i e_i) − f(x − t_i e_i)) / 2t_i · 1[A_i(x)]

For the Gaussian kernel the perturbed weight is K(x, x_j) exp(±t_i x_ji), up to a factor that
cancels in f, so all fits are one product K·[E⁺, E⁻, yE⁺, yE⁻]. Compact kernels go pair by pair
(``_kernels/_smoothing``). Everything here is in coordinates where h = 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vicinal._kernels import _smoothing as kernels
from vicinal._types import BoolArray, FloatArray

from ._analytic import softmax
from ._sample import COMPACT, Sample, divide_or_mean, log_weights, prior
from ._smoother import Smoother

# Exponents up to this keep sums of a billion float32 terms finite and their least term normal.
_SAFE_EXPONENT = 40.0
# Longer steps reach samples whose unperturbed weight is already rounded to zero.
_SAFE_STEP = 3.0


def difference_gradients(
    rows: FloatArray, sample: Sample, smoother: Smoother, *, own: bool = False
) -> FloatArray:
    """Return the difference estimate (m, C, d) at the queries, 0 where the indicator fails.

    ``own`` says that every query is itself a sample, which makes short steps pass the practical
    one. Time O(m n d) by products (Gaussian; C columns cost no more than one), or O(d) for each
    pair within 1 + t (compact kernels). With steps (d, C) that is spent once a class.
    """
    step = smoother.bandwidth / 2 if smoother.step is None else smoother.step
    steps = np.asarray(step, np.float64) / smoother.bandwidth
    if steps.ndim < 2:
        steps = np.broadcast_to(steps, rows.shape[1])
        return _one_step_each(rows, sample, smoother, steps, own)
    parts = [_one_step_each(rows, sample, smoother, each, own) for each in steps.T]
    return np.stack([part[:, c] for c, part in enumerate(parts)], axis=1)


def _one_step_each(
    rows: FloatArray, sample: Sample, smoother: Smoother, steps: FloatArray, own: bool
) -> FloatArray:
    """Return the estimate for steps (d,) in units of h."""
    fits = perturbed_fits(rows, sample, steps, smoother.kernel)
    if smoother.temperature is not None and not sample.targets.is_real:
        fits = softmax(fits, smoother.temperature)
    differences = (fits[1] - fits[0]) / (2 * steps[:, None])
    if not (own and smoother.indicator == "practical" and steps.max() <= 1):
        trusted = trusted_coordinates(rows, sample, smoother, steps)
        differences = np.where(trusted[:, :, None], differences, 0.0)
    return differences.transpose(0, 2, 1)


def perturbed_fits(rows: FloatArray, sample: Sample, steps: FloatArray, kernel: str) -> FloatArray:
    """Return f(x − t_i e_i) and f(x + t_i e_i), of shape (2, m, d, C)."""
    if kernel == "gaussian":
        sums = _gaussian_sums(rows, sample, steps)
    else:
        sums = _compact_sums(rows, sample, steps, kernel)
    return divide_or_mean(sums[..., :-1], sums[..., -1], prior(sample))


def _gaussian_sums(rows: FloatArray, sample: Sample, steps: FloatArray) -> FloatArray:
    """Return numerators and denominators (2, m, d, C + 1) by the factorised product."""
    sums = np.zeros((2, *rows.shape, sample.n_columns + 1))
    lows, highs = sample.rows.min(axis=0), sample.rows.max(axis=0)
    safe = (steps * (highs - lows) / 2 <= _SAFE_EXPONENT) & (steps <= _SAFE_STEP)
    for tile, logs in log_weights(rows, sample):
        for i in np.flatnonzero(~safe):
            _add_directly(logs, rows, sample, tile, int(i), steps[i], sums[:, :, i])
        np.exp(logs, out=logs)
        exponents = (sample.rows[tile] - (lows + highs) / 2)[:, safe] * steps[safe]
        _add_factorised(logs, exponents.astype(rows.dtype), sample, tile, safe, sums)
    return sums


def _add_factorised(
    weights: FloatArray,
    exponents: FloatArray,
    sample: Sample,
    tile: slice,
    safe: BoolArray,
    sums: FloatArray,
) -> None:
    """Add K·[E⁻, E⁺], by column, and for a real target K·[yE⁻, yE⁺]."""
    growth = np.exp(np.concatenate([-exponents, exponents], axis=1))
    growth *= sample.weights[tile].astype(growth.dtype)[:, None]
    values = sample.targets.values[tile].astype(growth.dtype)[:, None]
    shape = (len(weights), 2, -1)
    for column, part in sample.segments(tile):
        totals = (weights[:, part] @ growth[part]).reshape(shape).transpose(1, 0, 2)
        sums[:, :, safe, -1] += totals
        if sample.targets.is_real:
            totals = weights[:, part] @ (values[part] * growth[part])
            totals = totals.reshape(shape).transpose(1, 0, 2)
        sums[:, :, safe, column] += totals


def _add_directly(
    logs: FloatArray,
    rows: FloatArray,
    sample: Sample,
    tile: slice,
    i: int,
    step: float,
    sums: FloatArray,
) -> None:
    """Add the sums of one coordinate without factors that could overflow: exponents stay ≤ 0."""
    shift = step * (rows[:, i : i + 1] - sample.rows[tile, i])
    for side, sign in ((0, -1), (1, 1)):
        weights = np.exp(np.minimum(logs - sign * shift - step**2 / 2, 0)) * sample.weights[tile]
        sums[side, :, -1] += weights.sum(axis=1)
        for column, part in sample.segments(tile):
            sums[side, :, column] += weights[:, part] @ sample.targets.values[tile][part]


def _compact_sums(rows: FloatArray, sample: Sample, steps: FloatArray, kernel: str) -> FloatArray:
    sums = np.zeros((2, *rows.shape, sample.n_columns + 1))
    for tile, squared in _squared_distances(rows, sample):
        kernels.add_perturbed_sums(
            squared,
            rows.astype(np.float64),
            sample.rows[tile].astype(np.float64),
            sample.targets.values[tile],
            sample.targets.codes[tile],
            sample.weights[tile],
            np.asarray(steps, np.float64),
            COMPACT[kernel],
            sums,
        )
    return sums


def _squared_distances(rows: FloatArray, sample: Sample) -> Iterator[tuple[slice, FloatArray]]:
    for tile, logs in log_weights(rows, sample):
        yield tile, np.maximum(-2.0 * logs, 0).astype(np.float64)


def trusted_coordinates(
    rows: FloatArray, sample: Sample, smoother: Smoother, steps: FloatArray
) -> BoolArray:
    """Return where the indicator A_i(x) holds, (m, d).

    It is "practical" (both balls B(x ± t e_i, h) hold a sample), "theoretical" (both balls of
    radius h/2 hold 2d ln 2n + ln(4/δ) samples, δ the confidence) or "none".
    """
    if smoother.indicator == "none":
        return np.ones(rows.shape, dtype=bool)
    n, d = sample.rows.shape
    radius, least = 1.0, 1.0
    if smoother.indicator == "theoretical":
        radius, least = 0.5, 2 * d * np.log(2 * n) + np.log(4 / smoother.confidence)
    counts = np.zeros((2, *rows.shape), np.int64)
    for tile, squared in _squared_distances(rows, sample):
        kernels.add_ball_counts(
            squared,
            rows.astype(np.float64),
            sample.rows[tile].astype(np.float64),
            np.asarray(steps, np.float64),
            radius,
            counts,
        )
    trusted: BoolArray = counts.min(axis=0) >= least
    return trusted
