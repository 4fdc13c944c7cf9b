"""Cells whose number of neighbours, or radius, is chosen on the training part.

The metric is fitted to the whole training part; in it, one half of the rows predicts the other
and the other way round, and the number of neighbours (or the radius) of least error is taken.
A query without a row within the radius gets what the nearest row has: that gives the published
errors of the plain distance, which the mean of all rows does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from vicinal._types import AnyArray, BoolArray, FloatArray, Fold, Task
from vicinal.comparison._execute import Prediction
from vicinal.comparison._rows import PreparedFold
from vicinal.comparison._scoring import predict_from
from vicinal.index import ExactIndex
from vicinal.methods import Method, make_learner
from vicinal.metric.selection import Entry, Score
from vicinal.predict import KNNClassifier, KNNRegressor, RadiusClassifier, RadiusRegressor
from vicinal.rows import kfold
from vicinal.runs import HNN, KNN, Cell, Elapsed, Neighbors, Stopwatch

KS = (1, 2, 3, 4, 5, 7, 9, 11, 14, 18, 23, 29, 37, 50)
# Radii within which, on average, half a row up to half of all rows lie.
N_RADII = 24
LEAST_WITHIN, MOST_WITHIN = 0.5, 0.5
# The neighbours a learner's own cross-validation looks at, where it asks for a number.
K_OF_FIT = 7
# Pairs of rows that may be in memory at once.
MOST_PAIRS = 2**22


@dataclass(frozen=True)
class Mapped:
    """Rows as the fitted metric sees them, their targets, and what the fit cost."""

    X_train: AnyArray
    y_train: AnyArray
    X_test: AnyArray
    task: Task
    fit: Elapsed


def predict_tuned(
    cell: Cell, method: Method, prepared: PreparedFold
) -> dict[Neighbors | None, Prediction]:
    """Return what k-NN and h-NN predict: one fit serves both, and is charged to each."""
    mapped = map_fold(cell, method, prepared)
    labels = mapped.y_train if mapped.task == "classification" else None
    halves = kfold(len(mapped.y_train), 2, labels=labels, seed=cell.setting.seed)
    return {kind: decide(kind, mapped, halves) for kind in cell.ks}


def map_fold(cell: Cell, method: Method, prepared: PreparedFold) -> Mapped:
    """Fit the cell's metric to the training part and map both parts.

    Raises
    ------
    ValueError
        Where the learned map leaves the finite numbers.
    """
    task, seed = prepared.dataset.task, cell.setting.seed
    metric = make_learner(method, task, k=K_OF_FIT, seed=seed, parameters=cell.parameters)
    parts, fit = (prepared.X_train, prepared.X_test), Elapsed(0.0, 0.0)
    if metric is not None:
        watch = Stopwatch()
        metric.fit(prepared.X_train, prepared.y_train)
        fit = watch.read()
        parts = np.asarray(metric.transform(parts[0])), np.asarray(metric.transform(parts[1]))
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError("the learned map gives coordinates that are not finite.")
    return Mapped(parts[0], prepared.y_train, parts[1], task, fit)


def decide(kind: Neighbors | None, mapped: Mapped, halves: Sequence[Fold]) -> Prediction:
    """Choose k or the radius on the halves, and predict the test part with it."""
    X, y, task = mapped.X_train, mapped.y_train, mapped.task
    watch = Stopwatch()
    alone = np.zeros(len(mapped.X_test), bool)
    chosen: float
    if kind == KNN:
        chosen = choose_k(X, y, task, halves)
        predicted = _nearest(task, int(chosen)).fit(X, y).predict(mapped.X_test)
    elif kind == HNN:
        chosen = choose_radius(X, y, task, halves)
        predicted, alone = predict_within(chosen, X, y, mapped.X_test, task)
    else:
        raise ValueError(f"neighbours are a number, {KNN!r} or {HNN!r}, got {kind!r}.")
    more = {"chosen": float(chosen), "n_fallbacks": int(alone.sum())}
    return Prediction(predicted, mapped.fit, watch.read(), more)


def _nearest(task: Task, k: int) -> Any:
    return (KNNClassifier if task == "classification" else KNNRegressor)(n_neighbors=k)


def choose_k(X: AnyArray, y: AnyArray, task: Task, halves: Sequence[Fold]) -> int:
    """Return the number of neighbours of least error, the smallest of equals."""
    most = min(len(half.train) for half in halves)
    entries = [Entry(f"{k} neighbours", k) for k in KS if k <= most]

    for half in halves:
        model = _nearest(task, entries[-1].candidate).fit(X[half.train], y[half.train])
        near = model.kneighbors(X[half.test], return_distance=False)
        for entry in entries:
            predicted = predict_from(near, y[half.train], entry.candidate, task)
            entry.scores.append(Score(row_losses(predicted, y[half.test], task)))
    return min(entries, key=lambda entry: entry.value).candidate


def choose_radius(X: AnyArray, y: AnyArray, task: Task, halves: Sequence[Fold]) -> float:
    """Return the radius of least error, the smallest of equals."""
    entries = [Entry(f"radius {r:g}", float(r)) for r in candidate_radii(X, halves)]

    for half in halves:
        for entry in entries:
            parts = X[half.train], y[half.train], X[half.test]
            predicted, _ = predict_within(entry.candidate, *parts, task)
            entry.scores.append(Score(row_losses(predicted, y[half.test], task)))
    return min(entries, key=lambda entry: entry.value).candidate


def row_losses(predicted: AnyArray, y: AnyArray, task: Task) -> FloatArray:
    """Return 1 where a class is wrong, or the squared error, of each row."""
    if task == "classification":
        return (predicted != y).astype(np.float64)
    losses: FloatArray = (predicted - y) ** 2
    return losses


def candidate_radii(X: AnyArray, halves: Sequence[Fold]) -> FloatArray:
    """Return radii that hold, on average, from half a row to half of all rows.

    Quantiles of the distances between the halves; of a part of the queries where all pairs would
    not fit in memory.
    """
    n = len(halves[0].train)
    squared = np.concatenate([_some_distances(X, half) for half in halves])
    shares = np.geomspace(LEAST_WITHIN / n, MOST_WITHIN, N_RADII)
    places = np.minimum((shares * squared.size).astype(np.int64), squared.size - 1)
    radii = np.unique(np.partition(squared, places)[places])
    # Rounding must not put a row just outside of its own radius; and a radius is not zero.
    positive = radii[radii > 0]
    return np.sqrt(positive * (1 + 1e-9)) if len(positive) else np.array([1.0])


def _some_distances(X: AnyArray, half: Fold) -> FloatArray:
    every = -(-len(half.test) * len(half.train) // MOST_PAIRS)
    queries = np.asarray(X[half.test[::every]], np.float64)
    pairs: FloatArray = cdist(queries, np.asarray(X[half.train], np.float64), "sqeuclidean")
    return pairs.ravel()


def predict_within(
    radius: float, X: AnyArray, y: AnyArray, queries: AnyArray, task: Task
) -> tuple[AnyArray, BoolArray]:
    """Return what the rows within a radius say of each query, and which queries have none.

    Those follow the nearest row. Queries are asked block by block: O(n) memory.
    """
    kind = RadiusClassifier if task == "classification" else RadiusRegressor
    model = kind(radius=radius).fit(X, y)
    size = max(1, MOST_PAIRS // len(X))
    blocks = [queries[start : start + size] for start in range(0, len(queries), size)]
    predicted = np.concatenate([model.predict(block) for block in blocks])
    squared, rows = ExactIndex(X).query(queries, 1)
    alone = squared[:, 0] > radius**2
    return np.where(alone, y[rows[:, 0]], predicted), alone
