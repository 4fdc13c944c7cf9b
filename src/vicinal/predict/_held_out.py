"""Held-out neighbours of any metric: from its cross-fit, or each row among the others.

metric, rows ─▶ begin_metric ─┬─ a CrossFit: folds the metric did not see ─▶ look
                              └─ None: it sees no y, or is frozen ─▶ leave-one-out
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from vicinal._types import AnyArray, Fold, IntArray
from vicinal.metric import MetricLearner
from vicinal.metric.held_out import CrossFit, HeldOut, look
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import Maps
from vicinal.predict._sides import fit_metric, reads_targets
from vicinal.predict._weights import part_of_rows
from vicinal.rows import Rows, take_rows

# Seeds the folds, so that fits of one table by several metrics hold out the same rows.
SEED = 0


def sees_no_target(metric: Any) -> bool:
    """Say whether a metric is the same whatever the rows are labelled."""
    if metric is None or isinstance(metric, FrozenEstimator):
        return True
    return isinstance(metric, MetricLearner) and metric._task is None


def begin_metric(
    metric: Any, X: AnyArray, rows: Rows, folds: Sequence[Fold], parameters: Mapping[str, Any]
) -> CrossFit:
    """Return the cross-fit of a prepared metric; X is as the user has it, a frame perhaps."""
    target = rows.target
    if reads_targets(metric):
        begun: CrossFit = metric.begin(X, target, folds, **parameters)
        return begun

    def without(fold: Fold) -> Maps:
        some = {n: part_of_rows(value, fold.train, rows.n_rows) for n, value in parameters.items()}
        own = None if target is None else target.take(fold.train)
        return maps_of(fit_metric(clone(metric), take_rows(X, fold.train), own, **some))

    return CrossFit(without, lambda: fit_metric(metric, X, target, **parameters))


def maps_without(begun: CrossFit, folds: Sequence[Fold]) -> list[tuple[Fold, Maps]]:
    """Return the maps of every fold whose other rows the metric learns from.

    A fold may leave too few rows of a class; what the fit has to say of that it says of all rows.
    """
    parts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold in folds:
            with suppress(ValueError):
                parts.append((fold, begun.without(fold)))
    return parts


def look_at_folds(
    parts: Sequence[tuple[Fold, Maps]], X: AnyArray, k: int, n_threads: int
) -> HeldOut:
    """Return what the held-out rows of all folds see, in the order of the rows.

    A fold's rows ask all that are not in it, of many rows more than its map was learned from: as
    nearly as many as a new row will ask, for how far a vote should go depends on their number.
    """
    held = [
        look(maps, X, Fold(rows_beside(fold, X.shape[0]), fold.test), k, n_threads=n_threads)
        for fold, maps in parts
    ]
    return HeldOut.pool(held).in_order()


def rows_beside(fold: Fold, n_rows: int) -> IntArray:
    """Return the rows, of so many, that a fold does not hold out."""
    beside = np.ones(n_rows, bool)
    beside[fold.test] = False
    return np.flatnonzero(beside)
