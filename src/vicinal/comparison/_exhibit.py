"""What one fitted metric learned: maps, relevance, spectrum, directions, telling examples.

Made of the fit that was measured, while it is at hand; nothing is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, BoolArray, Dataset, FloatArray, IntArray, Task
from vicinal.comparison._intervals import MOST_POINTS, describe_sum, eigenvalue_intervals
from vicinal.comparison._relevance import relevance_of, weigh_features
from vicinal.comparison._rows import PreparedFold
from vicinal.report import (
    Example,
    Neighbor,
    correlation,
    describe_direction,
    eigenvalues_of,
    first_two_components,
    leading_directions,
    maps_linearly,
    sample_rows,
)

MOST_MAPPED = 1500
MOST_EXAMPLES = {"fixed": 3, "broken": 1, "wrong": 1, "right": 1}
MOST_VALUES = 6


@dataclass(frozen=True)
class Side:
    """Neighbours of all test rows under one distance (m, k), and what they predict (m,)."""

    distances: FloatArray
    neighbors: IntArray
    predicted: AnyArray


def show_metric(metric: Any, prepared: PreparedFold, seed: int) -> dict[str, Any]:
    """Return what a fitted metric shows whatever k is: fields of an Exhibit.

    Maps are of test rows: what a learner did to its own training rows proves nothing.
    """
    dataset = prepared.dataset
    shown = sample_rows(len(prepared.X_test), MOST_MAPPED, seed)
    rows = prepared.X_test[shown]
    fields: dict[str, Any] = {
        "map_before": first_two_components(rows),
        "map_after": first_two_components(_map_queries(metric, rows)),
        "map_targets": name_targets(prepared.y_test[shown], dataset),
        "feature_names": feature_names(dataset),
        "columns": feature_columns(dataset),
        "image_shape": dataset.image_shape,
    }
    # A map that is not linear has components_ that tell of something else, if any.
    return fields | (_show_linear(metric, prepared, seed) if _is_linear(metric, prepared) else {})


def _is_linear(metric: Any, prepared: PreparedFold) -> bool:
    return maps_linearly(metric, prepared.X_train)


def _show_linear(metric: Any, prepared: PreparedFold, seed: int) -> dict[str, Any]:
    X, y = prepared.X_train, prepared.y_train
    filled = prepared.dataset.X[prepared.rows.train]
    if prepared.imputer is not None:
        filled = prepared.imputer.transform(filled)
    directions = leading_directions(metric.components_, 2)
    loadings = weigh_features(directions, prepared.preparation, filled)
    names = feature_names(prepared.dataset)
    shown = sample_rows(len(X), MOST_POINTS, seed)
    intervals, n_evaluations = eigenvalue_intervals(metric, X, y, seed)
    return {
        "relevance": relevance_of(metric.components_, prepared.preparation, filled),
        "eigenvalues": eigenvalues_of(metric),
        "carries": describe_sum(metric),
        "intervals": intervals,
        "n_evaluations": n_evaluations,
        "places": X[shown].astype(np.float64) @ directions.T,
        "targets": name_targets(y[shown], prepared.dataset),
        "directions": tuple(describe_direction(_unit(v), names) for v in loadings),
    }


def _unit(vector: FloatArray) -> FloatArray:
    return vector / (np.linalg.norm(vector) or 1.0)


def _map_queries(metric: Any, X: AnyArray) -> FloatArray:
    """The rows as queries under the learned metric, codes as numbers."""
    mapped = getattr(metric, "transform_queries", metric.transform)(X)
    return np.asarray(mapped, dtype=np.float64)


def feature_names(dataset: Dataset) -> tuple[str, ...]:
    """Return what the features are called, x0, x1, … where nobody named them."""
    names = dataset.feature_names or tuple(f"x{i}" for i in range(dataset.X.shape[1]))
    return tuple(str(name) for name in names)


def feature_columns(dataset: Dataset) -> tuple[str, ...]:
    """Return which column of its table each feature comes from; nothing where it is not known."""
    return tuple(map(str, np.ravel(dataset.extras.get("columns", ()))))


def name_targets(y: AnyArray, dataset: Dataset) -> AnyArray:
    """Return classes by name as texts, numbers as floats."""
    if dataset.task == "regression":
        return np.asarray(y, dtype=np.float64)
    return np.array([name_target(value, dataset) for value in y], dtype=np.str_)


def name_target(value: Any, dataset: Dataset) -> str:
    """Return a class by its name, or a number with four digits."""
    if dataset.task == "regression":
        return f"{float(value):.4g}"
    return str(dataset.classes[int(value)]) if dataset.classes else str(value)


def pick_examples(
    before: Side, after: Side, prepared: PreparedFold, relevance: FloatArray
) -> tuple[Example, ...]:
    """Return a few telling test rows with their neighbours under both distances."""
    y = prepared.y_test
    chosen = choose_rows(before.predicted, after.predicted, y, prepared.dataset.task)
    features = np.argsort(-relevance, kind="stable")[:MOST_VALUES]
    if prepared.dataset.image_shape is not None:
        features = features[:0]  # pictures say it better
    return tuple(_example(i, before, after, prepared, features) for i in chosen)


def agreement_of(side: Side, prepared: PreparedFold) -> float:
    """Return the share of neighbours with their test row's class, or how their targets correlate.

    NaN where they cannot.
    """
    targets = prepared.y_train[side.neighbors]
    if prepared.dataset.task == "classification":
        return float(np.mean(targets == prepared.y_test[:, None]))
    return correlation(targets.mean(axis=1), prepared.y_test)


def choose_rows(before: AnyArray, after: AnyArray, y: AnyArray, task: Task) -> list[int]:
    """Return a few telling test rows: votes put right, votes spoilt, and votes that stayed.

    For regression: the rows at the 90th, 50th and 10th percentile of what the squared error
    lost.
    """
    if task == "regression":
        lost = (before - y) ** 2 - (after - y) ** 2
        order = np.argsort(-lost, kind="stable")
        return list(dict.fromkeys(int(order[int(q * (len(y) - 1))]) for q in (0.1, 0.5, 0.9)))
    right_before: BoolArray = before == y
    right_after: BoolArray = after == y
    kinds = {
        "fixed": ~right_before & right_after,
        "broken": right_before & ~right_after,
        "wrong": ~right_before & ~right_after,
        "right": right_before & right_after,
    }
    return [
        int(i) for kind, rows in kinds.items() for i in np.flatnonzero(rows)[: MOST_EXAMPLES[kind]]
    ]


def _example(
    i: int, before: Side, after: Side, prepared: PreparedFold, features: IntArray
) -> Example:
    dataset = prepared.dataset
    row = int(prepared.rows.test[i])
    names = feature_names(dataset)
    rows = [int(r) for s in (before, after) for r in prepared.rows.train[s.neighbors[i]]]
    return Example(
        row=row,
        label=name_target(dataset.y[row], dataset),
        before=_neighbors(i, before, prepared, features),
        after=_neighbors(i, after, prepared, features),
        predicted_before=name_target(before.predicted[i], dataset),
        predicted_after=name_target(after.predicted[i], dataset),
        values=tuple((names[j], f"{dataset.X[row, j]:.4g}") for j in features),
        images={r: _picture(dataset, r) for r in rows} if dataset.image_shape else {},
        query_image=_picture(dataset, row) if dataset.image_shape else None,
    )


def _picture(dataset: Dataset, row: int) -> FloatArray:
    assert dataset.image_shape is not None
    picture: FloatArray = dataset.X[row].reshape(dataset.image_shape)
    return picture


def _neighbors(
    i: int, side: Side, prepared: PreparedFold, features: IntArray
) -> tuple[Neighbor, ...]:
    dataset, target = prepared.dataset, prepared.y_test[i]
    return tuple(
        Neighbor(
            row=int(row),
            distance=float(distance),
            label=name_target(dataset.y[row], dataset),
            right=_votes_right(dataset.y[row], target, prepared),
            values=tuple(f"{dataset.X[row, j]:.4g}" for j in features),
        )
        for row, distance in zip(
            prepared.rows.train[side.neighbors[i]], side.distances[i], strict=True
        )
    )


def _votes_right(value: Any, wanted: Any, prepared: PreparedFold) -> bool:
    """Same class; for regression, within half a standard deviation of the wanted value."""
    if prepared.dataset.task == "regression":
        return bool(abs(value - wanted) <= np.std(prepared.y_train) / 2)
    return bool(value == wanted)
