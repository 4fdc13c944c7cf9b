"""What fits of gradient metrics on parts of the data are made of: sums that merge.

    part of the sample, points ─▶ kernel_sums_of or neighbours_of ─▶ merged over parts
                                      ─▶ gradients_from ─▶ sum_gradients ─▶ merged over points
    some rows ─▶ plan_fit ─▶ FitPlan ─▶ follow_plan with the sums of all parts ─▶ keep_fit

Every record has ``merge``: what two parts give, merged, is what both together would give. The
in-memory ``fit`` runs the same plan, so that a fit on parts can be held to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import ExactIndex

from ._analytic import KernelSums, kernel_sums, softmax_gradients
from ._base import GradientMetric
from ._evaluation import BLOCK_ROWS, Evaluated, fit_smoother, gradients_at
from ._fit import GradientFit, follow_plan, plan_fit
from ._kernel_ridge import rows_to_solve_for
from ._local_linear import slopes_at
from ._options import GradientOptions
from ._rows import distinct_rows
from ._sample import COMPACT, Coordinates, make_sample
from ._smoother import Smoother
from ._sums import GradientSums, merge_all, sum_gradients
from ._targets import Targets
from ._trials import CV_ROWS as ROWS_TO_CHOOSE_ON

__all__ = [
    "ROWS_TO_CHOOSE_ON",
    "Estimate",
    "Evaluated",
    "GradientFit",
    "GradientMetric",
    "GradientOptions",
    "GradientSums",
    "KernelSums",
    "Smoother",
    "Targets",
    "follow_plan",
    "gradients_from",
    "gradients_from_sample",
    "keep_fit",
    "merge_all",
    "parts_that_merge",
    "plan_fit",
    "read_input",
    "rows_to_gather",
    "sum_gradients",
]


@dataclass(frozen=True)
class Estimate:
    """How gradients are estimated in one iteration: the same for every part of the sample.

    Attributes
    ----------
    smoother : Smoother
    components : ndarray of shape (p, d) or None
        The metric distances are measured by; None is the Euclidean one.
    centre : ndarray of shape (d,)
        Origin of the coordinates; it changes rounding only.
    prior : ndarray of shape (C,)
        f where no sample is near; its length is the number of columns.
    scale : float
        What a real target was divided by.
    own : bool
        Whether the evaluation points are samples themselves.
    """

    smoother: Smoother
    components: FloatArray | None
    centre: FloatArray
    prior: FloatArray
    scale: float = 1.0
    own: bool = True

    @property
    def coordinates(self) -> Coordinates:
        """Where distances are measured."""
        return Coordinates(self.centre, self.components, self.smoother.bandwidth)


@dataclass(frozen=True)
class Neighbours:
    """The k nearest samples of each point: those of several parts merge.

    ``squared`` (m, k) ascending, ``rows`` (m, k, d) in the estimate's coordinates, ``values`` and
    ``codes`` (m, k) their targets.
    """

    squared: FloatArray
    rows: FloatArray
    values: FloatArray
    codes: IntArray
    k: int

    def merge(self, other: Neighbours) -> Neighbours:
        """Return the k nearest among both."""
        all_squared = np.concatenate([self.squared, other.squared], axis=1)
        order = np.argsort(all_squared, axis=1, kind="stable")[:, : self.k]

        def nearest(name: str) -> AnyArray:
            both = np.concatenate([getattr(self, name), getattr(other, name)], axis=1)
            return both[np.arange(len(both))[:, None], order]

        squared, rows = nearest("squared"), nearest("rows")
        return Neighbours(squared, rows, nearest("values"), nearest("codes"), self.k)


def read_input(estimator: GradientMetric, X: Any, y: AnyArray) -> tuple[Targets, GradientOptions]:
    """Let an estimator check rows, targets and its parameters as its ``fit`` would."""
    rows = estimator.note_rows(estimator._read(X, y))
    targets = estimator._targets(rows.target, np.ones(rows.n_rows))
    return targets, estimator._options(rows.X.shape[1], targets.n_columns)


def keep_fit(estimator: GradientMetric, fit: GradientFit) -> None:
    """Give an estimator the attributes of a fit."""
    estimator._keep_fit(fit)


def parts_that_merge(smoother: Smoother) -> Any:
    """Return the function that says what a part contributes; refuse smoothers without one."""
    if smoother.estimator == "analytic":
        return kernel_sums_of
    if smoother.estimator == "local-linear" and smoother.n_local is not None:
        return neighbours_of
    raise ValueError(
        f"estimator={smoother.estimator!r} with a fixed reach has no sums that chunks can add to: "
        "give n_reference, the number of random rows to estimate from, or take "
        "estimator='analytic'."
    )


def rows_to_gather(smoother: Smoother, n_rows: int) -> IntArray | None:
    """Return the few rows a smoother estimates from that has no sums; None where parts merge."""
    return rows_to_solve_for(n_rows) if smoother.estimator == "kernel-ridge" else None


def kernel_sums_of(
    points: AnyArray, X: AnyArray, targets: Targets, estimate: Estimate
) -> KernelSums:
    """Return the kernel sums of points (m, d) over a part of the sample. O(m n d) time."""
    sample = make_sample(X, targets, estimate.coordinates)
    rows = estimate.coordinates.enter(points, sample.panel.dtype)
    blocks = np.array_split(rows, max(1, -(-len(rows) // BLOCK_ROWS)))
    parts = [kernel_sums(block, sample)[0] for block in blocks]
    products = [part.products for part in parts if part.products is not None]
    return KernelSums(
        np.concatenate([part.moments for part in parts], axis=1),
        np.concatenate(products) if products else None,
    )


def neighbours_of(
    points: AnyArray, X: AnyArray, targets: Targets, estimate: Estimate
) -> Neighbours:
    """Return the nearest samples of points (m, d) in a part of the sample. O(m n d) time."""
    sample = make_sample(X, targets, estimate.coordinates)
    k = estimate.smoother.n_local
    assert k is not None
    rows = estimate.coordinates.enter(points, sample.panel.dtype)
    index = ExactIndex(np.ascontiguousarray(sample.rows), n_jobs=1)
    squared, near = index.query(rows, min(k, len(sample.panel)))
    targets = sample.targets
    return Neighbours(squared, sample.rows[near], targets.values[near], targets.codes[near], k)


def gradients_from(statistics: KernelSums | Neighbours, estimate: Estimate) -> FloatArray:
    """Return the gradients (m, C, d) in the units of X and y, from what all parts had."""
    if isinstance(statistics, Neighbours):
        gradients = _slopes(statistics, estimate)
    else:
        temperature = None if len(estimate.prior) == 1 else estimate.smoother.temperature
        values = statistics.values(estimate.prior)
        gradients = softmax_gradients(values, statistics.gradients(), temperature)
    return estimate.coordinates.leave(gradients) * estimate.scale


def _slopes(statistics: Neighbours, estimate: Estimate) -> FloatArray:
    m, k = statistics.squared.shape
    targets = Targets(statistics.values.ravel(), statistics.codes.ravel(), len(estimate.prior))
    (slopes,) = slopes_at(
        np.arange(m * k).reshape(m, k),
        statistics.squared,
        statistics.rows.reshape(m * k, -1),
        targets.columns().astype(statistics.rows.dtype),
        np.ones(m * k),
        [estimate.smoother.ridge],
        COMPACT[estimate.smoother.kernel],
    )
    return slopes


def gradients_from_sample(
    points: AnyArray, X: AnyArray, targets: Targets, estimate: Estimate
) -> FloatArray:
    """Return the gradients (m, C, d) at points, estimated from one sample alone."""
    X, targets, weights = distinct_rows(X, targets, np.ones(len(X)))
    fitted = fit_smoother(
        X,
        targets,
        estimate.smoother,
        weights=weights,
        components=estimate.components,
        centre=estimate.centre,
    )
    blocks = np.array_split(points, max(1, -(-len(points) // BLOCK_ROWS)))
    return np.concatenate([gradients_at(block, fitted, own=estimate.own)[0] for block in blocks])
