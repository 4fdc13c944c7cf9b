"""Smoothers fitted to a sample, and the gradients of what they estimate, at many points.

    X, y, Smoother ─▶ fit_smoother ─▶ FittedSmoother ─┐
    evaluation points, blocks of 256 ─────────────────┴─▶ gradients (m, C, d) ─▶ GradientSums

The sums over any partition of the evaluation points merge to the same total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vicinal._kernels._smoothing import profiles
from vicinal._threads import map_blocks, split_rows
from vicinal._types import AnyArray, FloatArray
from vicinal.index import ExactIndex

from ._analytic import analytic_gradients, softmax_gradients
from ._differences import difference_gradients
from ._kernel_ridge import ridge_coefficients, ridge_gradients, rows_to_solve_for
from ._local_linear import local_fits, slopes_at
from ._rows import Span
from ._sample import COMPACT, Coordinates, Sample, make_sample
from ._smoother import Smoother
from ._sums import GradientSums, merge_all, sum_gradients
from ._targets import Targets

BLOCK_ROWS = 256
# Gradients of a block that may be held at a time.
_BLOCK_ENTRIES = 2**23


@dataclass(frozen=True)
class FittedSmoother:
    """Smoothers with their sample, in its coordinates: what gradients are estimated from.

    There is one, or several that share their work: of "analytic" with any bandwidths, one block of
    distances serves all; of "local-linear" with any neighbours and ridges, one search; of
    "kernel-ridge" with any ridges, one kernel; "difference" shares its sample. ``index`` finds the
    neighbours of "local-linear"; ``coefficients`` (n, S C) are those of "kernel-ridge".
    """

    smoothers: tuple[Smoother, ...]
    coordinates: Coordinates
    sample: Sample
    index: ExactIndex | None = None
    coefficients: FloatArray | None = None

    def seen_from(self, span: Span) -> FittedSmoother:
        """Return a smoother fitted within a plane as one of the space around it."""
        inside = self.coordinates
        centre = span.centre + inside.centre @ span.basis
        around = Coordinates(centre, span.lift(inside.components), inside.unit)
        return replace(self, coordinates=around)

    def as_plain(self) -> dict[str, Any]:
        """Return it as plain values and arrays, which a model file can hold."""
        return {
            "smoothers": [dict(vars(smoother)) for smoother in self.smoothers],
            "coordinates": dict(vars(self.coordinates)),
            "sample": {**vars(self.sample), "targets": dict(vars(self.sample.targets))},
            "coefficients": self.coefficients,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> FittedSmoother:
        """Return what :meth:`as_plain` was made from."""
        smoothers = tuple(Smoother(**each) for each in plain["smoothers"])
        targets = Targets(**plain["sample"]["targets"])
        sample = Sample(**{**plain["sample"], "targets": targets})
        coordinates = Coordinates(**plain["coordinates"])
        index = _index(smoothers[0], sample)
        return cls(smoothers, coordinates, sample, index, plain["coefficients"])


def fit_smoother(
    X: AnyArray,
    targets: Targets,
    *smoothers: Smoother,
    weights: AnyArray | None = None,
    components: FloatArray | None = None,
    centre: FloatArray | None = None,
) -> FittedSmoother:
    """Fit smoothers to a sample X (n, d), distances measured by ``components`` (None: Euclidean).

    ``centre`` (d,) is the origin of the coordinates, by default the mean of X; it changes
    rounding only.
    """
    centre = X.mean(axis=0, dtype=np.float64) if centre is None else centre
    coordinates = Coordinates(centre, components, smoothers[0].bandwidth)
    solved = smoothers[0].estimator == "kernel-ridge"
    if solved:
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        rows = rows[rows_to_solve_for(len(rows))]
        X, targets = X[rows], targets.take(rows)
        weights = None if weights is None else weights[rows]
    sample = make_sample(X, targets, coordinates, weights)
    coefficients = None
    if solved:
        coefficients = np.hstack(ridge_coefficients(sample, [each.ridge for each in smoothers]))
    index = _index(smoothers[0], sample)
    return FittedSmoother(smoothers, coordinates, sample, index, coefficients)


def _index(smoother: Smoother, sample: Sample) -> ExactIndex | None:
    if smoother.estimator != "local-linear":
        return None
    return ExactIndex(np.ascontiguousarray(sample.rows), n_jobs=1)


def gradients_at(X: AnyArray, fitted: FittedSmoother, *, own: bool = False) -> list[FloatArray]:
    """Return the gradients (m, C, d) at the rows of X of each smoother, in the units of X and y.

    ``own`` says that the rows are samples themselves.
    """
    sample, smoothers = fitted.sample, fitted.smoothers
    estimator, rows = smoothers[0].estimator, fitted.coordinates.enter(X, sample.panel.dtype)
    if estimator == "difference":
        gradients = [difference_gradients(rows, sample, each, own=own) for each in smoothers]
    elif estimator == "local-linear":
        gradients = _local_slopes(rows, fitted)
    elif estimator == "kernel-ridge":
        assert fitted.coefficients is not None
        together = ridge_gradients(rows, sample, fitted.coefficients)
        gradients = np.split(together, len(smoothers), axis=1)
    else:
        scales = tuple((smoothers[0].bandwidth / each.bandwidth) ** 2 for each in smoothers)
        temperature = None if sample.targets.is_real else smoothers[0].temperature
        gradients = [
            softmax_gradients(*estimate, temperature)
            for estimate in analytic_gradients(rows, sample, scales)
        ]
    return [fitted.coordinates.leave(part) * sample.targets.scale for part in gradients]


def _local_slopes(rows: FloatArray, fitted: FittedSmoother) -> list[FloatArray]:
    sample, smoothers = fitted.sample, fitted.smoothers
    assert fitted.index is not None
    if smoothers[0].n_local is None:
        return _slopes_within(rows, fitted, [each.ridge for each in smoothers])
    # Single precision will do, as it does for distances, unless rows lie far from their middle.
    dtype: Any = np.float64 if sample.clamp else np.float32
    samples, columns = sample.rows.astype(dtype), sample.targets.columns().astype(dtype)
    counts = {each: min(each.n_local or 2, len(sample.panel)) for each in smoothers}
    squared, indices = fitted.index.query(rows, max(counts.values()))
    by_smoother: dict[Smoother, FloatArray] = {}
    for k in set(counts.values()):
        alike = [each for each in smoothers if counts[each] == k]
        near = (indices[:, :k], squared[:, :k], samples, columns, sample.weights)
        slopes = slopes_at(*near, [each.ridge for each in alike], COMPACT[smoothers[0].kernel])
        by_smoother.update(zip(alike, slopes, strict=True))
    return [by_smoother[each] for each in smoothers]


def _slopes_within(
    rows: FloatArray, fitted: FittedSmoother, ridges: Sequence[float]
) -> list[FloatArray]:
    """Return the slopes of planes through all samples within h, one query after the other."""
    sample, kernel = fitted.sample, COMPACT[fitted.smoothers[0].kernel]
    assert fitted.index is not None
    squared, indices, indptr = fitted.index.query_radius(rows, 1.0)
    shape = (len(rows), sample.n_columns, rows.shape[1])
    slopes: list[FloatArray] = [np.zeros(shape) for _ in ridges]
    columns = sample.targets.columns()
    for a in np.flatnonzero(np.diff(indptr) > 1):
        part = slice(indptr[a], indptr[a + 1])
        near = indices[part]
        weights = profiles(squared[None, part], kernel) * sample.weights[near]
        fits = local_fits(sample.rows[None, near], columns[None, near], weights, ridges)[2]
        for slope, fit in zip(slopes, fits, strict=True):
            slope[a] = fit[0]
    return slopes


@dataclass(frozen=True)
class Blocks:
    """How evaluation points are shared out: how many at a time, and among how many threads."""

    size: int | None = None
    n_threads: int = 1

    def split(self, n_points: int, fitted: FittedSmoother) -> list[AnyArray]:
        """Return the points in blocks whose gradients can be held."""
        columns = len(fitted.smoothers) * (fitted.sample.n_columns + 1)
        width = 2 * fitted.sample.panel.shape[1] * columns
        size = max(1, min(self.size or BLOCK_ROWS, _BLOCK_ENTRIES // width))
        return split_rows(np.arange(n_points), size, self.n_threads)


ONE_THREAD = Blocks()


@dataclass(frozen=True)
class Evaluated:
    """Sums over the gradients at some points; the gradients (m, C, d) if asked for.

    ``weights`` (m,) are the points', None if all weigh the same.
    """

    sums: GradientSums
    gradients: FloatArray | None = None
    weights: FloatArray | None = None

    def merge(self, other: Evaluated) -> Evaluated:
        """Return what was found at both sets of points."""
        return Evaluated(
            self.sums.merge(other.sums),
            _joined(self.gradients, other.gradients),
            _joined(self.weights, other.weights),
        )


def _joined(first: FloatArray | None, second: FloatArray | None) -> FloatArray | None:
    return None if first is None or second is None else np.concatenate([first, second])


def evaluate(
    X: AnyArray,
    weights: FloatArray,
    fitted: FittedSmoother,
    blocks: Blocks = ONE_THREAD,
    *,
    own: bool = False,
    keep: bool = False,
    diagonal: bool = False,
) -> list[Evaluated]:
    """Return the sums over gradients at the rows of X for each smoother; these too if ``keep``.

    Memory O(block size · (TILE + S C d)) a thread; time as the estimator's.
    """

    def run(block: AnyArray) -> list[Evaluated]:
        parts = []
        for gradients in gradients_at(X[block], fitted, own=own):
            sums = sum_gradients(gradients, weights[block], diagonal=diagonal)
            parts.append(Evaluated(sums, gradients if keep else None, weights[block]))
        return parts

    done = map_blocks(run, blocks.split(len(X), fitted), blocks.n_threads)
    return [merge_all(parts) for parts in zip(*done, strict=True)]
