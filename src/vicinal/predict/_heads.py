"""Heads: what besides the vote may predict from mapped rows, and the mean of those that do well.

folds' maps ─▶ held-out predictions of vote, parts, slope, kernel, planes ─▶ squared errors
                                                                    │
   the mean of the first, two, three, … widest that noise does not tell from the best ◀┘
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from vicinal._types import AnyArray, FloatArray, Fold
from vicinal.metric.maps import Maps
from vicinal.metric.selection import Entry, Score, first_within
from vicinal.predict._kernel import KernelClassifier, KernelRegressor, as_shares
from vicinal.predict._kernel_ridge import median_distance
from vicinal.predict._local_linear import LocalLinearRegressor
from vicinal.rows import Classes, Rows

VOTE, PARTS, SLOPE, KERNEL, PLANES = "vote", "parts", "slope", "kernel", "planes"
# Learned directions up to which planes are tried: each takes a solve of so many equations.
MOST_DIRECTIONS = 50


def heads_for(maps: Maps, rows: Rows) -> dict[str, Any]:
    """Return the unfitted heads that can be tried beside a vote under some maps, by name."""
    if maps.space == "hamming" or maps.ranking is not None or issparse(rows.X):
        return {}
    if isinstance(rows.target, Classes):
        return {KERNEL: KernelClassifier()}
    heads: dict[str, Any] = {KERNEL: KernelRegressor()}
    if maps.database(rows.X[:1]).shape[1] <= MOST_DIRECTIONS:
        heads[PLANES] = LocalLinearRegressor()
    return heads


@dataclass(frozen=True)
class HeldOutHead:
    """A head's predictions for held-out rows (m, R) or (m,), by ascending row, and its settings.

    ``head`` is unfitted, with what its fit without the first fold chose, where near rows were
    ``unit`` apart.
    """

    predictions: FloatArray
    head: Any
    unit: float

    def fit(self, mapped: AnyArray, rows: Rows, weights: FloatArray | None) -> Any:
        """Return the head fitted to mapped rows."""
        return fit_head(in_unit(self.head, median_distance(mapped) / self.unit), mapped, rows,
                        weights)  # fmt: skip


def hold_out_head(
    head: Any, parts: Sequence[tuple[Fold, Maps]], rows: Rows, weights: FloatArray | None
) -> HeldOutHead:
    """Return what a head predicts for the held-out rows of all folds, its settings chosen once."""
    predictions: list[FloatArray] = []
    first = HeldOutHead(np.empty(0), head, 1.0)
    for fold, maps in parts:
        train = rows.take(fold.train)
        own = None if weights is None else weights[fold.train]
        mapped = maps.database(train.X)
        if predictions:
            fitted = first.fit(mapped, train, own)
        else:
            fitted = settle(fit_head(head, mapped, train, own))
            first = HeldOutHead(np.empty(0), fitted, median_distance(mapped))
        predictions.append(predict_head(fitted, maps.queries(rows.X[fold.test]), rows))
    order = np.argsort(np.concatenate([fold.test for fold, _ in parts]), kind="stable")
    return replace(first, predictions=np.concatenate(predictions)[order])


def in_unit(head: Any, ratio: float) -> Any:
    """Return a head for a space where rows are so many times as far apart."""
    if not isinstance(head, KernelClassifier | KernelRegressor) or head.bandwidth is None:
        return head
    return type(head)(**head.get_params(deep=False) | {"bandwidth": head.bandwidth * ratio})


def fit_head(head: Any, mapped: AnyArray, rows: Rows, weights: FloatArray | None) -> Any:
    """Return a head fitted to mapped rows."""
    assert rows.target is not None
    fresh = type(head)(**head.get_params(deep=False))
    said = rows.codes if isinstance(rows.target, Classes) else rows.target.given
    return fresh.fit(without_dust(mapped), said, weights)


def without_dust(mapped: AnyArray) -> AnyArray:
    """Return mapped rows with zeros in the columns that rounding of the widest one outweighs.

    Weights that a learner drove towards zero leave columns whose powers no float holds, and which a
    head would refuse to learn from.
    """
    sizes = np.abs(mapped).max(axis=0)
    dust = (sizes > 0) & (sizes < np.finfo(mapped.dtype).eps * sizes.max(initial=0.0))
    return np.where(dust, mapped.dtype.type(0), mapped) if dust.any() else mapped


def predict_head(head: Any, queries: AnyArray, rows: Rows | int) -> FloatArray:
    """Return numbers, or shares of all classes of rows (or so many), those unseen the least."""
    if not isinstance(head, KernelClassifier):
        numbers: FloatArray = head.predict(queries)
        return numbers
    n_classes = rows if isinstance(rows, int) else len(rows.classes.names)
    shares = np.zeros((len(queries), n_classes))
    shares[:, head.classes_] = head.predict_proba(queries)
    return shares if len(head.classes_) == n_classes else as_shares(shares, head.n_samples_fit_)


def settle(head: Any) -> Any:
    """Return a fitted head whose settings stay as they were chosen, whatever rows it gets."""
    fitted, names = vars(head), ("kernel", "bandwidth", "ridge", "n_neighbors")
    chosen = {name: fitted[f"{name}_"] for name in names if f"{name}_" in fitted}
    return head.set_params(**chosen)


def choose_heads(
    predictions: Mapping[str, FloatArray], truth: FloatArray, weights: FloatArray | None
) -> tuple[tuple[str, ...], dict[str, float]]:
    """Return the heads whose mean predicts best, or as well as noise lets one say, and all scores.

    ``predictions`` and ``truth`` are shares and indicators of classes (m, R), or numbers. Heads are
    ranked by squared error; of the first and the means of the first two, three, … the widest is
    taken that is behind the best by no more than a standard error: what cannot be told apart is
    averaged.
    """

    def entry(names: tuple[str, ...]) -> Entry[tuple[str, ...]]:
        mean = np.mean([predictions[name] for name in names], axis=0)
        errors = np.square(mean - truth).reshape(len(truth), -1).sum(axis=1)
        return Entry(" and ".join(names), names, [Score(errors, weights)])

    alone = sorted((entry((name,)) for name in predictions), key=lambda each: each.value)
    names = tuple(each.candidate[0] for each in alone)
    means = [entry(names[:n]) for n in range(1, len(names) + 1)]
    best = min(means, key=lambda each: each.value)
    scores = {each.candidate[0]: each.value for each in alone}
    return first_within(means[::-1], best).candidate, scores
