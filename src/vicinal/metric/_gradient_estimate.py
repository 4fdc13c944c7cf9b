"""Gradients of an estimated regression function at many points, block by block.

    X, y ─▶ make_reference ─▶ Reference ─┐
    evaluation points, blocks of 256 ────┴─▶ gradients (m, C, d) ─▶ GradientSums ─▶ merged

A reference is fixed by the sample and the setting; the sums over any partition of the evaluation
points merge to the same total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray
from vicinal.index import ExactIndex
from vicinal.index._threads import map_blocks, split_rows
from vicinal.metric._differences import Differences, difference_gradients
from vicinal.metric._gradient_sums import GradientSums, merge_sums, sum_gradients
from vicinal.metric._gradients import analytic_gradients, kernel_sums, softmax_gradients
from vicinal.metric._local_linear import slopes_at
from vicinal.metric._smoothing import COMPACT, Coordinates, Sample, Targets, make_sample, prior

BLOCK_ROWS = 256
# Gradients of a block that may be held at a time.
_BLOCK_ENTRIES = 2**23


@dataclass(frozen=True)
class Setting:
    """How gradients are estimated.

    Attributes
    ----------
    estimator : "analytic", "difference" or "local-linear"
    bandwidth : float
        h; for "local-linear" only the unit of length, unless ``n_local`` is None.
    kernel : str
    step : float or ndarray of shape (d,) or (d, C), or None
        t of the difference estimator; None is h/2.
    indicator : str
    confidence : float
    n_local : int or None
        Neighbours of a local linear fit; None takes all within h.
    ridge : float
    temperature : float or None
        Of the softmax over classes; None leaves it out.
    """

    estimator: str
    bandwidth: float
    kernel: str = "gaussian"
    step: Any = None
    indicator: str = "practical"
    confidence: float = 0.05
    n_local: int | None = None
    ridge: float = 0.1
    temperature: float | None = None


@dataclass(frozen=True)
class Reference:
    """A sample in the coordinates of a setting: what gradients are estimated from."""

    coordinates: Coordinates
    sample: Sample
    setting: Setting
    index: ExactIndex | None = None

    @property
    def n_columns(self) -> int:
        """How many columns f has."""
        return self.sample.n_columns


def make_reference(
    X: AnyArray,
    targets: Targets,
    setting: Setting,
    *,
    weights: AnyArray | None = None,
    components: FloatArray | None = None,
    centre: FloatArray | None = None,
) -> Reference:
    """Return the reference for a sample X (n, d), measured by ``components`` (None: Euclidean).

    ``centre`` (d,) is the origin of the coordinates, by default the mean of X; it changes
    rounding only.
    """
    centre = X.mean(axis=0, dtype=np.float64) if centre is None else centre
    coordinates = Coordinates(centre, components, setting.bandwidth)
    sample = make_sample(X, targets, coordinates, weights)
    local = setting.estimator == "local-linear"
    index = ExactIndex(np.ascontiguousarray(sample.rows), n_jobs=1) if local else None
    return Reference(coordinates, sample, setting, index)


def gradients_at(X: AnyArray, reference: Reference, *, own: bool = False) -> FloatArray:
    """Return the gradients (m, C, d) at the rows of X, in the units of X and y.

    ``own`` says that the rows are samples themselves.
    """
    sample, setting = reference.sample, reference.setting
    rows = reference.coordinates.enter(X, sample.panel.dtype)
    if setting.estimator == "difference":
        gradients, _ = difference_gradients(rows, sample, _differences(reference, own))
    elif setting.estimator == "local-linear":
        gradients = _local_slopes(rows, reference, setting)
    else:
        values, gradients = analytic_gradients(rows, sample)
        gradients = _tempered(values, gradients, sample, setting)
    return reference.coordinates.leave(gradients) * sample.targets.scale


def _tempered(
    values: FloatArray, gradients: FloatArray, sample: Sample, setting: Setting
) -> FloatArray:
    if setting.temperature is None or sample.targets.is_real:
        return gradients
    return softmax_gradients(values, gradients, setting.temperature)[1]


def _differences(reference: Reference, own: bool) -> Differences:
    setting, width = reference.setting, reference.sample.rows.shape[1]
    step = setting.bandwidth / 2 if setting.step is None else setting.step
    steps = np.asarray(step, np.float64) / setting.bandwidth
    return Differences(
        steps=np.full(width, float(steps)) if steps.ndim == 0 else steps,
        kernel=setting.kernel,
        indicator=setting.indicator,
        confidence=setting.confidence,
        temperature=None if reference.sample.targets.is_real else setting.temperature,
        own=own,
    )


def _local_slopes(rows: FloatArray, reference: Reference, setting: Setting) -> FloatArray:
    sample, kernel = reference.sample, COMPACT[setting.kernel]
    assert reference.index is not None
    if setting.n_local is None:
        return _slopes_within(rows, reference)
    k = min(setting.n_local, len(sample.panel))
    squared, indices = reference.index.query(rows, k)
    return slopes_at(
        indices,
        squared,
        sample.rows.astype(np.float64),
        sample.targets.columns(),
        sample.weights,
        setting.ridge,
        kernel,
    )


def _slopes_within(rows: FloatArray, reference: Reference) -> FloatArray:
    """Return the slopes of planes through all samples within h, one query after the other."""
    sample, setting = reference.sample, reference.setting
    assert reference.index is not None
    _, indices, indptr = reference.index.query_radius(rows, 1.0)
    slopes = np.zeros((len(rows), sample.n_columns, rows.shape[1]))
    columns, data = sample.targets.columns(), sample.rows.astype(np.float64)
    for a in range(len(rows)):
        near = indices[indptr[a] : indptr[a + 1]]
        if len(near) > 1:
            gaps = data[near] - rows[a]
            squared = np.einsum("kd,kd->k", gaps, gaps)
            slopes[a] = slopes_of_one(squared, data[near], columns[near], sample, near, setting)
    return slopes


def slopes_of_one(
    squared: FloatArray,
    neighbours: FloatArray,
    targets: FloatArray,
    sample: Sample,
    near: AnyArray,
    setting: Setting,
) -> FloatArray:
    """Return the slopes (C, d) of one plane, its neighbours weighted by their distance over h."""
    from vicinal._kernels._smoothing import profiles
    from vicinal.metric._local_linear import local_fits

    weights = profiles(squared[None], COMPACT[setting.kernel]) * sample.weights[near]
    slopes: FloatArray = local_fits(neighbours[None], targets[None], weights, setting.ridge)[2][0]
    return slopes


def block_rows(reference: Reference, block_size: int | None) -> int:
    """Return how many evaluation points a block holds."""
    rows = BLOCK_ROWS if block_size is None else block_size
    width = 2 * reference.sample.panel.shape[1] * (reference.n_columns + 1)
    return max(1, min(rows, _BLOCK_ENTRIES // width))


def evaluate(
    X: AnyArray,
    weights: AnyArray,
    reference: Reference,
    *,
    block_size: int | None = None,
    n_threads: int = 1,
    own: bool = False,
    keep: bool = False,
) -> tuple[GradientSums, FloatArray | None]:
    """Return the sums over gradients at the rows of X, and the gradients if ``keep``.

    Memory O(block_size · (TILE + C d)) a thread; time as the estimator's.
    """

    def run(block: AnyArray) -> tuple[GradientSums, FloatArray | None]:
        gradients = gradients_at(X[block], reference, own=own)
        return sum_gradients(gradients, weights[block]), gradients if keep else None

    blocks = split_rows(np.arange(len(X)), block_rows(reference, block_size), n_threads)
    done = map_blocks(run, blocks, n_threads)
    total = merge_sums(part for part, _ in done)
    return total, np.concatenate([kept for _, kept in done if kept is not None]) if keep else None


def evaluate_bandwidths(
    X: AnyArray,
    weights: AnyArray,
    reference: Reference,
    bandwidths: Sequence[float],
    *,
    n_threads: int = 1,
) -> list[GradientSums]:
    """Return the analytic sums for several bandwidths, all from one block of distances."""
    sample, setting = reference.sample, reference.setting
    scales = tuple((setting.bandwidth / h) ** 2 for h in bandwidths)

    def run(block: AnyArray) -> list[GradientSums]:
        rows = reference.coordinates.enter(X[block], sample.panel.dtype)
        parts = []
        for sums in kernel_sums(rows, sample, scales):
            gradients = _tempered(sums.values(prior(sample)), sums.gradients(), sample, setting)
            gradients = reference.coordinates.leave(gradients) * sample.targets.scale
            parts.append(sum_gradients(gradients, weights[block]))
        return parts

    blocks = split_rows(np.arange(len(X)), block_rows(reference, None), n_threads)
    done = map_blocks(run, blocks, n_threads)
    return [merge_sums(parts) for parts in zip(*done, strict=True)]
