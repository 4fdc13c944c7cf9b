"""What the training rows are labelled with: classes, kept by number, or real targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, BoolArray, FloatArray, IntArray
from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._changes import count_targets
from vicinal.predict._sides import takes_several_targets
from vicinal.predict._weights import SAMPLE_WEIGHT, row_weights
from vicinal.rows import as_classes, as_numbers, check_weights, read_rows, refuse_strange_labels


class NeighborsClassifier(ClassifierMixin, NeighborsPredictor):
    """Base of the predictors of classes."""

    class_weight: Any
    classes_: AnyArray
    _codes: IntArray

    def fit(
        self, X: AnyArray, y: AnyArray, sample_weight: Any = None, **fit_parameters: Any
    ) -> Self:
        """Fit the metric and index the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            May be sparse where the metric takes sparse rows.
        y : array-like of shape (n,)
            Classes: numbers or texts.
        sample_weight : array-like of shape (n,), default=None
            What each row's vote counts, and what the metric's ``fit`` is given if it takes
            weights. A row of weight zero is left out altogether.
        **fit_parameters
            Handed to the metric's ``fit``.

        Returns
        -------
        self
        """
        rows = read_rows(
            self, X, y, accept_sparse=self._takes_sparse_rows(), any_scale=self._searches_only(),
            distributed=self._takes_partitions(),
            missing=self._takes_missing(),
        )  # fmt: skip
        self.classes_, self._codes = rows.classes.names, rows.codes
        weights = row_weights(sample_weight, self.class_weight, self.classes_, self._codes)
        self._fit_rows(rows, X, weights, {SAMPLE_WEIGHT: sample_weight} | fit_parameters)
        return self

    def targets_of(self, indices: AnyArray) -> AnyArray:
        check_is_fitted(self)
        classes: AnyArray = self.classes_[self._codes[np.asarray(indices)]]
        return classes

    def _read_new(self, y: Any, n_rows: int) -> AnyArray:
        values = count_targets(y, n_rows)
        refuse_strange_labels(values)
        names = as_classes(values).given if n_rows else values
        words = [each.dtype.kind in "OUS" for each in (names, self.classes_)]
        if n_rows and words[0] != words[1]:
            raise ValueError(
                f"y holds {names.tolist()[0]!r}, which is not of the kind of the classes so far, "
                f"such as {self.classes_.tolist()[0]!r}."
            )
        return names

    def _extend(self, target: AnyArray) -> None:
        self._rename(np.union1d(self.classes_, target) if len(target) else self.classes_)
        added = np.searchsorted(self.classes_, target)
        if self._weights is not None:
            self._weights = np.concatenate([self._weights, self._usual_weights()[added]])
        self._codes = np.concatenate([self._codes, added])

    def _usual_weights(self) -> FloatArray:
        """Return what a row of each class counts on average, of those that count at all, (R,)."""
        assert self._weights is not None
        some = self._weights > 0
        n_classes = len(self.classes_)
        sums = np.bincount(self._codes[some], self._weights[some], minlength=n_classes)
        counts = np.bincount(self._codes[some], minlength=n_classes)
        overall = self._weights[some].mean()
        return np.divide(sums, counts, out=np.full(n_classes, overall), where=counts > 0)

    def _shorten(self, left: BoolArray, numbers: IntArray) -> None:
        self._codes = self._codes[left]
        self._weights = None if self._weights is None else self._weights[left]
        self._rename(self.classes_[np.unique(self._codes)])

    def _replace(self, rows: IntArray, target: AnyArray) -> None:
        labels = self.classes_[self._codes]
        if len(target):
            labels = labels.astype(np.result_type(labels, target), copy=True)
            labels[rows] = target
        self._rename(np.unique(labels))
        self._codes = np.asarray(np.searchsorted(self.classes_, labels), np.int64)

    def _rename(self, names: AnyArray) -> None:
        """Take other classes, sorted; rows of a class that is gone must be gone, too."""
        places = np.searchsorted(names, self.classes_)
        self._codes = np.minimum(places, len(names) - 1)[self._codes].astype(np.int64)
        self.classes_ = names


class NeighborsRegressor(RegressorMixin, NeighborsPredictor):
    """Base of the predictors of numbers."""

    _targets: FloatArray

    def fit(
        self, X: AnyArray, y: AnyArray, sample_weight: Any = None, **fit_parameters: Any
    ) -> Self:
        """Fit the metric and index the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            May be sparse where the metric takes sparse rows.
        y : array-like of shape (n,) or (n, n_outputs)
        sample_weight : array-like of shape (n,), default=None
            What each row counts in a mean, and what the metric's ``fit`` is given if it takes
            weights. A row of weight zero is left out altogether.
        **fit_parameters
            Handed to the metric's ``fit``.

        Returns
        -------
        self
        """
        rows = read_rows(
            self, X, y, task="regression", several=True, accept_sparse=self._takes_sparse_rows(),
            any_scale=self._searches_only(), distributed=self._takes_partitions(),
            missing=self._takes_missing(),
        )  # fmt: skip
        self._targets = rows.values
        weights = check_weights(sample_weight, rows.n_rows)
        self._fit_rows(rows, X, weights, {SAMPLE_WEIGHT: sample_weight} | fit_parameters)
        return self

    def targets_of(self, indices: AnyArray) -> AnyArray:
        check_is_fitted(self)
        return self._targets[np.asarray(indices)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = takes_several_targets(self.metric)
        tags.target_tags.single_output = True
        return tags

    def _read_new(self, y: Any, n_rows: int) -> AnyArray:
        values = as_numbers(count_targets(y, n_rows))
        if values.shape[1:] != self._targets.shape[1:] or not np.isfinite(values).all():
            raise ValueError(
                f"y must hold finite numbers of shape (m, *{self._targets.shape[1:]}), got shape "
                f"{values.shape}."
            )
        return values

    def _extend(self, target: AnyArray) -> None:
        self._targets = np.concatenate([self._targets, target])
        if self._weights is not None:
            usual = self._weights[self._weights > 0].mean()
            self._weights = np.concatenate([self._weights, np.full(len(target), usual)])

    def _shorten(self, left: BoolArray, numbers: IntArray) -> None:
        self._targets = self._targets[left]
        self._weights = None if self._weights is None else self._weights[left]

    def _replace(self, rows: IntArray, target: AnyArray) -> None:
        self._targets = self._targets.copy()
        self._targets[rows] = target
