"""The fit of a gradient metric, whatever holds the rows: choose on some of them, then add up sums.

    rows ─▶ plan_fit ─▶ FitPlan ─┐
    setting, metric so far ─▶ evaluate ─▶ GradientSums ─┴─▶ follow_plan ─▶ fitted attributes

``evaluate`` is the caller's: in memory it goes through blocks of rows, on a cluster through chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vicinal._threads import thread_count
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_positive, check_whole
from vicinal.metric.gradients import _bandwidth as selection
from vicinal.metric.gradients import _options as checks
from vicinal.metric.gradients._estimate import Reference, Setting
from vicinal.metric.gradients._kernel_ridge import MOST_ROWS
from vicinal.metric.gradients._smoothing import Targets
from vicinal.metric.gradients._sums import GradientSums, metric_components, spectrum

_LEAST_EVALUATIONS, _MOST_EVALUATIONS = 1000, 10_000
# Multiplications gradients may take before fewer evaluation points are taken.
_FIT_BUDGET = 2e11
# Rows from which on cross-validation tells whether a further iteration helps.
_ROWS_TO_ITERATE = 1000


@dataclass(frozen=True)
class FitPlan:
    """What a fit is going to do, decided on some of the rows.

    Attributes
    ----------
    path : tuple of Setting
        How gradients are estimated in each iteration.
    points : ndarray of shape (m,) or None
        Rows of the whole at which they are estimated, ascending; None is all.
    targets : Targets
        Of the rows the plan was made on.
    probe, median : ndarray, float
        A few rows and the median distance between them, which later metrics keep.
    n_rows : int
        Rows of the whole.
    dtype : str
        Of the rows, and so of the map.
    """

    path: tuple[Setting, ...]
    points: IntArray | None
    targets: Targets
    probe: FloatArray
    median: float
    n_rows: int
    dtype: str


@dataclass(frozen=True)
class Evaluated:
    """Sums over the gradients at the plan's points; the gradients (m, C, d) if asked for.

    ``reference`` is what they were estimated from, where it is in memory; ``weights`` (m,) are the
    points', None if all weigh the same.
    """

    sums: GradientSums
    gradients: FloatArray | None
    reference: Reference | None = None
    weights: FloatArray | None = None


Evaluate = Callable[[Setting, FloatArray | None], Evaluated]


def plan_fit(
    estimator: Any, X: AnyArray, targets: Targets, weights: FloatArray, n_rows: int, random: Any
) -> FitPlan:
    """Choose settings and evaluation points, by cross-validation where several are possible.

    Parameters
    ----------
    estimator : GradientMetric
        Whose parameters are followed.
    X, targets, weights : ndarray of shape (n, d), Targets, ndarray of shape (n,)
        The rows to choose on: all, or a random part.
    n_rows : int
        How many rows the whole has.
    random : RandomState
        Drawn from in a fixed order, so that the same rows give the same plan.
    """
    distinct = selection.distinct_rows(X, targets, weights, random)
    probe = selection.probe_rows(X, distinct, random)
    median = selection.median_distance(probe)
    if median == 0:
        rows = f"rows of X are equal (n_samples={n_rows})"
        which = f"all {rows}" if len(X) == n_rows else f"all of {len(X)} random {rows}"
        raise ValueError(f"{which}: there is no direction to learn.")
    path = _choose(estimator, X, targets, n_rows, distinct, probe, median, random)
    shape = (n_rows, X.shape[1], targets.n_columns)
    points = _evaluation_rows(estimator, path[0], shape, random)
    return FitPlan(tuple(path), points, targets, probe, median, n_rows, X.dtype.name)


def follow_plan(estimator: Any, plan: FitPlan, evaluate: Evaluate) -> Evaluated:
    """Go through the iterations, leave the metric with the estimator, return the last evaluation.

    ``evaluate(setting, components)`` estimates gradients at the plan's points, distances being
    measured by ``components`` (None: Euclidean).
    """
    components: FloatArray | None = None
    for last, setting in enumerate(plan.path, start=1 - len(plan.path)):
        used, found = _first_found(estimator, plan, setting, components, evaluate)
        if last < 0:
            metric = map_from_sums(estimator, found.sums, setting.power)
            components = selection.keep_scale(metric, plan.probe, plan.median)
    estimator._keep_fit(plan, used, components, found)
    return found


def map_from_sums(estimator: Any, sums: GradientSums, power: float) -> FloatArray:
    """Return the map (d, d) of the estimator's matrix of some sums."""
    return metric_components(*spectrum(estimator._matrix(sums)), power)


def _first_found(
    estimator: Any,
    plan: FitPlan,
    setting: Setting,
    components: FloatArray | None,
    evaluate: Evaluate,
) -> tuple[Setting, Evaluated]:
    """Return the first setting under which f changes at all, and what it finds.

    Besides the one chosen there is a wider one, should y not change that near to any row.
    """
    attempts = [setting]
    if estimator.bandwidth is None or estimator.bandwidth == "rule":
        attempts.append(selection.widest_setting(setting, plan.median, plan.n_rows))
    for attempt in attempts:
        found = evaluate(attempt, components)
        if selection.found_gradients(found.sums, plan.targets, attempt):
            return attempt, found
    raise selection.nothing_near(attempts[0], plan.median)


def _choose(
    told: Any,
    X: AnyArray,
    targets: Targets,
    n_rows: int,
    rows: IntArray,
    probe: FloatArray,
    median: float,
    random: Any,
) -> list[Setting]:
    """Return the setting of each iteration."""
    n_iter = most_iterations(told, n_rows)
    power = None if told.power is None else check_positive("power", told.power)
    k = check_whole("n_neighbors", told.n_neighbors)
    settings = [
        replace(setting, power=power or 1.0)
        for setting in _settings(told, (n_rows, X.shape[1]), targets, median, n_iter)
    ]
    if told.bandwidth is not None:
        return settings * n_iter
    if len(rows) < selection.CV_LEAST:
        return [settings[len(settings) // 2]] * n_iter
    halves = selection.split_halves(X, targets, rows, k, random, thread_count(told.n_jobs))
    return selection.choose_path(
        halves,
        settings,
        told._powers if power is None else (power,),
        n_iter,
        lambda sums, q: selection.keep_scale(map_from_sums(told, sums, q), probe, median),
        told._report,
    )


def most_iterations(told: Any, n_rows: int) -> int:
    """Return how many iterations are asked for, or, where none are, may pay."""
    if told.n_iter is not None:
        return check_whole("n_iter", told.n_iter)
    chosen = told.estimator == "auto" and told.bandwidth is None
    return told._iterations if chosen and _ROWS_TO_ITERATE <= n_rows <= MOST_ROWS else 1


def _settings(
    told: Any, shape: tuple[int, int], targets: Targets, median: float, n_iter: int
) -> list[Setting]:
    """Return the candidates; one where nothing is left to choose."""
    bandwidth = checks.check_bandwidth(told.bandwidth)
    base = checks.check_setting(told, shape[1], targets.n_columns, n_iter)
    ridge = told.ridge
    if ridge is not None:
        ridge = check_positive("ridge", ridge)
    if bandwidth is None:
        return selection.candidate_settings(base, median, *shape, ridge)
    if bandwidth == "rule":
        return [selection.rule_setting(base, median, *shape, ridge)]
    if base.estimator == "auto":
        raise ValueError("estimator='auto' chooses the bandwidth too; give one estimator.")
    base = replace(base, bandwidth=float(bandwidth), ridge=ridge or base.ridge)
    local = base.estimator == "local-linear"
    return [replace(base, kernel=selection.local_kernel(base.kernel)) if local else base]


def _evaluation_rows(
    told: Any, setting: Setting, shape: tuple[int, int, int], random: Any
) -> IntArray | None:
    """Return the rows gradients are estimated at, None for all."""
    n_rows = shape[0]
    if told.n_evaluations is None:
        return None
    affordable = selection.affordable_points(setting, shape, _FIT_BUDGET, _LEAST_EVALUATIONS)
    most = min(_MOST_EVALUATIONS, affordable)
    if not isinstance(told.n_evaluations, str) or told.n_evaluations != "auto":
        most = check_whole("n_evaluations", told.n_evaluations)
    return None if most >= n_rows else np.sort(random.permutation(n_rows)[:most])
