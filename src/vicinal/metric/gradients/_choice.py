"""Which smoother each iteration takes: two-fold cross-validation of the k-NN prediction it serves.

rows ─▶ split_halves ─▶ Halves ─┐
smoothers × powers ─────────────┴─▶ metric of one half ─▶ error on the other ─▶ choose_path
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import ExactIndex

from ._candidates import affordable_points
from ._evaluation import Blocks, evaluate_together, fit_smoother
from ._kernel_ridge import leave_one_out_errors
from ._smoother import Smoother
from ._sums import GradientSums, mean_outer
from ._targets import Targets

# Rows cross-validation looks at, and the fewest it makes sense with.
CV_ROWS, CV_LEAST = 3000, 24
# Mean squared change of f over a bandwidth, in variances of y, below which nothing was near.
_NOTHING_NEAR = 1e-12
# Share of the error by which the best of a dozen estimates may look better than it is.
_BY_CHANCE = 0.02
# Ridge gradients are estimated with, in that of least error: what smooths values well smooths the
# slopes of noisy targets away.
_LESS_SMOOTH = 0.3
# Share of the error by which it may look worse: halves want more smoothing than the whole does.
_OF_HALVES = 0.01
# Share of the error a further iteration must save.
_WORTH_AN_ITERATION = 0.01
# Rows of a half at which kernel ridge regressions are compared.
_COMPARED_ROWS = 1000
# Multiplications gradients of one half may take.
_HALF_BUDGET, _HALF_LEAST = 1e10, 200

Metric = Callable[[GradientSums, float], FloatArray]


def distinct_rows(
    X: AnyArray, targets: Targets, weights: FloatArray, random: np.random.RandomState
) -> IntArray:
    """Return at most CV_ROWS random rows with weight, of equal ones the first, in a fixed order.

    A row that is repeated counts once here, so that giving it twice and weighing it twice choose
    the same smoother, and no row is predicted from its own copy.
    """
    rows = np.flatnonzero(weights > 0)
    if len(rows) > CV_ROWS:
        rows = np.sort(random.permutation(rows)[:CV_ROWS])
    # By target first: a rotation of the features then leaves the order, and so the halves, alone.
    facts = np.column_stack([targets.codes[rows], targets.values[rows], X[rows]])
    first = np.unique(facts, axis=0, return_index=True)[1]
    chosen: IntArray = rows[first]
    return chosen


@dataclass(frozen=True)
class Halves:
    """The data a smoother is chosen on: each half predicted from the other."""

    X: AnyArray
    targets: Targets
    folds: tuple[tuple[IntArray, IntArray], ...]
    n_neighbors: int
    n_threads: int = 1


def split_halves(
    X: AnyArray,
    targets: Targets,
    rows: IntArray,
    n_neighbors: int,
    random: np.random.RandomState,
    n_threads: int = 1,
) -> Halves:
    """Return two random halves of the given rows."""
    rows = random.permutation(rows)
    first, second = rows[::2], rows[1::2]
    return Halves(X, targets, ((first, second), (second, first)), n_neighbors, n_threads)


def prediction_error(components: FloatArray, halves: Halves, fold: int) -> float:
    """Return the k-NN mean squared error of one half predicted from the other.

    For classes it is the Brier score of the neighbours' shares, which tells metrics apart
    where the counts of wrong votes tie.
    """
    train, test = halves.folds[fold]
    rows = [np.asarray(halves.X[part], np.float64) @ components.T for part in (train, test)]
    k = min(halves.n_neighbors, len(train))
    _, indices = ExactIndex(rows[0], n_jobs=halves.n_threads).query(rows[1], k)
    columns = halves.targets.columns()
    errors = (columns[train][indices].mean(axis=1) - columns[test]) ** 2
    return float(errors.sum(axis=1).mean())


def half_sums(
    halves: Halves, fold: int, smoothers: Sequence[Smoother], components: FloatArray | None
) -> list[GradientSums]:
    """Return the sums of each smoother on the training half, sharing work where smoothers can."""
    train, _ = halves.folds[fold]
    X, targets = halves.X[train], halves.targets.take(train)
    found: dict[Smoother, GradientSums] = {}
    for family in families(smoothers):
        fitted = fit_smoother(X, targets, family[0], components=components)
        shape = (*X.shape, targets.n_columns)
        points = X[: affordable_points(family[0], shape, _HALF_BUDGET, _HALF_LEAST)]
        sums = evaluate_together(points, fitted, family, Blocks(n_threads=halves.n_threads))
        found.update(zip(family, sums, strict=True))
    return [found[smoother] for smoother in smoothers]


def families(smoothers: Sequence[Smoother]) -> list[list[Smoother]]:
    """Return the smoothers in groups whose gradients can be estimated together."""
    groups: dict[Any, list[Smoother]] = {}
    for smoother in smoothers:
        shared = {"analytic": ("analytic",), "local-linear": ("local-linear", smoother.n_local)}
        groups.setdefault(shared.get(smoother.estimator, smoother), []).append(smoother)
    return list(groups.values())


def choose_path(
    halves: Halves,
    smoothers: Sequence[Smoother],
    powers: Sequence[float],
    n_iter: int,
    metric: Metric,
    report: Callable[[str], None] = lambda line: None,
) -> list[Smoother]:
    """Return the smoother of each iteration, at most ``n_iter``, by two-fold cross-validation.

    Every iteration takes the smoother and power whose metrics, each learned on one half, predict
    the other half best, and the next starts from those; of kernel ridge regressions only the one
    of least leave-one-out error and a less smooth one compete. The path ends where the error came
    within a hundredth of the least.
    """
    starts: list[FloatArray | None] = [None] * len(halves.folds)
    path: list[Smoother] = []
    errors: list[float] = []
    for iteration in range(n_iter):
        rivals = keep_two_regressions(halves, smoothers, starts)
        trials = [_try_all(halves, f, rivals, powers, s, metric) for f, s in enumerate(starts)]
        scores = np.mean([[error for error, _ in fold] for fold in trials], axis=0)
        best = preferred(scores, rivals, len(powers))
        if not np.isfinite(scores[best]):
            break
        smoother, power = divmod(best, len(powers))
        path.append(replace(rivals[smoother], power=powers[power]))
        errors.append(float(scores[best]))
        report(f"iteration {iteration + 1}: {describe(path[-1])}, error {errors[-1]:.4g}")
        starts = [fold[best][1] for fold in trials]
        if len(errors) - int(np.argmin(errors)) > 2:
            break
    if not errors:
        return [smoothers[-1]]
    # Least of several noisy errors is too low by chance: a hundredth is no reason to go on.
    enough = np.array(errors) <= (1 + _WORTH_AN_ITERATION) * min(errors)
    return path[: int(np.argmax(enough)) + 1]


def preferred(scores: FloatArray, smoothers: Sequence[Smoother], n_powers: int) -> int:
    """Return the place of the least score; of a regression's, if hardly higher.

    The least of many noisy errors is low by chance; regressions were not picked by them. Of these
    the last, the less smooth one, is taken if hardly worse.
    """
    # Of equally good smoothers the last, which looks farthest.
    best = len(scores) - 1 - int(np.argmin(scores[::-1]))
    table = scores.reshape(len(smoothers), n_powers)
    solved = [i for i, smoother in enumerate(smoothers) if smoother.estimator == "kernel-ridge"]
    if not solved:
        return best
    least = table[solved].min()
    if not least <= (1 + _BY_CHANCE) * scores[best]:
        return best
    regression = max(i for i in solved if table[i].min() <= (1 + _OF_HALVES) * least)
    return regression * n_powers + int(table[regression].argmin())


def keep_two_regressions(
    halves: Halves, smoothers: Sequence[Smoother], starts: Sequence[FloatArray | None]
) -> list[Smoother]:
    """Return the smoothers with, of kernel ridge regressions, only two, in the last places.

    The first is the one of least leave-one-out error, which tells bandwidths and ridges apart
    far better than the error of a k-NN prediction does; the second has less of its ridge.
    """
    regressions = [smoother for smoother in smoothers if smoother.estimator == "kernel-ridge"]
    if len(regressions) < 2:
        return list(smoothers)
    bandwidths = sorted({smoother.bandwidth for smoother in regressions})
    ridges = sorted({smoother.ridge for smoother in regressions})
    errors = np.zeros((len(bandwidths), len(ridges)))
    for (train, _), start in zip(halves.folds, starts, strict=True):
        train = train[:_COMPARED_ROWS]
        rows = np.asarray(halves.X[train], np.float64)
        rows = rows if start is None else rows @ start.T
        columns = halves.targets.take(train).columns()
        centred = rows - rows.mean(axis=0)
        errors += leave_one_out_errors(centred, columns, bandwidths, ridges, halves.n_threads)
    b, r = np.unravel_index(int(errors.argmin()), errors.shape)
    best = replace(regressions[0], bandwidth=bandwidths[b], ridge=ridges[r])
    others = [smoother for smoother in smoothers if smoother.estimator != "kernel-ridge"]
    if len(ridges) == 1:  # a given one stays
        return [*others, best]
    return [*others, best, replace(best, ridge=_LESS_SMOOTH * best.ridge)]


def _try_all(
    halves: Halves,
    fold: int,
    smoothers: Sequence[Smoother],
    powers: Sequence[float],
    start: FloatArray | None,
    metric: Metric,
) -> list[tuple[float, FloatArray | None]]:
    """Return the error and the metric of every smoother and power, learned on one half."""
    trials: list[tuple[float, FloatArray | None]] = []
    for smoother, sums in zip(smoothers, half_sums(halves, fold, smoothers, start), strict=True):
        found = found_gradients(sums, smoother, halves.targets.scale)
        for power in powers:
            components = metric(sums, power) if found else None
            error = np.inf if components is None else prediction_error(components, halves, fold)
            trials.append((error, components))
    return trials


def found_gradients(sums: GradientSums, smoother: Smoother, target_scale: float) -> bool:
    """Return whether f changes at all within a bandwidth; else hardly any rows are that near."""
    change = np.trace(mean_outer(sums)) * (smoother.bandwidth / target_scale) ** 2
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
