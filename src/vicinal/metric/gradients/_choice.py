"""Which smoother, power and number of iterations: a race, judged by the k-NN prediction it serves.

candidates ─▶ a few points, one half ─▶ those not clearly behind ─▶ all points, both halves
                                                                          │
      the next iteration, in the winner's metric, among the finalists ◀───┘  while errors fall
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vicinal._lines import QUIET, Lines
from vicinal._types import FloatArray
from vicinal.metric.selection import CLEARLY, drop_behind, first_within

from ._kernel_ridge import leave_one_out_errors
from ._sample import apply
from ._smoother import Smoother
from ._sums import merge_all
from ._trials import Halves, SmootherTrial, Starts, try_all

# How many candidates go on at most.
_FINALISTS = 4
# Ridge gradients are estimated with, in that of least error: what smooths values well smooths the
# slopes of noisy targets away.
_LESS_SMOOTH = 0.3
# Rows kernel ridge regressions are compared on.
_COMPARED_ROWS = 400


@dataclass(frozen=True, eq=False)
class SmootherChoice:
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
    lines: Lines = QUIET,
) -> SmootherChoice:
    """Return the smoother, power and iteration whose metrics predict best.

    Every estimator finds its own path, one smoother and power an iteration, on few points of one
    half; paths not clearly behind the best are followed on all points of both halves. The choice
    is the shortest beginning of a path that a standard error does not tell from the best.
    """
    by_estimator: dict[str, list[Smoother]] = {}
    for smoother in smoothers:
        by_estimator.setdefault(smoother.estimator, []).append(smoother)
    scouts = [scout(halves, s, powers, n_iter) for s in by_estimator.values()]
    by_end = {path[-1][0]: path for path in scouts if path}
    if not by_end:
        return SmootherChoice(smoothers[-1], None, 1)
    paths = [follow(halves, by_end[end]) for end in drop_behind(list(by_end))]
    for path in paths:
        for number, trial in enumerate(path, start=1):
            lines.say(f"iteration {number}: {trial.name}, error {trial.value:.4g}")
    path, best = preferred(paths)
    enough = path.index(first_within(path, best))
    start = None
    if enough:
        before = path[enough - 1]
        (components,) = halves.kind.components(merge_all(before.sums), before.smoother)
        start = halves.yardstick.rescale(components)
    return SmootherChoice(path[enough].smoother, start, enough + 1)


def preferred(paths: Sequence[list[SmootherTrial]]) -> tuple[list[SmootherTrial], SmootherTrial]:
    """Return the path of least error, or that of regressions if not clearly behind, and its best.

    The least of many noisy errors is low by chance; regressions were not picked by them.
    """
    bests = {min(path, key=lambda trial: trial.value): path for path in paths if path}
    ranked = sorted(bests, key=lambda trial: trial.value)
    regressions = [trial for trial in ranked if trial.smoother.estimator == "kernel-ridge"]
    best = first_within([*regressions, ranked[0]], ranked[0], by=CLEARLY)
    return bests[best], best


def scout(
    halves: Halves, smoothers: Sequence[Smoother], powers: Sequence[float], n_iter: int
) -> list[list[SmootherTrial]]:
    """Return the quick trials along one estimator's path, the best few of each iteration.

    After the first iteration only these are tried again. The path ends where the error no longer
    falls by its standard error.
    """
    path: list[list[SmootherTrial]] = []
    candidates = halves.variants(smoothers, powers)
    while len(path) < n_iter:
        start = halves.yardstick.rescale(path[-1][0].components[0]) if path else None
        rivals = candidates
        if smoothers[0].estimator == "kernel-ridge":
            pair = two_regressions(halves, smoothers, start)
            rivals = halves.variants(pair, powers)
        trials = try_all(halves, rivals, (start,), few=True)
        ahead = drop_behind(trials)
        if not ahead or (path and not path[-1][0].score.is_behind(ahead[0].score, by=1.0)):
            break
        path.append(ahead[:_FINALISTS])
        candidates = [trial.smoother for trial in path[-1]]
    return path


def follow(halves: Halves, path: Sequence[Sequence[SmootherTrial]]) -> list[SmootherTrial]:
    """Return the best trial of each iteration of a path, on all points of both halves.

    Few points said where the path ends; it ends sooner where the error rises on all of them.
    """
    starts: Starts = (None,) * len(halves.folds)
    trials: list[SmootherTrial] = []
    for scouted in path:
        level = try_all(halves, [trial.smoother for trial in scouted], starts)
        if not level:
            break
        trials.append(least_ridge(level))
        if len(trials) > 1 and trials[-1].value > trials[-2].value:
            break
        starts = tuple(halves.yardstick.rescale(each) for each in trials[-1].components)
    return trials


def least_ridge(trials: Sequence[SmootherTrial]) -> SmootherTrial:
    """Return the trial of least ridge of those a standard error does not tell from the best.

    Errors are of metrics learned from halves: the whole, of twice the rows, wants less smoothing.
    """
    best = min(trials, key=lambda trial: trial.value)
    by_ridge = sorted(trials, key=lambda trial: (trial.smoother.ridge, trial.value))
    return first_within(by_ridge, best)


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
