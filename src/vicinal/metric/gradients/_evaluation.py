"""Smoothers fitted to a sample, and the gradients of what they estimate, at many points.

    X, y, Smoother ─▶ fit_smoother ─▶ FittedSmoother ─┐
    evaluation points, blocks of 256 ─────────────────┴─▶ gradients (m, C, d) ─▶ GradientSums

The sums over any partition of the evaluation points merge to the same total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from ._sample import COMPACT, Coordinates, Sample, make_sample
from ._smoother import Smoother
from ._sums import GradientSums, merge_all, sum_gradients
from ._targets import Targets

BLOCK_ROWS = 256
# Gradients of a block that may be held at a time.
_BLOCK_ENTRIES = 2**23


@dataclass(frozen=True)
class FittedSmoother:
    """A smoother with its sample, in its coordinates: what gradients are estimated from.

    ``index`` finds the neighbours of "local-linear"; ``coefficients`` (n, C) are those of
    "kernel-ridge".
    """

    smoother: Smoother
    coordinates: Coordinates
    sample: Sample
    index: ExactIndex | None = None
    coefficients: FloatArray | None = None

    def as_plain(self) -> dict[str, Any]:
        """Return it as plain values and arrays, which a model file can hold."""
        return {
            "smoother": dict(vars(self.smoother)),
            "coordinates": dict(vars(self.coordinates)),
            "sample": {**vars(self.sample), "targets": dict(vars(self.sample.targets))},
            "coefficients": self.coefficients,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> FittedSmoother:
        """Return what :meth:`as_plain` was made from."""
        smoother = Smoother(**plain["smoother"])
        targets = Targets(**plain["sample"]["targets"])
        sample = Sample(**{**plain["sample"], "targets": targets})
        coordinates = Coordinates(**plain["coordinates"])
        return cls(smoother, coordinates, sample, _index(smoother, sample), plain["coefficients"])


def fit_smoother(
    X: AnyArray,
    targets: Targets,
    smoother: Smoother,
    *,
    weights: AnyArray | None = None,
    components: FloatArray | None = None,
    centre: FloatArray | None = None,
) -> FittedSmoother:
    """Fit a smoother to a sample X (n, d), distances measured by ``components`` (None: Euclidean).

    ``centre`` (d,) is the origin of the coordinates, by default the mean of X; it changes
    rounding only.
    """
    centre = X.mean(axis=0, dtype=np.float64) if centre is None else centre
    coordinates = Coordinates(centre, components, smoother.bandwidth)
    solved = smoother.estimator == "kernel-ridge"
    if solved:
        rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        rows = rows[rows_to_solve_for(len(rows))]
        X, targets = X[rows], targets.take(rows)
        weights = None if weights is None else weights[rows]
    sample = make_sample(X, targets, coordinates, weights)
    coefficients = ridge_coefficients(sample, smoother.ridge) if solved else None
    return FittedSmoother(smoother, coordinates, sample, _index(smoother, sample), coefficients)


def _index(smoother: Smoother, sample: Sample) -> ExactIndex | None:
    if smoother.estimator != "local-linear":
        return None
    return ExactIndex(np.ascontiguousarray(sample.rows), n_jobs=1)


def gradients_at(X: AnyArray, fitted: FittedSmoother, *, own: bool = False) -> FloatArray:
    """Return the gradients (m, C, d) at the rows of X, in the units of X and y.

    ``own`` says that the rows are samples themselves.
    """
    (gradients,) = gradients_together(X, fitted, [fitted.smoother], own=own)
    return gradients


def gradients_together(
    X: AnyArray, fitted: FittedSmoother, smoothers: Sequence[Smoother], *, own: bool = False
) -> list[FloatArray]:
    """Return the gradients of several smoothers at once.

    They differ from the fitted one in their bandwidth only ("analytic": one block of distances
    serves all) or in their ridge only ("local-linear": one search and one matrix of products).
    """
    sample, smoother = fitted.sample, fitted.smoother
    rows = fitted.coordinates.enter(X, sample.panel.dtype)
    if smoother.estimator == "difference":
        found = [difference_gradients(rows, sample, smoother, own=own)]
    elif smoother.estimator == "local-linear":
        found = _local_slopes(rows, fitted, [s.ridge for s in smoothers])
    elif smoother.estimator == "kernel-ridge":
        assert fitted.coefficients is not None
        found = [ridge_gradients(rows, sample, fitted.coefficients)]
    else:
        scales = tuple((smoother.bandwidth / s.bandwidth) ** 2 for s in smoothers)
        temperature = None if sample.targets.is_real else smoother.temperature
        found = [
            softmax_gradients(*estimate, temperature)
            for estimate in analytic_gradients(rows, sample, scales)
        ]
    return [fitted.coordinates.leave(part) * sample.targets.scale for part in found]


def _local_slopes(
    rows: FloatArray, fitted: FittedSmoother, ridges: Sequence[float]
) -> list[FloatArray]:
    sample, smoother = fitted.sample, fitted.smoother
    assert fitted.index is not None
    if smoother.n_local is None:
        return _slopes_within(rows, fitted, ridges)
    k = min(smoother.n_local, len(sample.panel))
    squared, indices = fitted.index.query(rows, k)
    return slopes_at(
        indices,
        squared,
        sample.rows,
        sample.targets.columns().astype(rows.dtype),
        sample.weights,
        ridges,
        COMPACT[smoother.kernel],
    )


def _slopes_within(
    rows: FloatArray, fitted: FittedSmoother, ridges: Sequence[float]
) -> list[FloatArray]:
    """Return the slopes of planes through all samples within h, one query after the other."""
    sample, kernel = fitted.sample, COMPACT[fitted.smoother.kernel]
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
        for kept, found in zip(slopes, fits, strict=True):
            kept[a] = found[0]
    return slopes


@dataclass(frozen=True)
class Blocks:
    """How evaluation points are shared out: how many at a time, and among how many threads."""

    size: int | None = None
    n_threads: int = 1

    def split(self, n_points: int, fitted: FittedSmoother) -> list[AnyArray]:
        """Return the points in blocks whose gradients can be held."""
        width = 2 * fitted.sample.panel.shape[1] * (fitted.sample.n_columns + 1)
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
) -> Evaluated:
    """Return the sums over gradients at the rows of X, and the gradients if ``keep``.

    Memory O(block size · (TILE + C d)) a thread; time as the estimator's.
    """

    def run(block: AnyArray) -> tuple[GradientSums, FloatArray | None]:
        gradients = gradients_at(X[block], fitted, own=own)
        return sum_gradients(gradients, weights[block]), gradients if keep else None

    done = map_blocks(run, blocks.split(len(X), fitted), blocks.n_threads)
    sums, gradients = zip(*done, strict=True)
    return Evaluated(merge_all(sums), np.concatenate(gradients) if keep else None, weights)


def evaluate_together(
    X: AnyArray, fitted: FittedSmoother, smoothers: Sequence[Smoother], blocks: Blocks = ONE_THREAD
) -> list[GradientSums]:
    """Return the sums over gradients at the samples X for smoothers that can share their work."""

    def run(block: AnyArray) -> list[GradientSums]:
        found = gradients_together(X[block], fitted, smoothers, own=True)
        return [sum_gradients(gradients, np.ones(len(block))) for gradients in found]

    done = map_blocks(run, blocks.split(len(X), fitted), blocks.n_threads)
    return [merge_all(parts) for parts in zip(*done, strict=True)]
