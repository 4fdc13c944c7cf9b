"""What a plot needs of a model: its metric, the steps before it, and what the features are called.

A model is a fitted learner, a predictor that holds one as ``metric_``, a pipeline with either
among its steps, or a search over such pipelines; nothing here imports one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import AnyArray, FloatArray
from ._directions import (
    describe_direction,
    leading_directions,
    map_rows,
    maps_linearly,
    sample_rows,
)

MAX_POINTS = 2000
# More distinct whole numbers than this are taken for a quantity.
_MANY_CLASSES = 100


@dataclass(frozen=True)
class FittedMetric:
    """A fitted metric, and the fitted steps before it (None where there are none)."""

    metric: Any
    steps: Any = None

    @property
    def names(self) -> Any:
        """What the metric's features are called, None where nobody knows."""
        if self.steps is None:
            return getattr(self.metric, "feature_names_in_", None)
        try:
            return self.steps.get_feature_names_out()
        except (AttributeError, ValueError):  # a step that does not tell
            return None

    @property
    def inputs(self) -> Any:
        """What the columns before all steps are called, None where nobody knows."""
        if self.steps is None:
            return None
        first = self.steps.steps[0][1]
        return getattr(first, "columns_", getattr(first, "feature_names_in_", None))

    def prepare(self, X: Any) -> Any:
        """Return rows as the metric sees them."""
        return X if self.steps is None else self.steps.transform(X)


def fitted(model: Any) -> FittedMetric:
    """Return the fitted metric of a model; refuse one that was not fitted."""
    model = getattr(model, "best_estimator_", model)
    steps = None
    if hasattr(model, "named_steps"):
        holders = [i for i, (_, step) in enumerate(model.steps) if _holds_metric(step)]
        last = holders[-1] if holders else len(model.steps) - 1
        steps = model[:last] if last else None
        model = model.steps[last][1]
    metric = getattr(model, "metric_", model)
    if metric is None:
        raise ValueError("the predictor uses the plain distance: there is no learned metric.")
    if isinstance(metric, type) or not hasattr(metric, "components_"):
        what = metric.__name__ if isinstance(metric, type) else type(metric).__name__
        if not hasattr(metric, "fit"):
            raise ValueError(f"{what} is no metric learner: there are no components_ to draw.")
        raise ValueError(f"this {what} is not fitted yet: call fit(X, y) before it is drawn.")
    return FittedMetric(metric, steps)


def _holds_metric(step: Any) -> bool:
    return hasattr(step, "metric_") or hasattr(step, "get_mahalanobis_matrix")


def feature_names_of(
    model: FittedMetric, n_features: int, given: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the names given, those seen in ``fit``, or x0, x1, …; refuse a wrong number."""
    names = model.names if given is None else given
    if names is None:
        return tuple(f"x{i}" for i in range(n_features))
    if len(names) != n_features:
        raise ValueError(f"feature_names holds {len(names)} names for {n_features} features.")
    return tuple(str(name) for name in names)


def columns_of(names: Sequence[str], inputs: Any) -> tuple[str, ...]:
    """Return the input each feature comes from by its name; its own name where none fits.

    Encoders call the features of a column "column_value", "column=value" or "column: part", and
    put "step__" before it.
    """
    columns = sorted(map(str, [] if inputs is None else inputs), key=len, reverse=True)

    def source(name: str) -> str:
        for text in (name, name.partition("__")[2]):
            for column in columns:
                if text == column or text.startswith(tuple(column + mark for mark in "=_:")):
                    return column
        return name

    return tuple(source(name) for name in names)


def sum_by_column(shares: FloatArray, columns: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the sum of the shares (d,) of each column, and the columns in their order."""
    order = {name: number for number, name in enumerate(dict.fromkeys(columns))}
    sums: AnyArray = np.bincount([order[name] for name in columns], shares, minlength=len(order))
    return sums, tuple(order)


def check_rows(model: FittedMetric, X: Any, y: Any) -> tuple[FloatArray, AnyArray]:
    """Return at most 2000 rows as the metric sees them, and their targets.

    Refuses what does not fit the metric; where that of ``model`` is None, any rows do.
    """
    seen, named = getattr(model.metric, "feature_names_in_", ()), getattr(X, "columns", ())
    if model.steps is None and len(seen) == len(named) and list(seen) != list(named):
        raise ValueError(
            f"the columns of X are not those the metric was fitted on, in this order: {list(seen)}"
        )
    rows, targets = np.asarray(model.prepare(X)), np.asarray(y)
    if rows.ndim != 2 or (model.metric is not None and rows.shape[1] != _width(model.metric)):
        width = "2 axes" if model.metric is None else f"{_width(model.metric)} features"
        raise ValueError(f"X has shape {rows.shape}; the metric was fitted on {width}.")
    if targets.shape != (len(rows),):
        raise ValueError(f"X has {len(rows)} rows and y the shape {targets.shape}.")
    if len(rows) < 2:
        raise ValueError(f"a plot needs at least two rows, got {len(rows)}.")
    sample = sample_rows(len(rows), MAX_POINTS)
    rows, targets = rows[sample].astype(np.float64), targets[sample]
    finite = targets.dtype.kind != "f" or np.isfinite(targets).all()
    if not (np.isfinite(rows).all() and finite):
        raise ValueError("X or y contains NaN or infinity; leave those rows out.")
    return rows, targets


def _width(metric: Any) -> int:
    return int(getattr(metric, "n_features_in_", np.shape(metric.components_)[1]))


def are_classes(metric: Any, targets: AnyArray) -> bool:
    """Whether targets are classes: by what the metric learned from, else by their type."""
    if hasattr(metric, "classes_"):
        return True
    if targets.dtype.kind in "iu":
        return len(np.unique(targets)) <= _MANY_CLASSES
    return targets.dtype.kind != "f"


def place_rows(
    model: FittedMetric, rows: FloatArray, n_directions: int, given: Sequence[str] | None
) -> tuple[FloatArray, list[str]]:
    """Return rows along the leading directions (n, r), and what the axes are called."""
    metric = model.metric
    if not maps_linearly(metric, rows):
        places = map_rows(metric, rows)
        if places.dtype.kind != "f" or places.shape[1] < n_directions:
            raise ValueError(
                f"{type(metric).__name__} does not map rows to {n_directions} coordinates."
            )
        return places[:, :n_directions], [f"coordinate {i + 1}" for i in range(n_directions)]
    directions = leading_directions(metric.components_, n_directions)
    if len(directions) < n_directions:
        raise ValueError(
            f"the metric has {len(directions)} direction(s), so n_directions={n_directions} "
            "cannot be drawn."
        )
    names = feature_names_of(model, rows.shape[1], given)
    return rows @ directions.T, [describe_direction(v, names) for v in directions]
