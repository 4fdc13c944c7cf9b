"""What a smoother is worth: a metric learned from one half of the rows predicts the other.

    smoothers ─▶ families ─▶ half_sums ─▶ metrics, one a power ─▶ k-NN errors ─▶ SmootherTrial

Errors are kept row by row: two trials are told apart by the mean of their differences in units of
its standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import ExactIndex
from vicinal.metric.selection import Entry, Score

from ._candidates import affordable_points
from ._evaluation import Blocks, evaluate, fit_smoother
from ._sample import apply
from ._smoother import Smoother
from ._spectrum import MetricKind, change_over
from ._sums import GradientSums
from ._targets import Targets
from ._yardstick import Yardstick

# Rows the choice looks at, and the fewest it makes sense with.
CV_ROWS, CV_LEAST = 2000, 24
# Mean squared change of f over a bandwidth, in variances of y, below which nothing was near.
_NOTHING_NEAR = 1e-12
# A quick trial: points gradients are estimated at, and rows that are predicted.
_FEW_POINTS, _FEW_TESTS = 256, 400
# Multiplications gradients of one half may take, and points they are estimated at in any case.
_HALF_BUDGET, _HALF_LEAST = 1e9, 128
_FEW_BUDGET, _FEW_LEAST = 3e8, 64

Starts = tuple[FloatArray | None, ...]


def rows_to_choose_on(X: AnyArray, targets: Targets, random: np.random.RandomState) -> IntArray:
    """Return at most CV_ROWS random rows, in an order that does not depend on theirs."""
    rows = np.arange(len(X))
    if len(rows) > CV_ROWS:
        rows = np.sort(random.permutation(rows)[:CV_ROWS])
    # By target, then by distance from the mean: a rotation leaves the order, so the halves, alone.
    picks = np.asarray(X[rows], np.float64)
    norms = np.linalg.norm(picks - picks.mean(axis=0), axis=1)
    norms = np.round(norms / max(norms.max(), np.finfo(np.float64).tiny), 9)
    order: IntArray = np.lexsort((*picks.T, norms, targets.values[rows], targets.codes[rows]))
    return rows[order]


@dataclass(frozen=True)
class Halves:
    """The data a smoother is chosen on, each half predicted from the other, and the metric's kind.

    ``yardstick`` is what the metrics are scaled by before distances are measured in them.
    """

    X: AnyArray
    targets: Targets
    folds: tuple[tuple[IntArray, IntArray], ...]
    n_neighbors: int
    kind: MetricKind
    yardstick: Yardstick
    diagonals: tuple[bool, ...] = (False,)
    n_threads: int = 1

    def variants(self, smoothers: Sequence[Smoother], powers: Sequence[float]) -> list[Smoother]:
        """Return smoothers with every power, and every kind of metric that may be made of them."""
        return [
            replace(smoother, power=power, diagonal=diagonal)
            for smoother in smoothers
            for power in powers
            for diagonal in self.diagonals
        ]

    def neighbours_of(self, fold: int) -> int:
        """Return k for the rows of a half: no more than its median class, or all, has."""
        train, _ = self.folds[fold]
        codes = self.targets.codes[train]
        sizes = np.bincount(codes)
        return max(1, min(self.n_neighbors, len(train), int(np.median(sizes[sizes > 0]))))


def split_halves(
    X: AnyArray, targets: Targets, rows: IntArray, random: np.random.RandomState, **how: Any
) -> Halves:
    """Return two random halves of the given rows."""
    rows = random.permutation(rows)
    first, second = rows[::2], rows[1::2]
    return Halves(X, targets, ((first, second), (second, first)), **how)


@dataclass(eq=False)
class SmootherTrial(Entry[Smoother]):
    """A smoother and a power, what they learned on each half, and the errors row by row."""

    sums: tuple[GradientSums, ...] = ()
    components: tuple[FloatArray, ...] = ()

    @property
    def smoother(self) -> Smoother:
        """The candidate."""
        return self.candidate


def try_all(
    halves: Halves, smoothers: Sequence[Smoother], starts: Starts, *, few: bool = False
) -> list[SmootherTrial]:
    """Return a trial of every smoother that finds gradients; with ``few`` a quick one."""
    folds = range(1 if few else len(halves.folds))
    by_fold = [half_sums(halves, fold, smoothers, starts[fold], few=few) for fold in folds]
    trials = []
    for key, alike in _but_for_powers(smoothers).items():
        sums = tuple(sums_of[key] for sums_of in by_fold)
        if not all(found_gradients(part, alike[0], halves.targets.scale) for part in sums):
            continue
        by_smoother = zip(*(halves.kind.components(part, *alike) for part in sums), strict=True)
        for smoother, maps in zip(alike, by_smoother, strict=True):
            errors = [prediction_errors(maps[fold], halves, fold, few=few) for fold in folds]
            score = Score(np.concatenate(errors))
            trials.append(
                SmootherTrial(smoother.describe(), smoother, [score], sums=sums, components=maps)
            )
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
    k = halves.neighbours_of(fold)
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
) -> dict[Any, GradientSums]:
    """Return the sums on the training half, of smoothers but for powers, work shared."""
    train, _ = halves.folds[fold]
    X, targets = halves.X[train], halves.targets.take(train)
    budget = (_FEW_BUDGET, _FEW_LEAST) if few else (_HALF_BUDGET, _HALF_LEAST)
    blocks, flat = Blocks(n_threads=halves.n_threads), np.ones(len(X))
    by_smoother: dict[Any, GradientSums] = {}
    for family in families(smoothers):
        fitted = fit_smoother(X, targets, *family.values(), components=components)
        points = affordable_points(fitted.smoothers[0], (*X.shape, targets.n_columns), *budget)
        at = slice(min(points, _FEW_POINTS) if few else points)
        how = {"own": True, "diagonal": halves.kind.diagonal}
        parts = evaluate(X[at], flat[at], fitted, blocks, **how)
        by_smoother.update({key: part.sums for key, part in zip(family, parts, strict=True)})
    return by_smoother


def _but_for_powers(smoothers: Sequence[Smoother]) -> dict[Any, list[Smoother]]:
    """Return the smoothers by what their gradients depend on."""
    groups: dict[Any, list[Smoother]] = {}
    for each in smoothers:
        step = np.ravel(each.step).tolist() if each.step is not None else [None]
        key = (each.estimator, each.bandwidth, each.n_local, each.ridge, *step)
        groups.setdefault(key, []).append(each)
    return groups


def families(smoothers: Sequence[Smoother]) -> list[dict[Any, Smoother]]:
    """Return the smoothers, but for powers, in groups whose gradients are estimated together."""
    groups: dict[Any, dict[Any, Smoother]] = {}
    for key, (first, *_) in _but_for_powers(smoothers).items():
        any_length = first.estimator in ("analytic", "local-linear")
        length = None if any_length else first.bandwidth
        groups.setdefault((first.estimator, length), {})[key] = first
    return list(groups.values())


def found_gradients(sums: GradientSums, smoother: Smoother, target_scale: float) -> bool:
    """Return whether f changes at all within a bandwidth; else hardly any rows are that near."""
    change = change_over(sums, smoother.bandwidth / target_scale)
    return bool(np.isfinite(change) and change > _NOTHING_NEAR)
