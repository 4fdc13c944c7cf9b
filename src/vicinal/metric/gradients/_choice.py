"""Which smoother, power and number of iterations: a race, judged by the k-NN prediction it serves.

    candidates ─▶ a few points, one half ─▶ those not clearly behind ─▶ all points, both halves
                                                                              │
          the next iteration, in the winner's metric, among the finalists ◀───┘  while errors fall

A metric is learned from one half of the rows and predicts the other. Errors are kept row by row:
candidates are told apart by the mean of their differences in units of its standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import ExactIndex

from ._candidates import affordable_points
from ._evaluation import Blocks, evaluate, fit_smoother
from ._kernel_ridge import leave_one_out_errors
from ._sample import apply
from ._smoother import Smoother
from ._spectrum import change_over
from ._sums import GradientSums, merge_all
from ._targets import Targets

# Rows the choice looks at, and the fewest it makes sense with.
CV_ROWS, CV_LEAST = 2000, 24
# Mean squared change of f over a bandwidth, in variances of y, below which nothing was near.
_NOTHING_NEAR = 1e-12
# The first round: points gradients are estimated at, and rows that are predicted.
_FEW_POINTS, _FEW_TESTS = 256, 400
# Standard errors a candidate may be behind the best, and how many go on at most.
_CLEARLY, _FINALISTS = 2.0, 4
# Ridge gradients are estimated with, in that of least error: what smooths values well smooths the
# slopes of noisy targets away.
_LESS_SMOOTH = 0.3
# Rows kernel ridge regressions are compared on.
_COMPARED_ROWS = 400
# Multiplications gradients of one half may take.
_HALF_BUDGET, _HALF_LEAST = 1e9, 128
_FEW_BUDGET, _FEW_LEAST = 3e8, 64

Metric = Callable[[GradientSums, float], FloatArray]
Starts = tuple[FloatArray | None, ...]


def rows_to_choose_on(X: AnyArray, targets: Targets, random: np.random.RandomState) -> IntArray:
    """Return at most CV_ROWS random rows, in an order that does not depend on theirs."""
    rows = np.arange(len(X))
    if len(rows) > CV_ROWS:
        rows = np.sort(random.permutation(rows)[:CV_ROWS])
    # By target, then by distance from the mean: a rotation leaves the order, so the halves, alone.
    chosen = np.asarray(X[rows], np.float64)
    norms = np.linalg.norm(chosen - chosen.mean(axis=0), axis=1)
    norms = np.round(norms / max(norms.max(), np.finfo(np.float64).tiny), 9)
    order: IntArray = np.lexsort((*chosen.T, norms, targets.values[rows], targets.codes[rows]))
    return rows[order]


@dataclass(frozen=True)
class Halves:
    """The data a smoother is chosen on: each half predicted from the other."""

    X: AnyArray
    targets: Targets
    folds: tuple[tuple[IntArray, IntArray], ...]
    n_neighbors: int
    diagonal: bool = False
    n_threads: int = 1


def split_halves(
    X: AnyArray,
    targets: Targets,
    rows: IntArray,
    n_neighbors: int,
    random: np.random.RandomState,
    **how: Any,
) -> Halves:
    """Return two random halves of the given rows."""
    rows = random.permutation(rows)
    first, second = rows[::2], rows[1::2]
    return Halves(X, targets, ((first, second), (second, first)), n_neighbors, **how)


@dataclass(frozen=True, eq=False)
class Trial:
    """A smoother and a power, what they learned on each half, and the errors row by row."""

    smoother: Smoother
    sums: tuple[GradientSums, ...]
    components: tuple[FloatArray, ...]
    errors: FloatArray

    @property
    def error(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    def is_behind(self, other: Trial, by: float) -> bool:
        """Return whether the error is larger than another's by so many standard errors."""
        gaps = self.errors - other.errors
        return bool(gaps.mean() > by * gaps.std() / np.sqrt(len(gaps)))


@dataclass(frozen=True, eq=False)
class Choice:
    """The smoother of the last iterations, how many of all are left, and the metric so far."""

    smoother: Smoother
    start: FloatArray | None
    n_iter: int
    n_left: int = 1


def choose(
    halves: Halves,
    smoothers: Sequence[Smoother],
    powers: Sequence[float],
    n_iter: int,
    metric: Metric,
    report: Callable[[str], None] = lambda line: None,
) -> Choice:
    """Return the smoother, power and iteration whose metrics predict best.

    Every estimator finds its own path, one smoother and power an iteration, on few points of one
    half; paths not clearly behind the best are followed on all points of both halves. The choice
    is the shortest beginning of a path that a standard error does not tell from the best.
    """
    by_estimator: dict[str, list[Smoother]] = {}
    for smoother in smoothers:
        by_estimator.setdefault(smoother.estimator, []).append(smoother)
    scouts = [scout(halves, s, powers, n_iter, metric) for s in by_estimator.values()]
    ends = [path[-1][0] for path in scouts if path]
    if not ends:
        return Choice(smoothers[-1], None, 1)
    ahead = min(ends, key=lambda trial: trial.error)
    paths = [
        follow(halves, path, metric)
        for path in scouts
        if path and not path[-1][0].is_behind(ahead, _CLEARLY)
    ]
    for path in paths:
        for number, trial in enumerate(path, start=1):
            report(f"iteration {number}: {describe(trial.smoother)}, error {trial.error:.4g}")
    chosen, best = preferred(paths)
    enough = next(i for i, trial in enumerate(chosen) if not trial.is_behind(best, 1.0))
    start = None
    if enough:
        before = chosen[enough - 1]
        start = metric(merge_all(before.sums), before.smoother.power)
    return Choice(chosen[enough].smoother, start, enough + 1)


def preferred(paths: Sequence[Sequence[Trial]]) -> tuple[Sequence[Trial], Trial]:
    """Return the path of least error, or that of regressions if not clearly behind, and its best.

    The least of many noisy errors is low by chance; regressions were not picked by them.
    """
    bests = [(path, min(path, key=lambda trial: trial.error)) for path in paths if path]
    least = min(bests, key=lambda pair: pair[1].error)
    for path, trial in bests:
        solved = trial.smoother.estimator == "kernel-ridge"
        if solved and not trial.is_behind(least[1], _CLEARLY):
            return path, trial
    return least


def scout(
    halves: Halves,
    smoothers: Sequence[Smoother],
    powers: Sequence[float],
    n_iter: int,
    metric: Metric,
) -> list[list[Trial]]:
    """Return the quick trials along one estimator's path, the best few of each iteration.

    After the first iteration only these are tried again. The path ends where the error no longer
    falls by its standard error.
    """
    path: list[list[Trial]] = []
    candidates = [replace(smoother, power=power) for smoother in smoothers for power in powers]
    while len(path) < n_iter:
        start = path[-1][0].components[0] if path else None
        rivals = candidates
        if smoothers[0].estimator == "kernel-ridge":
            pair = two_regressions(halves, smoothers, start)
            rivals = [replace(smoother, power=power) for smoother in pair for power in powers]
        trials = sorted(
            try_all(halves, rivals, (start,), metric, few=True), key=lambda trial: trial.error
        )
        if not trials or (path and not path[-1][0].is_behind(trials[0], 1.0)):
            break
        path.append([t for t in trials if not t.is_behind(trials[0], _CLEARLY)][:_FINALISTS])
        candidates = [trial.smoother for trial in path[-1]]
    return path


def follow(halves: Halves, path: Sequence[Sequence[Trial]], metric: Metric) -> list[Trial]:
    """Return the best trial of each iteration of a path, on all points of both halves."""
    starts: Starts = (None,) * len(halves.folds)
    trials: list[Trial] = []
    for scouted in path:
        found = try_all(halves, [trial.smoother for trial in scouted], starts, metric)
        if not found:
            break
        trials.append(least_ridge(found))
        starts = trials[-1].components
    return trials


def least_ridge(trials: Sequence[Trial]) -> Trial:
    """Return the trial of least ridge of those a standard error does not tell from the best.

    Errors are of metrics learned from halves: the whole, of twice the rows, wants less smoothing.
    """
    best = min(trials, key=lambda trial: trial.error)
    near = [trial for trial in trials if not trial.is_behind(best, 1.0)]
    return min(near, key=lambda trial: (trial.smoother.ridge, trial.error))


def try_all(
    halves: Halves,
    smoothers: Sequence[Smoother],
    starts: Starts,
    metric: Metric,
    *,
    few: bool = False,
) -> list[Trial]:
    """Return a trial of every smoother that finds gradients; with ``few`` a quick one."""
    folds = range(1 if few else len(halves.folds))
    by_fold = [half_sums(halves, fold, smoothers, starts[fold], few=few) for fold in folds]
    trials = []
    for smoother, sums in zip(smoothers, zip(*by_fold, strict=True), strict=True):
        if all(found_gradients(part, smoother, halves.targets.scale) for part in sums):
            maps = tuple(metric(part, smoother.power) for part in sums)
            errors = [prediction_errors(maps[fold], halves, fold, few=few) for fold in folds]
            trials.append(Trial(smoother, sums, maps, np.concatenate(errors)))
    return trials


def prediction_errors(
    components: FloatArray, halves: Halves, fold: int, *, few: bool = False
) -> FloatArray:
    """Return the squared k-NN error of each row of one half predicted from the other.

    For classes it is the Brier score of the neighbours' shares, which tells metrics apart
    where the counts of wrong votes tie.
    """
    train, test = halves.folds[fold]
    test = test[:_FEW_TESTS] if few else test
    rows = [apply(components, np.asarray(halves.X[part], np.float64)) for part in (train, test)]
    k = min(halves.n_neighbors, len(train))
    _, indices = ExactIndex(rows[0], n_jobs=halves.n_threads).query(rows[1], k)
    columns = halves.targets.columns()
    # Sorted, so that metrics under which the same rows are near tie to the last bit: by rounding,
    # which no standard error covers, one would seem behind the other.
    near = np.sort(columns[train][indices], axis=1)
    errors: FloatArray = (near.mean(axis=1) - columns[test]) ** 2
    return errors.sum(axis=1)


def half_sums(
    halves: Halves,
    fold: int,
    smoothers: Sequence[Smoother],
    components: FloatArray | None,
    *,
    few: bool = False,
) -> list[GradientSums]:
    """Return the sums of each smoother on the training half, sharing work where smoothers can."""
    train, _ = halves.folds[fold]
    X, targets = halves.X[train], halves.targets.take(train)
    budget = (_FEW_BUDGET, _FEW_LEAST) if few else (_HALF_BUDGET, _HALF_LEAST)
    found: dict[Any, GradientSums] = {}
    for family in families(smoothers):
        fitted = fit_smoother(X, targets, *family, components=components)
        points = affordable_points(family[0], (*X.shape, targets.n_columns), *budget)
        points = min(points, _FEW_POINTS) if few else points
        blocks, flat = Blocks(n_threads=halves.n_threads), np.ones(len(X))
        parts = evaluate(
            X[:points], flat[:points], fitted, blocks, own=True, diagonal=halves.diagonal
        )
        found.update({_but_power(s): part.sums for s, part in zip(family, parts, strict=True)})
    return [found[_but_power(smoother)] for smoother in smoothers]


def _but_power(smoother: Smoother) -> tuple[Any, ...]:
    """Return what gradients depend on."""
    step = np.ravel(smoother.step).tolist() if smoother.step is not None else [None]
    return (smoother.estimator, smoother.bandwidth, smoother.n_local, smoother.ridge, *step)


def families(smoothers: Sequence[Smoother]) -> list[list[Smoother]]:
    """Return the smoothers, but for powers, in groups whose gradients are estimated together."""
    groups: dict[Any, dict[Any, Smoother]] = {}
    for smoother in smoothers:
        any_length = smoother.estimator in ("analytic", "local-linear")
        length = None if any_length else smoother.bandwidth
        groups.setdefault((smoother.estimator, length), {})[_but_power(smoother)] = smoother
    return [list(group.values()) for group in groups.values()]


def two_regressions(
    halves: Halves, regressions: Sequence[Smoother], start: FloatArray | None
) -> list[Smoother]:
    """Return, of kernel ridge regressions, only two.

    The first is the one of least leave-one-out error, which tells bandwidths and ridges apart
    far better than the error of a k-NN prediction does; the second has less of its ridge.
    """
    if len(regressions) < 2:
        return list(regressions)
    bandwidths = sorted({smoother.bandwidth for smoother in regressions})
    ridges = sorted({smoother.ridge for smoother in regressions})
    train = halves.folds[0][0][:_COMPARED_ROWS]
    rows: FloatArray = np.asarray(halves.X[train], np.float64)
    rows = rows if start is None else apply(start, rows)
    columns = halves.targets.take(train).columns()
    errors = leave_one_out_errors(
        rows - rows.mean(axis=0), columns, bandwidths, ridges, halves.n_threads
    )
    b, r = np.unravel_index(int(errors.argmin()), errors.shape)
    best = replace(regressions[0], bandwidth=bandwidths[b], ridge=ridges[r])
    if len(ridges) == 1:  # a given one stays
        return [best]
    return [best, replace(best, ridge=_LESS_SMOOTH * best.ridge)]


def found_gradients(sums: GradientSums, smoother: Smoother, target_scale: float) -> bool:
    """Return whether f changes at all within a bandwidth; else hardly any rows are that near."""
    change = change_over(sums, smoother.bandwidth / target_scale)
    return bool(np.isfinite(change) and change > _NOTHING_NEAR)


def describe(smoother: Smoother) -> str:
    """Return a smoother in a few words."""
    if smoother.n_local is not None:
        how = f"{smoother.n_local} neighbours, ridge {smoother.ridge:g}"
    elif smoother.estimator == "kernel-ridge":
        how = f"bandwidth {smoother.bandwidth:.4g}, ridge {smoother.ridge:g}"
    else:
        how = f"bandwidth {smoother.bandwidth:.4g}"
    return f"{smoother.estimator}, {how}, power {smoother.power:g}"
