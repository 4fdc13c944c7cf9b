"""The features as they are: what every learned metric is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_plain_input, check_transform_input
from vicinal.metric import MetricLearner


class Euclidean(MetricLearner):
    """Measure distances between the features as they are given.

    Nothing is learned; the class exists so that "no metric" can stand among learners, in
    :class:`~vicinal.AutoMetric` or a grid search.

    Examples
    --------
    >>> from vicinal import Euclidean
    >>> Euclidean().fit([[0.0, 0.0], [3.0, 4.0]]).pair_distance([[[0.0, 0.0], [3.0, 4.0]]])
    array([5.])
    """

    _takes_sparse = True

    def fit(self, X: AnyArray, y: Any = None) -> Euclidean:
        """Note how many features there are."""
        X = check_plain_input(self, X)
        self.components_ = np.eye(X.shape[1], dtype=X.dtype)
        return self

    def transform(self, X: AnyArray) -> FloatArray:
        """Return the rows as they are."""
        check_is_fitted(self)
        checked = check_transform_input(self, X, any_scale=True)
        dense: FloatArray = checked.toarray() if hasattr(checked, "toarray") else checked
        return dense

    transform_queries = transform
