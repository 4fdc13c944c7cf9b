"""The fit of a gradient metric, whatever holds the rows: choose on some of them, then add up sums.

    GradientOptions, rows ─▶ plan_fit ─▶ FitPlan ─┐
    smoother, metric so far ─▶ evaluate ──┴─▶ follow_plan ─▶ GradientFit

``evaluate`` is the caller's: in memory it goes through blocks of rows (``fit_rows``), on a cluster
through chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

from ._candidates import affordable_points, nothing_near, smoothers_to_try, widest
from ._choice import SmootherChoice, choose
from ._evaluation import Evaluated, FittedSmoother, evaluate, fit_smoother
from ._options import GradientOptions
from ._rows import Span, distinct_rows, span_of
from ._smoother import Smoother
from ._targets import Targets
from ._trials import CV_LEAST, found_gradients, rows_to_choose_on, split_halves
from ._yardstick import Yardstick, make_yardstick

_LEAST_EVALUATIONS, _MOST_EVALUATIONS = 500, 10_000
# Multiplications gradients may take before fewer evaluation points are taken.
_FIT_BUDGET = 4e9
# Iterations that are tried where none are asked for, while the error falls.
_MOST_ITERATIONS = 8


@dataclass(frozen=True, eq=False)
class FitPlan:
    """What a fit is going to do, decided on some of the rows.

    Attributes
    ----------
    options : GradientOptions
    choice : SmootherChoice
        How gradients are estimated.
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

    options: GradientOptions
    choice: SmootherChoice
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
    n_components : int, "auto" or None
        How many components the map keeps; None is all.
    dtype : str
        Of the map.
    span : Span or None
        The plane all of it is about, where that is not the space of the features.
    """

    smoother: Smoother
    components: FloatArray | None
    evaluated: Evaluated
    fitted: FittedSmoother | None
    n_iter: int
    n_components: int | str | None
    dtype: str
    span: Span | None = None


Evaluate = Callable[[Smoother, FloatArray | None], tuple[Evaluated, FittedSmoother | None]]


@dataclass(frozen=True, eq=False)
class BegunFit:
    """A plan made on rows in memory, and the plane it is about; any of the rows may be fitted."""

    plan: FitPlan
    span: Span | None
    dtype: str

    def fit(
        self, X: AnyArray, targets: Targets, weights: FloatArray, *, all_rows: bool = True
    ) -> GradientFit:
        """Return the fit of all rows the plan is for, or of some of them."""
        X, targets, weights = distinct_rows(X, targets, weights)
        X = X if self.span is None else self.span.enter(X)
        plan, options = self.plan, self.plan.options
        if not all_rows:
            shape = (*X.shape, targets.n_columns)
            points = _evaluation_rows(
                options, plan.choice.smoother, shape, np.random.RandomState(0)
            )
            plan = replace(plan, points=points, n_rows=len(X))
        at = slice(None) if plan.points is None else plan.points
        points, point_weights = X[at], weights[at]

        def evaluate_points(
            smoother: Smoother, components: FloatArray | None
        ) -> tuple[Evaluated, FittedSmoother]:
            fitted = fit_smoother(X, targets, smoother, weights=weights, components=components)
            how = {"keep": options.keep_gradients, "diagonal": options.kind.diagonal}
            result = evaluate(points, point_weights, fitted, options.blocks, own=True, **how)[0]
            return result, fitted

        return replace(follow_plan(plan, evaluate_points), span=self.span, dtype=self.dtype)


def begin_fit(
    options: GradientOptions,
    X: AnyArray,
    targets: Targets,
    weights: FloatArray,
    random: np.random.RandomState,
) -> BegunFit:
    """Plan a fit to rows in memory, (n, d) with weights (n,) of mean 1.

    Fewer rows than features are fitted in the plane they span: nothing is of size d².
    """
    dtype = X.dtype.name
    X, targets, weights = distinct_rows(X, targets, weights)
    kind, span = options.kind, None
    by_feature = kind.diagonal or options.diagonal or options.smoother.estimator == "difference"
    if len(X) <= X.shape[1] and not by_feature and np.ptp(X, axis=0).any():
        span = span_of(X)
        X, options = span.enter(X), replace(options, by_feature=False)
    return BegunFit(plan_fit(options, X, targets, weights, len(X), random), span, dtype)


def plan_fit(
    options: GradientOptions,
    X: AnyArray,
    targets: Targets,
    weights: FloatArray,
    n_rows: int,
    random: np.random.RandomState,
) -> FitPlan:
    """Choose smoothers and evaluation points, by cross-validation where several are possible.

    Parameters
    ----------
    options : GradientOptions
    X, targets, weights : ndarray of shape (n, d), Targets, ndarray of shape (n,)
        The rows to choose on: all, or a random part.
    n_rows : int
        How many rows the whole has.
    random : RandomState
        Drawn from in a fixed order, so that the same rows give the same plan.
    """
    X, targets, _ = distinct_rows(X, targets, weights)
    distinct = rows_to_choose_on(X, targets, random)
    yardstick = make_yardstick(X, distinct, random)
    if yardstick.median == 0:
        rows = f"rows of X are equal (n_samples={n_rows})"
        which = f"all {rows}" if len(X) == n_rows else f"all of {len(X)} random {rows}"
        raise ValueError(f"{which}: there is no direction to learn.")
    choice = _choose(options, X, targets, n_rows, distinct, yardstick, random)
    shape = (n_rows, X.shape[1], targets.n_columns)
    points = _evaluation_rows(options, choice.smoother, shape, random)
    return FitPlan(options, choice, points, yardstick, targets.scale, n_rows, X.dtype.name)


def follow_plan(plan: FitPlan, evaluate: Evaluate) -> GradientFit:
    """Go through the iterations.

    ``evaluate(smoother, components)`` estimates gradients at the plan's points, distances being
    measured by ``components`` (None: Euclidean).
    """
    choice, components = plan.choice, plan.choice.start
    for left in reversed(range(choice.n_left)):
        smoother, result, fitted = _first_changing(plan, choice.smoother, components, evaluate)
        if left:
            (components,) = plan.options.kind.components(result.sums, choice.smoother)
            components = plan.yardstick.rescale(components)
    n_components = plan.options.n_components
    return GradientFit(
        smoother, components, result, fitted, choice.n_iter, n_components, plan.dtype
    )


def _first_changing(
    plan: FitPlan, smoother: Smoother, components: FloatArray | None, evaluate: Evaluate
) -> tuple[Smoother, Evaluated, FittedSmoother | None]:
    """Return the first smoother under which f changes at all, and what it finds.

    Besides the one chosen there is a wider one, should y not change that near to any row.
    """
    attempts = [smoother]
    if not isinstance(plan.options.bandwidth, float):
        attempts.append(widest(smoother, plan.yardstick.median, plan.n_rows))
    for attempt in attempts:
        result, fitted = evaluate(attempt, components)
        if found_gradients(result.sums, attempt, plan.target_scale):
            return attempt, result, fitted
    raise nothing_near(attempts[0], plan.yardstick.median)


def _choose(
    options: GradientOptions,
    X: AnyArray,
    targets: Targets,
    n_rows: int,
    rows: IntArray,
    yardstick: Yardstick,
    random: np.random.RandomState,
) -> SmootherChoice:
    """Return how gradients are estimated, and in which metric."""
    n_iter = options.n_iter or _MOST_ITERATIONS
    smoothers = smoothers_to_try(options, yardstick.median, n_rows, X.shape[1])
    if options.bandwidth is not None or len(rows) < CV_LEAST:
        n_iter = options.n_iter or 1
        return SmootherChoice(smoothers[len(smoothers) // 2], None, n_iter, n_left=n_iter)
    kind, n_threads = options.kind, options.blocks.n_threads
    # In the plane that few rows span, columns are no features, whose weights a diagonal would be.
    diagonals: tuple[bool, ...] = (False,)
    if options.by_feature and not kind.diagonal:
        diagonals = (False, True) if options.diagonal is None else (options.diagonal,)
    halves = split_halves(
        X, targets, rows, random, kind=kind, n_neighbors=options.n_neighbors, yardstick=yardstick,
        diagonals=diagonals, n_threads=n_threads,
    )  # fmt: skip
    powers = kind.powers if options.power is None else (options.power,)
    return choose(halves, smoothers, powers, n_iter, options.lines)


def _evaluation_rows(
    options: GradientOptions,
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
