"""What fits of gradient metrics on parts of the data are made of: sums that merge.

    part of the sample, points ─▶ kernel_sums_of or neighbours_of ─▶ merged over parts
                                      ─▶ gradients_from ─▶ sum_gradients ─▶ merged over points
    some rows ─▶ plan_fit ─▶ FitPlan, followed by follow_plan with the sums of all parts

Every record has ``merge``: what two parts give, merged, is what both together would give. The
in-memory ``fit`` runs the same plan, so that a fit on parts can be held to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import ExactIndex
from vicinal.metric.gradients._analytic import KernelSums, kernel_sums, softmax_gradients
from vicinal.metric.gradients._bandwidth import CV_ROWS as ROWS_TO_CHOOSE_ON
from vicinal.metric.gradients._base import GradientMetric
from vicinal.metric.gradients._estimate import BLOCK_ROWS, Setting, gradients_at, make_reference
from vicinal.metric.gradients._kernel_ridge import rows_to_solve_for
from vicinal.metric.gradients._local_linear import slopes_at
from vicinal.metric.gradients._options import check_real_target as real_values
from vicinal.metric.gradients._plan import Evaluated, FitPlan, follow_plan, plan_fit
from vicinal.metric.gradients._smoothing import COMPACT, Coordinates, Targets, make_sample
from vicinal.metric.gradients._sums import GradientSums, merge_sums, sum_gradients

__all__ = [
    "ROWS_TO_CHOOSE_ON",
    "Estimate",
    "Evaluated",
    "FitPlan",
    "GradientMetric",
    "GradientSums",
    "KernelSums",
    "Neighbours",
    "Setting",
    "Targets",
    "follow_plan",
    "gradients_from",
    "gradients_from_sample",
    "kernel_sums_of",
    "merge_sums",
    "neighbours_of",
    "parts_that_merge",
    "plan_fit",
    "read_targets",
    "real_values",
    "rows_to_gather",
    "sum_gradients",
]


@dataclass(frozen=True)
class Estimate:
    """How gradients are estimated in one iteration: the same for every part of the sample.

    Attributes
    ----------
    setting : Setting
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

    setting: Setting
    components: FloatArray | None
    centre: FloatArray
    prior: FloatArray
    scale: float = 1.0
    own: bool = True

    @property
    def coordinates(self) -> Coordinates:
        """Where distances are measured."""
        return Coordinates(self.centre, self.components, self.setting.bandwidth)


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
        squared = np.concatenate([self.squared, other.squared], axis=1)
        order = np.argsort(squared, axis=1, kind="stable")[:, : self.k]

        def take(first: AnyArray, second: AnyArray) -> AnyArray:
            both = np.concatenate([first, second], axis=1)
            return both[np.arange(len(both))[:, None], order]

        return Neighbours(
            take(self.squared, other.squared),
            take(self.rows, other.rows),
            take(self.values, other.values),
            take(self.codes, other.codes),
            self.k,
        )


def read_targets(estimator: GradientMetric, X: Any, y: AnyArray) -> Targets:
    """Let an estimator check rows and targets as its fit would, and keep what it saw."""
    return estimator._check_input(X, y)[1]


def parts_that_merge(setting: Setting) -> Any:
    """Return the function that says what a part contributes; refuse settings without one."""
    if setting.estimator == "analytic":
        return kernel_sums_of
    if setting.estimator == "local-linear" and setting.n_local is not None:
        return neighbours_of
    raise ValueError(
        f"estimator={setting.estimator!r} with a fixed reach has no sums that chunks can add to: "
        "give n_reference, the number of random rows to estimate from, or take "
        "estimator='analytic'."
    )


def rows_to_gather(setting: Setting, n_rows: int) -> IntArray | None:
    """Return the few rows a setting estimates from that has no sums; None where parts merge."""
    return rows_to_solve_for(n_rows) if setting.estimator == "kernel-ridge" else None


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
    k = estimate.setting.n_local
    assert k is not None
    rows = estimate.coordinates.enter(points, sample.panel.dtype)
    index = ExactIndex(np.ascontiguousarray(sample.rows), n_jobs=1)
    squared, near = index.query(rows, min(k, len(sample.panel)))
    targets = sample.targets
    return Neighbours(squared, sample.rows[near], targets.values[near], targets.codes[near], k)


def gradients_from(found: KernelSums | Neighbours, estimate: Estimate) -> FloatArray:
    """Return the gradients (m, C, d) in the units of X and y, from what all parts had."""
    real = len(estimate.prior) == 1
    if isinstance(found, Neighbours):
        gradients = _slopes(found, estimate)
    else:
        gradients = found.gradients()
        if estimate.setting.temperature is not None and not real:
            values = found.values(estimate.prior)
            gradients = softmax_gradients(values, gradients, estimate.setting.temperature)[1]
    return estimate.coordinates.leave(gradients) * estimate.scale


def _slopes(found: Neighbours, estimate: Estimate) -> FloatArray:
    m, k = found.squared.shape
    targets = Targets(found.values.ravel(), found.codes.ravel(), len(estimate.prior))
    (slopes,) = slopes_at(
        np.arange(m * k).reshape(m, k),
        found.squared,
        found.rows.reshape(m * k, -1),
        targets.columns().astype(found.rows.dtype),
        np.ones(m * k),
        [estimate.setting.ridge],
        COMPACT[estimate.setting.kernel],
    )
    return slopes


def gradients_from_sample(
    points: AnyArray, X: AnyArray, targets: Targets, estimate: Estimate
) -> FloatArray:
    """Return the gradients (m, C, d) at points, estimated from one sample alone."""
    reference = make_reference(
        X, targets, estimate.setting, components=estimate.components, centre=estimate.centre
    )
    blocks = np.array_split(points, max(1, -(-len(points) // BLOCK_ROWS)))
    return np.concatenate([gradients_at(block, reference, own=estimate.own) for block in blocks])
