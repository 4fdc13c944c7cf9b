"""Cells whose number of neighbours, or radius, is chosen on the training part.

The metric is fitted to the whole training part; in it, one half of the rows predicts the other
and the other way round, and the number of neighbours (or the radius) of least error is taken.
A query without a row within the radius gets what the nearest row has: that gives the published
errors of the plain distance, which the mean of all rows does not.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, BoolArray, FloatArray, IntArray, Task
from vicinal.comparison._execute import (
    collect_notes,
    predict_from,
    record_head,
    score,
    seed_everything,
)
from vicinal.comparison._rows import PreparedFold
from vicinal.data._protocols import kfold
from vicinal.index import ExactIndex
from vicinal.methods._table import get_method, make_metric
from vicinal.predict import KNNClassifier, KNNRegressor, RadiusClassifier, RadiusRegressor
from vicinal.runs._cells import HNN, KNN, Cell, Neighbors
from vicinal.runs._journal import Record
from vicinal.runs._meter import Elapsed, PeakMemory, Stopwatch

KS = (1, 2, 3, 4, 5, 7, 9, 11, 14, 18, 23, 29, 37, 50)
# Radii within which, on average, half a row up to half of all rows lie.
N_RADII = 24
LEAST_WITHIN, MOST_WITHIN = 0.5, 0.5
# The neighbours a learner's own cross-validation looks at, where it asks for a number.
K_OF_FIT = 7


@dataclass(frozen=True)
class Half:
    """One half of the mapped training rows as queries to the other.

    ``squared`` (m, n) distances, ``targets`` (n,) of the rows searched, ``truth`` (m,).
    """

    squared: FloatArray
    targets: AnyArray
    truth: AnyArray


@dataclass(frozen=True)
class Mapped:
    """A fold as the fitted metric sees it, and what the fit cost."""

    X_train: AnyArray
    X_test: AnyArray
    fit: Elapsed


@dataclass(frozen=True)
class Verdict:
    """Predictions for the test part, what was chosen for them, and queries without neighbours."""

    predicted: AnyArray
    chosen: float
    n_fallbacks: int
    cost: Elapsed


def measure_tuned(cell: Cell, prepared: PreparedFold) -> list[Record]:
    """Return the records of a cell: one fit serves k-NN and h-NN, and is charged to each."""
    task = prepared.dataset.task
    seed_everything(cell.setting.seed)
    memory = PeakMemory()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mapped = map_fold(cell, prepared)
        halves = split_in_halves(mapped.X_train, prepared.y_train, task, cell.setting.seed)
        verdicts = {kind: decide(kind, mapped, prepared, halves) for kind in cell.ks}
    shared = {"peak_mb": memory.read(), "notes": collect_notes(caught)}
    return [
        {**record_head(cell, kind), **_figures(mapped, prepared, verdict), **shared}
        for kind, verdict in verdicts.items()
    ]


def _figures(mapped: Mapped, prepared: PreparedFold, verdict: Verdict) -> Record:
    error, wrong = score(verdict.predicted, prepared.y_test, prepared.dataset.task)
    return {
        "status": "ok",
        "error": error,
        "wrong": wrong,
        "chosen": verdict.chosen,
        "n_fallbacks": verdict.n_fallbacks,
        "n_train": len(prepared.y_train),
        "n_test": len(prepared.y_test),
        "fit_seconds": mapped.fit.wall,
        "fit_cpu_seconds": mapped.fit.cpu,
        "predict_seconds": verdict.cost.wall,
        "predict_cpu_seconds": verdict.cost.cpu,
    }


def map_fold(cell: Cell, prepared: PreparedFold) -> Mapped:
    """Fit the cell's metric to the training part and map both parts.

    Raises
    ------
    ValueError
        Where the learned map leaves the finite numbers.
    """
    metric = make_metric(get_method(cell.method), cell.parameters, K_OF_FIT, cell.setting.seed)
    if metric is None:
        return Mapped(prepared.X_train, prepared.X_test, Elapsed(0.0, 0.0))
    watch = Stopwatch()
    metric.fit(prepared.X_train, prepared.y_train)
    fit = watch.read()
    parts = [np.asarray(metric.transform(X)) for X in (prepared.X_train, prepared.X_test)]
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError("the learned map gives coordinates that are not finite.")
    return Mapped(parts[0], parts[1], fit)


def split_in_halves(X: AnyArray, y: AnyArray, task: Task, seed: int) -> list[Half]:
    """Return the two halves, each as queries to the other; O(n² d) time, O(n²) memory."""
    labels = y if task == "classification" else None
    folds = kfold(len(y), 2, labels=labels, seed=seed)
    return [
        Half(squared_distances(X[fold.test], X[fold.train]), y[fold.train], y[fold.test])
        for fold in folds
    ]


def squared_distances(A: AnyArray, B: AnyArray) -> FloatArray:
    """Return ‖a − b‖² for all pairs, of shape (m, n), from one product."""
    A, B = np.asarray(A, np.float64), np.asarray(B, np.float64)
    centre = B.mean(axis=0)  # near the origin less is lost to rounding
    A, B = A - centre, B - centre
    squared = (A**2).sum(axis=1)[:, None] - 2 * (A @ B.T) + (B**2).sum(axis=1)
    return np.maximum(squared, 0.0)


def decide(kind: Neighbors, mapped: Mapped, prepared: PreparedFold, halves: list[Half]) -> Verdict:
    """Choose k or the radius on the halves, and predict the test part with it."""
    task = prepared.dataset.task
    model: Any
    watch = Stopwatch()
    if kind == KNN:
        chosen = float(choose_k(halves, task))
        model = (KNNClassifier if task == "classification" else KNNRegressor)(int(chosen))
    elif kind == HNN:
        chosen = choose_radius(halves, task)
        model = (RadiusClassifier if task == "classification" else RadiusRegressor)(chosen)
    else:
        raise ValueError(f"neighbours are a number, {KNN!r} or {HNN!r}, got {kind!r}.")
    predicted = model.fit(mapped.X_train, prepared.y_train).predict(mapped.X_test)
    alone = np.zeros(len(predicted), bool)
    if kind == HNN:
        predicted, alone = follow_nearest(predicted, chosen, mapped, prepared.y_train)
    return Verdict(predicted, chosen, int(alone.sum()), watch.read())


def follow_nearest(
    predicted: AnyArray, radius: float, mapped: Mapped, y_train: AnyArray
) -> tuple[AnyArray, BoolArray]:
    """Give queries without a row within the radius what the nearest row has; say which."""
    squared, rows = ExactIndex(mapped.X_train).query(mapped.X_test, 1)
    alone = squared[:, 0] > radius**2
    return np.where(alone, y_train[rows[:, 0]], predicted), alone


def choose_k(halves: list[Half], task: Task) -> int:
    """Return the number of neighbours of least error, the smallest of equals."""
    most = min(len(half.targets) for half in halves)
    ks = [k for k in KS if k <= most]
    errors = [[_k_error(half, order, k, task) for k in ks] for half, order in _ordered(halves, ks)]
    return ks[int(np.argmin(np.mean(errors, axis=0)))]


def _ordered(halves: list[Half], ks: list[int]) -> list[tuple[Half, IntArray]]:
    return [(half, nearest(half.squared, ks[-1])) for half in halves]


def _k_error(half: Half, order: IntArray, k: int, task: Task) -> float:
    return score(predict_from(order, half.targets, k, task), half.truth, task)[0]


def nearest(squared: FloatArray, k: int) -> IntArray:
    """Return the columns of the k smallest entries of each row, ascending, of shape (m, k)."""
    k = min(k, squared.shape[1])
    some = np.argpartition(squared, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(squared, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def choose_radius(halves: list[Half], task: Task) -> float:
    """Return the radius of least error, the smallest of equals."""
    squared_radii = candidate_radii(halves)
    errors = [radius_errors(half, squared_radii, task) for half in halves]
    return float(np.sqrt(squared_radii[int(np.argmin(np.mean(errors, axis=0)))]))


def candidate_radii(halves: list[Half]) -> FloatArray:
    """Return squared radii that hold, on average, from half a row to half of all rows."""
    squared = np.concatenate([half.squared.ravel() for half in halves])
    n = halves[0].squared.shape[1]
    shares = np.geomspace(LEAST_WITHIN / n, MOST_WITHIN, N_RADII)
    places = np.minimum((shares * squared.size).astype(np.int64), squared.size - 1)
    found = np.unique(np.partition(squared, places)[places])
    # Rounding must not put a row just outside of its own radius; and a radius is not zero.
    positive = found[found > 0]
    return positive * (1 + 1e-9) if len(positive) else np.array([1.0])


def radius_errors(half: Half, squared_radii: FloatArray, task: Task) -> FloatArray:
    """Return the error of prediction from all rows within each radius, of shape (R,)."""
    predict = _radius_votes if task == "classification" else _radius_means
    return np.array(
        [score(predict(half, squared), half.truth, task)[0] for squared in squared_radii]
    )


def _radius_means(half: Half, squared_radius: float) -> FloatArray:
    within = (half.squared <= squared_radius).astype(np.float64)
    counts = within.sum(axis=1)
    means = within @ half.targets / np.maximum(counts, 1)
    return np.where(counts > 0, means, half.targets[half.squared.argmin(axis=1)])


def _radius_votes(half: Half, squared_radius: float) -> IntArray:
    """Return the winner within the radius; the nearest row breaks ties that it is part of."""
    n_classes = int(half.targets.max()) + 1
    indicators = np.eye(n_classes, dtype=np.float32)[half.targets]
    within = (half.squared <= squared_radius).astype(np.float32)
    votes = within @ indicators
    votes += 0.5 * indicators[half.squared.argmin(axis=1)]
    return np.asarray(votes.argmax(axis=1))
