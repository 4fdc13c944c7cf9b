"""The fit of a gradient metric, whatever holds the rows: choose on some of them, then add up sums.

    Options, rows ─▶ plan_fit ─▶ FitPlan ─┐
    smoother, metric so far ─▶ evaluate ──┴─▶ follow_plan ─▶ GradientFit

``evaluate`` is the caller's: in memory it goes through blocks of rows (``fit_rows``), on a cluster
through chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

from ._candidates import affordable_points, nothing_near, smoothers_to_try, widest
from ._choice import CV_LEAST, choose_path, distinct_rows, found_gradients, split_halves
from ._evaluation import Evaluated, FittedSmoother, evaluate, fit_smoother
from ._kernel_ridge import MOST_ROWS
from ._options import Options
from ._smoother import Smoother
from ._targets import Targets
from ._yardstick import Yardstick, make_yardstick

_LEAST_EVALUATIONS, _MOST_EVALUATIONS = 1000, 10_000
# Multiplications gradients may take before fewer evaluation points are taken.
_FIT_BUDGET = 2e11
# Rows from which on cross-validation tells whether a further iteration helps.
_ROWS_TO_ITERATE = 1000


@dataclass(frozen=True, eq=False)
class FitPlan:
    """What a fit is going to do, decided on some of the rows.

    Attributes
    ----------
    options : Options
    path : tuple of Smoother
        How gradients are estimated in each iteration.
    points : ndarray of shape (m,) or None
        Rows of the whole at which they are estimated, ascending; None is all.
    yardstick : Yardstick
        Of the rows the plan was made on.
    target_scale : float
        What a real target was divided by.
    n_rows : int
        Rows of the whole.
    dtype : str
        Of the rows, and so of the map.
    """

    options: Options
    path: tuple[Smoother, ...]
    points: IntArray | None
    yardstick: Yardstick
    target_scale: float
    n_rows: int
    dtype: str


@dataclass(frozen=True, eq=False)
class GradientFit:
    """What a fit found in its last iteration.

    Attributes
    ----------
    smoother : Smoother
    components : ndarray of shape (p, d) or None
        The metric its distances were measured by; None is the Euclidean one.
    evaluated : Evaluated
    fitted : FittedSmoother or None
        What gradients were estimated from, where it is in memory.
    n_iter : int
    n_components : int or None
        How many components the map keeps; None is all.
    dtype : str
        Of the map.
    """

    smoother: Smoother
    components: FloatArray | None
    evaluated: Evaluated
    fitted: FittedSmoother | None
    n_iter: int
    n_components: int | None
    dtype: str


Evaluate = Callable[[Smoother, FloatArray | None], tuple[Evaluated, FittedSmoother | None]]


def fit_rows(
    options: Options,
    X: AnyArray,
    targets: Targets,
    weights: FloatArray,
    random: np.random.RandomState,
) -> GradientFit:
    """Fit to rows in memory, (n, d) with weights (n,) of mean 1."""
    plan = plan_fit(options, X, targets, weights, len(X), random)
    at = slice(None) if plan.points is None else plan.points
    points, point_weights = X[at], weights[at]

    def evaluate_points(
        smoother: Smoother, components: FloatArray | None
    ) -> tuple[Evaluated, FittedSmoother]:
        fitted = fit_smoother(X, targets, smoother, weights=weights, components=components)
        how, keep = options.blocks, options.keep_gradients
        return evaluate(points, point_weights, fitted, how, own=True, keep=keep), fitted

    return follow_plan(plan, evaluate_points)


def plan_fit(
    options: Options,
    X: AnyArray,
    targets: Targets,
    weights: FloatArray,
    n_rows: int,
    random: np.random.RandomState,
) -> FitPlan:
    """Choose smoothers and evaluation points, by cross-validation where several are possible.

    Parameters
    ----------
    options : Options
    X, targets, weights : ndarray of shape (n, d), Targets, ndarray of shape (n,)
        The rows to choose on: all, or a random part.
    n_rows : int
        How many rows the whole has.
    random : RandomState
        Drawn from in a fixed order, so that the same rows give the same plan.
    """
    distinct = distinct_rows(X, targets, weights, random)
    yardstick = make_yardstick(X, distinct, random)
    if yardstick.median == 0:
        rows = f"rows of X are equal (n_samples={n_rows})"
        which = f"all {rows}" if len(X) == n_rows else f"all of {len(X)} random {rows}"
        raise ValueError(f"{which}: there is no direction to learn.")
    path = _choose(options, X, targets, n_rows, distinct, yardstick, random)
    points = _evaluation_rows(options, path[0], (n_rows, X.shape[1], targets.n_columns), random)
    return FitPlan(options, tuple(path), points, yardstick, targets.scale, n_rows, X.dtype.name)


def follow_plan(plan: FitPlan, evaluate: Evaluate) -> GradientFit:
    """Go through the iterations.

    ``evaluate(smoother, components)`` estimates gradients at the plan's points, distances being
    measured by ``components`` (None: Euclidean).
    """
    components: FloatArray | None = None
    for number, smoother in enumerate(plan.path, start=1):
        used, found, fitted = _first_found(plan, smoother, components, evaluate)
        if number < len(plan.path):
            learned = plan.options.kind.learn(found.sums, smoother.power)
            components = plan.yardstick.rescale(learned.components)
    n_components = plan.options.n_components
    return GradientFit(used, components, found, fitted, number, n_components, plan.dtype)


def _first_found(
    plan: FitPlan, smoother: Smoother, components: FloatArray | None, evaluate: Evaluate
) -> tuple[Smoother, Evaluated, FittedSmoother | None]:
    """Return the first smoother under which f changes at all, and what it finds.

    Besides the one chosen there is a wider one, should y not change that near to any row.
    """
    attempts = [smoother]
    if not isinstance(plan.options.bandwidth, float):
        attempts.append(widest(smoother, plan.yardstick.median, plan.n_rows))
    for attempt in attempts:
        found, fitted = evaluate(attempt, components)
        if found_gradients(found.sums, attempt, plan.target_scale):
            return attempt, found, fitted
    raise nothing_near(attempts[0], plan.yardstick.median)


def _choose(
    options: Options,
    X: AnyArray,
    targets: Targets,
    n_rows: int,
    rows: IntArray,
    yardstick: Yardstick,
    random: np.random.RandomState,
) -> list[Smoother]:
    """Return the smoother of each iteration."""
    n_iter = most_iterations(options, n_rows)
    smoothers = smoothers_to_try(options, yardstick.median, n_rows, X.shape[1])
    if options.bandwidth is not None:
        return smoothers * n_iter
    if len(rows) < CV_LEAST:
        return [smoothers[len(smoothers) // 2]] * n_iter
    kind = options.kind
    return choose_path(
        split_halves(X, targets, rows, options.n_neighbors, random, options.blocks.n_threads),
        smoothers,
        kind.powers if options.power is None else (options.power,),
        n_iter,
        lambda sums, power: yardstick.rescale(kind.learn(sums, power).components),
        options.report,
    )


def most_iterations(options: Options, n_rows: int) -> int:
    """Return how many iterations are asked for, or, where none are, may pay."""
    if options.n_iter is not None:
        return options.n_iter
    chosen = options.smoother.estimator == "auto" and options.bandwidth is None
    return options.kind.iterations if chosen and _ROWS_TO_ITERATE <= n_rows <= MOST_ROWS else 1


def _evaluation_rows(
    options: Options,
    smoother: Smoother,
    shape: tuple[int, int, int],
    random: np.random.RandomState,
) -> IntArray | None:
    """Return the rows gradients are estimated at, None for all."""
    n_rows, most = shape[0], options.n_evaluations
    if most is None:
        return None
    if isinstance(most, str):
        affordable = affordable_points(smoother, shape, _FIT_BUDGET, _LEAST_EVALUATIONS)
        most = min(_MOST_EVALUATIONS, affordable)
    return None if most >= n_rows else np.sort(random.permutation(n_rows)[:most])
