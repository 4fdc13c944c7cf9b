"""What the training rows are labelled with: classes, kept by number, or real targets."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_classification_input, check_regression_input
from vicinal.predict._base import NeighborsPredictor


class NeighborsClassifier(ClassifierMixin, NeighborsPredictor):
    """Base of the predictors of classes."""

    classes_: AnyArray
    _codes: IntArray

    def fit(self, X: AnyArray, y: AnyArray) -> Self:
        """Fit the metric and index the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            May be sparse where the metric takes sparse rows.
        y : array-like of shape (n,)
            Classes: numbers or texts.

        Returns
        -------
        self
        """
        rows, self.classes_, self._codes = check_classification_input(
            self, X, y, accept_sparse=self.metric is not None
        )
        self._check_settings(rows.shape[0])
        self._fit_index(X, rows, self.classes_[self._codes])
        self._finish_fit()
        return self

    def targets_of(self, indices: AnyArray) -> AnyArray:
        check_is_fitted(self)
        classes: AnyArray = self.classes_[self._codes[np.asarray(indices)]]
        return classes


class NeighborsRegressor(RegressorMixin, NeighborsPredictor):
    """Base of the predictors of numbers."""

    _targets: FloatArray

    def fit(self, X: AnyArray, y: AnyArray) -> Self:
        """Fit the metric and index the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            May be sparse where the metric takes sparse rows.
        y : array-like of shape (n,) or (n, n_outputs)

        Returns
        -------
        self
        """
        rows, self._targets = check_regression_input(
            self, X, y, accept_sparse=self.metric is not None
        )
        self._check_settings(rows.shape[0])
        self._fit_index(X, rows, self._targets)
        self._finish_fit()
        return self

    def targets_of(self, indices: AnyArray) -> AnyArray:
        check_is_fitted(self)
        return self._targets[np.asarray(indices)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags
