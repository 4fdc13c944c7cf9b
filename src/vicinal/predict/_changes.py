"""Rows that come and go without a refit: the next answer is as if they had always been so.

add_rows ──▶ maps ─▶ index, targets ─┐
remove_rows ─────▶ index, targets ───┼─▶ the map, k and T stay as they were fitted
relabel ─────────▶ targets ──────────┘
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, BoolArray, FloatArray, IntArray
from vicinal.index import row_numbers, rows_left
from vicinal.metric import MetricLearner
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import CodeMaps


class RowChanges:
    """What a fitted predictor does with rows that come, go, or are labelled anew."""

    metric_: Any
    n_samples_fit_: int
    _index: Any
    _queries: AnyArray | None
    _rows: IntArray | None
    _weights: FloatArray | None

    def add_rows(self, X: AnyArray, y: Any = None) -> Self:
        """Add rows to those that are asked, behind them; nothing is learned anew.

        Answers are from then on those of a fit to all the rows with the same metric, k and
        temperature. A class that is new joins ``classes_``. Where rows have weights, a new one
        counts as much as the others of its class do on average.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        y : array-like of shape (m,) or (m, n_outputs)

        Returns
        -------
        self
        """
        check_is_fitted(self)
        maps, checked = maps_of(self.metric_), self._check_rows(X)
        n_new, before = int(checked.shape[0]), self.n_samples_fit_
        target = self._read_new(y, n_new)
        self._note_drift(checked, target)
        self._index.add_rows(maps.database(checked))
        if self._queries is not None:
            ask_from = maps.query_codes if isinstance(maps, CodeMaps) else maps.queries
            self._queries = _stacked(self._queries, ask_from(checked))
        if self._rows is not None:
            self._rows = np.concatenate([self._rows, np.arange(before, before + n_new)])
        self._extend(target)
        self.n_samples_fit_ = before + n_new
        self._rows_changed()
        return self

    def remove_rows(self, indices: Any) -> Self:
        """Take rows out of those that are asked; nothing is learned anew.

        Answers are from then on those of a fit to the other rows with the same metric, k and
        temperature, and no file that is written holds the rows. The metric was learned with them
        until the next fit. A class without rows leaves ``classes_``.

        Parameters
        ----------
        indices : int array-like of shape (m,), or bool array-like of shape (n,)
            Row numbers, as neighbours are told by, or a mask. Rows behind those removed move up.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        left = rows_left(indices, self.n_samples_fit_)
        stay = left if self._rows is None else left[self._rows]
        if not stay.any():
            raise ValueError("indices names all rows that have weight; one at least must stay.")
        self._check_enough(int(stay.sum()))
        _forget(self.metric_)
        self._index.remove_rows(~stay)
        if self._queries is not None:
            self._queries = self._queries[stay]
        numbers = np.cumsum(left) - 1
        if self._rows is not None:
            self._rows = numbers[self._rows[stay]]
        self._shorten(left, numbers)
        self.n_samples_fit_ = int(left.sum())
        self._rows_changed()
        return self

    def relabel(self, indices: Any, y: Any) -> Self:
        """Give rows other targets; nothing is learned anew.

        Parameters
        ----------
        indices : int array-like of shape (m,), or bool array-like of shape (n,)
        y : array-like of shape (m,) or (m, n_outputs)

        Returns
        -------
        self
        """
        check_is_fitted(self)
        rows = row_numbers(indices, self.n_samples_fit_)
        self._replace(rows, self._read_new(y, len(rows)))
        self._rows_changed()
        return self

    def _check_rows(self, X: AnyArray) -> AnyArray:
        raise NotImplementedError

    def _check_enough(self, n_rows: int) -> None:
        """Refuse to leave fewer rows than the predictor is to ask."""

    def _rows_changed(self) -> None:
        """Do what depends on all rows anew."""

    def _note_drift(self, X: AnyArray, target: AnyArray) -> None:
        """Note how well new rows are predicted, before they join."""

    # What the targets are is the subclasses' matter.

    def _read_new(self, y: Any, n_rows: int) -> AnyArray:
        raise NotImplementedError

    def _extend(self, target: AnyArray) -> None:
        raise NotImplementedError

    def _shorten(self, left: BoolArray, numbers: IntArray) -> None:
        """Keep the targets of some rows, which get new numbers."""
        raise NotImplementedError

    def _replace(self, rows: IntArray, target: AnyArray) -> None:
        raise NotImplementedError


def count_targets(y: Any, n_rows: int) -> AnyArray:
    """Return targets of so many rows; refuse none, or another number."""
    if y is None:
        raise ValueError("y is missing: a row that joins needs a target.")
    values = np.asarray(y)
    if values.ndim == 0 or len(values) != n_rows:
        raise ValueError(
            f"y must have a target for each of {n_rows} rows, got shape {values.shape}."
        )
    return values


def check_left(n_neighbors: int, n_rows: int) -> None:
    """Refuse to leave fewer rows than are asked."""
    if n_rows < n_neighbors:
        raise ValueError(
            f"{n_rows} rows would be left, fewer than n_neighbors={n_neighbors}; remove fewer, or "
            "fit anew with a smaller n_neighbors."
        )


def _forget(metric: Any) -> None:
    """Have a metric drop the rows it keeps."""
    if isinstance(metric, FrozenEstimator):
        _forget(metric.estimator)
    elif isinstance(metric, Pipeline):
        _forget(metric[-1])
    elif isinstance(metric, MetricLearner):
        metric.forget_rows()


def _stacked(first: Any, second: Any) -> Any:
    return vstack([first, second]).tocsr() if issparse(first) else np.concatenate([first, second])
