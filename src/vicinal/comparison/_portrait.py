"""What a fitted metric looks at, kept with its measurement: spectrum, relevance, summary plots."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from vicinal._types import AnyArray, Dataset, FloatArray, Portrait, Row
from vicinal.comparison._originals import (
    feature_names,
    name_targets,
    original_relevance,
    undo_reduction,
)
from vicinal.comparison._packing import (
    pack_floats,
    pack_levels,
    unpack_floats,
    unpack_levels,
)
from vicinal.comparison._rows import PreparedFold
from vicinal.methods._table import EUCLIDEAN, Method
from vicinal.metric import GradientWeights
from vicinal.report._directions import (
    describe_direction,
    leading_directions,
    maps_linearly,
    sample_rows,
)
from vicinal.report._plots import eigenvalues_of
from vicinal.runs._journal import Record

MOST_POINTS = 1000
# Eigenvalues with intervals: as many as the page shows.
_MOST_INTERVALS = 40
_LEVEL = 0.95
_N_RESAMPLES = 400
# Gradients that may be held for intervals.
_MOST_ENTRIES = 2**23
# More features than this are not told apart in a record.
_MOST_FEATURES = 4096


def make_portrait(metric: Any, prepared: PreparedFold, seed: int) -> Record | None:
    """Return what a metric looks at as JSON values; None where its map is not linear.

    A few kilobytes: at most ``MOST_POINTS`` training rows along two directions.
    """
    X, y = prepared.X_train, prepared.y_train
    if not maps_linearly(metric, X):
        return None
    directions = leading_directions(metric.components_, 2)
    shown = sample_rows(len(X), MOST_POINTS, seed)
    intervals, n_evaluations = _intervals(metric, X, y, seed)
    relevance = original_relevance(metric, prepared)
    small = relevance[: _MOST_FEATURES if len(relevance) <= _MOST_FEATURES else 0]
    return {
        "eigenvalues": pack_floats(eigenvalues_of(metric)),
        "carries": _carries(metric),
        "intervals": pack_floats(intervals),
        "n_evaluations": n_evaluations,
        "relevance": pack_levels(small),
        "places": pack_levels(X[shown].astype(np.float64) @ directions.T),
        "targets": pack_levels(y[shown]),
        "directions": _name_directions(directions, prepared),
    }


def _carries(metric: Any) -> str:
    """What the eigenvalues sum up to."""
    if not hasattr(metric, "outer_product_"):
        return "the metric"
    diagonal = isinstance(metric, GradientWeights)
    return "the mean absolute gradient" if diagonal else "the mean squared gradient"


def _name_directions(directions: FloatArray, prepared: PreparedFold) -> list[str]:
    """Directions in words, by what a standard deviation of each original feature weighs in them."""
    back, variances = undo_reduction(prepared)
    through = directions if back is None else directions @ back
    loadings = through * np.sqrt(variances)
    lengths = np.linalg.norm(loadings, axis=1, keepdims=True)
    loadings = loadings / np.where(lengths > 0, lengths, 1.0)
    names = feature_names(prepared.dataset)
    return [describe_direction(v, names) for v in loadings]


def _intervals(metric: Any, X: AnyArray, y: AnyArray, seed: int) -> tuple[FloatArray, int]:
    """Return bootstrap intervals (q, 2) of the leading eigenvalues, and over how many points."""
    if not hasattr(metric, "estimate_gradients"):
        return np.empty((0, 2)), 0
    fitted = int(metric.n_evaluations_)
    n_columns = len(getattr(metric, "classes_", (0,)))
    most = min(max(300, fitted // 4), MOST_POINTS, _MOST_ENTRIES // (n_columns * X.shape[1]))
    points = sample_rows(len(X), max(most, 2), seed)
    gradients = metric.estimate_gradients(X[points], X, y)
    by_point = eigenvalues_by_point(metric, gradients.reshape(len(points), X.shape[1], -1))
    shown = np.asarray(metric.eigenvalues_, np.float64)[: by_point.shape[1]]
    return resampled_intervals(shown, by_point, fitted, seed), fitted


def eigenvalues_by_point(metric: Any, gradients: FloatArray) -> FloatArray:
    """Return what each point adds to each leading eigenvalue, (m, q), from gradients (m, d, C).

    With eigenvectors v_j of the metric's matrix, λ_j = E_n[Σ_c (v_j·g_c)²]; for gradient
    weights, whose matrix is diagonal, λ_j = E_n[Σ_c |g_cj|].
    """
    if isinstance(metric, GradientWeights):
        order = np.argsort(-np.diag(metric.outer_product_), kind="stable")[:_MOST_INTERVALS]
        return np.abs(gradients[:, order]).sum(axis=2)
    vectors = np.linalg.eigh(metric.outer_product_)[1][:, ::-1][:, :_MOST_INTERVALS]
    along = np.einsum("mdc,dq->mqc", gradients, vectors, optimize=True)
    return np.einsum("mqc,mqc->mq", along, along)


def resampled_intervals(
    eigenvalues: FloatArray, by_point: FloatArray, n_points: int, seed: int
) -> FloatArray:
    """Return intervals (q, 2) of means over ``n_points`` points, of which ``by_point`` has some.

    Resamples are as large as the fit's set of points and drawn from those at hand; what they give
    is taken relative to the mean of these. The eigenvectors are held fixed.
    """
    m = len(by_point)
    counts = np.random.default_rng(seed).multinomial(n_points, np.full(m, 1 / m), _N_RESAMPLES)
    means = counts @ by_point / n_points
    centre = by_point.mean(axis=0)
    ratios = means / np.where(centre > 0, centre, 1.0)
    low, high = np.quantile(ratios, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
    return np.column_stack([low, high]) * eigenvalues[:, None]


def read_portrait(record: Mapping[str, Any], method: Method, dataset: Dataset) -> Portrait | None:
    """Return the portrait a record of a measurement holds, None where there is none, or half."""
    kept = record.get("portrait")
    try:
        return None if kept is None else _assemble(kept, record["k"], method, dataset)
    except (ValueError, KeyError, TypeError, zlib.error):
        return None


def _assemble(kept: Mapping[str, Any], k: int, method: Method, dataset: Dataset) -> Portrait:
    targets = unpack_levels(kept["targets"])
    if dataset.task == "classification":
        targets = np.rint(targets).astype(np.int64)
    return Portrait(
        method=method.name,
        title=method.title,
        k=int(k),
        eigenvalues=unpack_floats(kept["eigenvalues"]),
        carries=str(kept["carries"]),
        intervals=unpack_floats(kept["intervals"]).reshape(-1, 2),
        n_evaluations=int(kept["n_evaluations"]),
        relevance=unpack_levels(kept["relevance"]),
        feature_names=feature_names(dataset),
        places=unpack_levels(kept["places"]),
        targets=name_targets(targets, dataset),
        directions=tuple(str(words) for words in kept["directions"]),
        image_shape=dataset.image_shape,
    )


def choose_portraits(
    records: Iterable[Record], rows: Iterable[Row], methods: Iterable[Method], dataset: Dataset
) -> tuple[Portrait, ...]:
    """Return one portrait a method: that of its best k where there is one, else its first."""
    found: dict[str, list[Portrait]] = {}
    known = {method.name: method for method in methods if method.name != EUCLIDEAN}
    for record in records:
        if record["method"] in known and record["status"] == "ok":
            portrait = read_portrait(record, known[record["method"]], dataset)
            if portrait is not None:
                found.setdefault(portrait.method, []).append(portrait)
    best = _best_k(rows)
    return tuple(
        next((p for p in group if p.k == best.get(name)), group[0]) for name, group in found.items()
    )


def portrait_failures(records: Iterable[Record], methods: Iterable[Method]) -> tuple[str, ...]:
    """Return why portraits could not be made, once a method."""
    titles = {method.name: method.title for method in methods}
    found = {
        titles[record["method"]]: record["portrait"]["error"]
        for record in records
        if record["method"] in titles and "error" in (record.get("portrait") or {})
    }
    return tuple(f"What {title} looks at could not be told: {why}" for title, why in found.items())


def _best_k(rows: Iterable[Row]) -> dict[str, int]:
    measured = sorted((row for row in rows if row.status != "failed"), key=lambda r: -r.error_mean)
    return {row.method: row.k for row in measured}
