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

from vicinal._kernels._smoothing import profiles
from vicinal._threads import map_blocks, split_rows
from vicinal._types import AnyArray, FloatArray
from vicinal.index import ExactIndex
from vicinal.metric.gradients._analytic import analytic_gradients, kernel_sums, softmax_gradients
from vicinal.metric.gradients._differences import Differences, difference_gradients
from vicinal.metric.gradients._kernel_ridge import (
    ridge_coefficients,
    ridge_gradients,
    rows_to_solve_for,
)
from vicinal.metric.gradients._local_linear import local_fits, slopes_at
from vicinal.metric.gradients._smoothing import (
    COMPACT,
    Coordinates,
    Sample,
    Targets,
    make_sample,
    prior,
)
from vicinal.metric.gradients._sums import GradientSums, merge_sums, sum_gradients

BLOCK_ROWS = 256
# Gradients of a block that may be held at a time.
_BLOCK_ENTRIES = 2**23


# Equal only to itself: a step may be an array.
@dataclass(frozen=True, eq=False)
class Setting:
    """How gradients are estimated.

    Attributes
    ----------
    estimator : "analytic", "difference", "local-linear" or "kernel-ridge"
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
        Of a local linear fit, in mean variances of its neighbours; of kernel ridge regression,
        as it is.
    temperature : float or None
        Of the softmax over classes of a smoother; None leaves it out.
    power : float
        Of the eigenvalues, when the metric is made.
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
    power: float = 1.0


@dataclass(frozen=True)
class Reference:
    """A sample in the coordinates of a setting: what gradients are estimated from."""

    coordinates: Coordinates
    sample: Sample
    setting: Setting
    index: ExactIndex | None = None
    coefficients: FloatArray | None = None

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
    if setting.estimator == "kernel-ridge":
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        rows = rows[rows_to_solve_for(len(rows))]
        X, targets, weights = (
            X[rows],
            targets.take(rows),
            None if weights is None else weights[rows],
        )
    return prepare_reference(coordinates, make_sample(X, targets, coordinates, weights), setting)


def prepare_reference(coordinates: Coordinates, sample: Sample, setting: Setting) -> Reference:
    """Return the reference with what its estimator looks up: an index, or coefficients."""
    if setting.estimator == "local-linear":
        index = ExactIndex(np.ascontiguousarray(sample.rows), n_jobs=1)
        return Reference(coordinates, sample, setting, index)
    if setting.estimator == "kernel-ridge":
        found = ridge_coefficients(sample, setting.ridge)
        return Reference(coordinates, sample, setting, coefficients=found)
    return Reference(coordinates, sample, setting)


def gradients_at(X: AnyArray, reference: Reference, *, own: bool = False) -> FloatArray:
    """Return the gradients (m, C, d) at the rows of X, in the units of X and y.

    ``own`` says that the rows are samples themselves.
    """
    (gradients,) = gradients_together(X, reference, [reference.setting], own=own)
    return gradients


def gradients_together(
    X: AnyArray, reference: Reference, settings: Sequence[Setting], *, own: bool = False
) -> list[FloatArray]:
    """Return the gradients of several settings that differ from the reference's

    in their bandwidth only ("analytic": one block of distances serves all) or in their ridge only
    ("local-linear": one search and one matrix of products).
    """
    sample, setting = reference.sample, reference.setting
    rows = reference.coordinates.enter(X, sample.panel.dtype)
    if setting.estimator == "difference":
        found = [difference_gradients(rows, sample, _differences(reference, own))[0]]
    elif setting.estimator == "local-linear":
        found = _local_slopes(rows, reference, [s.ridge for s in settings])
    elif setting.estimator == "kernel-ridge":
        assert reference.coefficients is not None
        found = [ridge_gradients(rows, sample, reference.coefficients)[1]]
    elif len(settings) == 1:
        found = [_tempered(*analytic_gradients(rows, sample), sample, setting)]
    else:
        scales = tuple((setting.bandwidth / s.bandwidth) ** 2 for s in settings)
        mean = prior(sample)
        found = [
            _tempered(sums.values(mean), sums.gradients(), sample, setting)
            for sums in kernel_sums(rows, sample, scales)
        ]
    return [reference.coordinates.leave(part) * sample.targets.scale for part in found]


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


def _local_slopes(
    rows: FloatArray, reference: Reference, ridges: Sequence[float]
) -> list[FloatArray]:
    sample, setting = reference.sample, reference.setting
    assert reference.index is not None
    if setting.n_local is None:
        return _slopes_within(rows, reference, ridges)
    k = min(setting.n_local, len(sample.panel))
    squared, indices = reference.index.query(rows, k)
    return slopes_at(
        indices,
        squared,
        sample.rows,
        sample.targets.columns().astype(rows.dtype),
        sample.weights,
        ridges,
        COMPACT[setting.kernel],
    )


def _slopes_within(
    rows: FloatArray, reference: Reference, ridges: Sequence[float]
) -> list[FloatArray]:
    """Return the slopes of planes through all samples within h, one query after the other."""
    sample, kernel = reference.sample, COMPACT[reference.setting.kernel]
    assert reference.index is not None
    squared, indices, indptr = reference.index.query_radius(rows, 1.0)
    shape = (len(rows), sample.n_columns, rows.shape[1])
    slopes: list[FloatArray] = [np.zeros(shape) for _ in ridges]
    columns = sample.targets.columns()
    for a in np.flatnonzero(np.diff(indptr) > 1):
        part = slice(indptr[a], indptr[a + 1])
        near = indices[part]
        weights = profiles(squared[None, part], kernel) * sample.weights[near]
        fits = local_fits(sample.rows[None, near], columns[None, near], weights, ridges)[2]
        for kept, found in zip(slopes, fits, strict=True):
            kept[a] = found[0]
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


def evaluate_together(
    X: AnyArray, reference: Reference, settings: Sequence[Setting], *, n_threads: int = 1
) -> list[GradientSums]:
    """Return the sums over gradients at the samples X for settings that can share their work."""

    def run(block: AnyArray) -> list[GradientSums]:
        found = gradients_together(X[block], reference, settings, own=True)
        return [sum_gradients(gradients, np.ones(len(block))) for gradients in found]

    blocks = split_rows(np.arange(len(X)), block_rows(reference, None), n_threads)
    done = map_blocks(run, blocks, n_threads)
    return [merge_sums(parts) for parts in zip(*done, strict=True)]
