"""What the report shows of one fitted metric: maps, relevance, spectrum, telling examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import (
    AnyArray,
    BoolArray,
    Dataset,
    Example,
    Exhibit,
    FloatArray,
    IntArray,
    Neighbor,
    Task,
)
from vicinal.comparison._execute import fit_and_search, predict_from, seed_everything
from vicinal.comparison._originals import (
    feature_names,
    name_target,
    name_targets,
    original_relevance,
)
from vicinal.comparison._rows import PreparedFold
from vicinal.data._preparation import principal_axes
from vicinal.methods._table import EUCLIDEAN, get_method
from vicinal.report._directions import maps_linearly, sample_rows
from vicinal.runs._cells import Cell

MOST_POINTS = 2000
MOST_EXAMPLES = {"fixed": 3, "broken": 1, "wrong": 1, "right": 1}
MOST_VALUES = 6


@dataclass(frozen=True)
class _Side:
    """Neighbours of all test rows under one distance, and what they predict."""

    distances: FloatArray
    neighbors: IntArray
    predicted: AnyArray


def make_exhibit(cell: Cell, prepared: PreparedFold) -> Exhibit:
    """Fit a cell of one k, and the Euclidean distance beside it, and say what they see.

    Maps and examples are of test rows: what a learner did to its own training rows proves
    nothing.
    """
    (k,) = map(int, cell.ks)
    method = get_method(cell.method)
    plain = Cell(cell.setting, cell.fold, EUCLIDEAN, cell.ks)
    _, before = _search(plain, prepared, k)
    metric, after = _search(cell, prepared, k)
    shown = sample_rows(len(prepared.X_test), MOST_POINTS, cell.setting.seed)
    # A map that is not linear has components_ that tell of something else, if any.
    linear = metric if maps_linearly(metric, prepared.X_test) else None
    relevance = original_relevance(linear, prepared)
    return Exhibit(
        method=method.name,
        title=method.title,
        k=k,
        map_before=first_two_components(prepared.X_test[shown]),
        map_after=first_two_components(_map_queries(metric, prepared.X_test[shown])),
        map_targets=name_targets(prepared.y_test[shown], prepared.dataset),
        relevance=relevance,
        feature_names=feature_names(prepared.dataset),
        spectrum=spectrum(linear),
        examples=_examples(before, after, prepared, relevance),
        image_shape=prepared.dataset.image_shape,
    )


def _search(cell: Cell, prepared: PreparedFold, k: int) -> tuple[Any, _Side]:
    seed_everything(cell.setting.seed)
    task = prepared.dataset.task
    found = fit_and_search(cell, task, prepared.X_train, prepared.y_train, prepared.X_test, k)
    predicted = predict_from(found.neighbors, prepared.y_train, k, task)
    return found.model.metric_, _Side(found.distances, found.neighbors, predicted)


def _map_queries(metric: Any, X: AnyArray) -> FloatArray:
    """The rows as queries under the learned metric, codes as numbers."""
    mapped = getattr(metric, "transform_queries", metric.transform)(X)
    return np.asarray(mapped, dtype=np.float64)


def first_two_components(X: FloatArray) -> FloatArray:
    """Return the projection onto the first two principal axes, (n, 2); missing ones are zero."""
    X = np.asarray(X, dtype=np.float64)
    wanted = min(2, *X.shape)
    centre, axes = principal_axes(X, wanted)
    flat = np.zeros((len(X), 2))
    flat[:, :wanted] = (X - centre) @ axes.T
    return flat


def spectrum(metric: Any) -> FloatArray:
    """Return the eigenvalues of M = AᵀA, descending; empty for a map that is not linear."""
    components = getattr(metric, "components_", None)
    if components is None:
        return np.empty(0)
    return np.linalg.svd(np.asarray(components, np.float64), compute_uv=False) ** 2


def _examples(
    before: _Side, after: _Side, prepared: PreparedFold, relevance: FloatArray
) -> tuple[Example, ...]:
    y = prepared.y_test
    chosen = choose_examples(before.predicted, after.predicted, y, prepared.dataset.task)
    features = np.argsort(-relevance, kind="stable")[:MOST_VALUES]
    if prepared.dataset.image_shape is not None:
        features = features[:0]  # pictures say it better
    return tuple(_example(i, before, after, prepared, features) for i in chosen)


def choose_examples(before: AnyArray, after: AnyArray, y: AnyArray, task: Task) -> list[int]:
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
    i: int, before: _Side, after: _Side, prepared: PreparedFold, features: IntArray
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
    i: int, side: _Side, prepared: PreparedFold, features: IntArray
) -> tuple[Neighbor, ...]:
    dataset, wanted = prepared.dataset, prepared.y_test[i]
    return tuple(
        Neighbor(
            row=int(row),
            distance=float(distance),
            label=name_target(dataset.y[row], dataset),
            right=_votes_right(dataset.y[row], wanted, prepared),
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
