"""The features as they are: what every learned metric is compared with."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray
from vicinal.metric import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.rows import Rows, check_transform_input


class IdentityMaps(LinearMaps):
    """The identity: its matrix for who asks, and rows that no product rounds."""

    def database(self, X: AnyArray) -> AnyArray:
        """Return the rows as they are, made dense."""
        return X.toarray() if issparse(X) else X  # type: ignore[attr-defined]


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

    _task = None
    _takes_sparse = True
    _any_scale = True

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the identity."""
        return LinearMaps(np.eye(rows.X.shape[1], dtype=rows.X.dtype))

    @property
    def maps_(self) -> LinearMaps:
        """The identity."""
        check_is_fitted(self, "components_")
        return IdentityMaps(self.components_)

    def _check_rows(self, X: AnyArray) -> AnyArray:
        return check_transform_input(self, X, any_scale=True)
