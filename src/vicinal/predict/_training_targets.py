"""What the training rows are labelled with: classes, kept by number, or real targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._sides import takes_several_targets
from vicinal.predict._weights import SAMPLE_WEIGHT, row_weights
from vicinal.rows import check_weights, read_rows


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
            self, X, y, accept_sparse=self._takes_sparse_rows(), any_scale=self._searches_only()
        )
        self.classes_, self._codes = rows.classes.names, rows.codes
        weights = row_weights(sample_weight, self.class_weight, self.classes_, self._codes)
        self._fit_rows(rows, X, weights, {SAMPLE_WEIGHT: sample_weight} | fit_parameters)
        return self

    def targets_of(self, indices: AnyArray) -> AnyArray:
        check_is_fitted(self)
        classes: AnyArray = self.classes_[self._codes[np.asarray(indices)]]
        return classes


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
            any_scale=self._searches_only(),
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
