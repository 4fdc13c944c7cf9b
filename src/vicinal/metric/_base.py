"""What every metric learner shares: two maps, and the verbs users of its peers know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal._validation import (
    check_pairs,
    check_transform_input,
    follow_set_output,
    name_columns,
)


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all metric learners: a linear map for the database and one for queries.

    The learned squared distance between a query x and a database point z is
    ‖Q x + b − A z‖², where A is ``components_``; Q is ``query_components_`` and b
    ``query_offset_`` when the learner sets them, else A and 0. Subclasses set ``components_``
    (n_components, n_features) in ``fit``; a non-linear learner overrides ``transform`` and
    ``transform_queries``.
    """

    components_: FloatArray
    # How much each feature varies among the rows fit saw (d,), noted when they are checked.
    feature_spread_: FloatArray
    _notes_spread = True
    # Whether vicinal.scale.fit_distributed takes this learner.
    _fits_distributed = False
    # Whether ``fit`` takes sparse rows.
    _takes_sparse = False

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        # scikit-learn wraps transform only; a query map of the learner's own is to do the same.
        if "transform_queries" in cls.__dict__:
            cls.transform_queries = follow_set_output(cls.transform_queries)  # type: ignore[method-assign]

    def transform(self, X: AnyArray) -> FloatArray:
        """Map database points.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        check_is_fitted(self, "components_")
        return project(check_transform_input(self, X), self.components_)

    @follow_set_output
    def transform_queries(self, X: AnyArray) -> FloatArray:
        """Map queries: the same map as :meth:`transform` unless the metric is asymmetric."""
        check_is_fitted(self, "components_")
        mapped = project(check_transform_input(self, X), self._query_map())
        offset = getattr(self, "query_offset_", None)
        return mapped if offset is None else mapped + offset

    def _query_map(self) -> FloatArray:
        query_map: FloatArray = getattr(self, "query_components_", self.components_)
        return query_map

    def get_mahalanobis_matrix(self) -> FloatArray:
        """Return M = AᵀA, of shape (n_features, n_features)."""
        check_is_fitted(self, "components_")
        matrix: FloatArray = self.components_.T @ self.components_
        return matrix

    def pair_distance(self, pairs: AnyArray) -> FloatArray:
        """Return the learned distance of each (query, database point) pair.

        Parameters
        ----------
        pairs : array-like of shape (n, 2, n_features)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        pairs = check_pairs(self, pairs)
        queries, points = (name_columns(self, pairs[:, side]) for side in (0, 1))
        gap = np.asarray(self.transform_queries(queries)) - np.asarray(self.transform(points))
        distance: FloatArray = np.sqrt(np.einsum("ij,ij->i", gap, gap))
        return distance

    def pair_score(self, pairs: AnyArray) -> FloatArray:
        """Return minus :meth:`pair_distance`: larger means more alike."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> Callable[..., float]:
        """Return the distance as a function of two vectors, fixed to the present fit.

        ``distance(u, v, squared=False)`` takes vectors of shape (d,) or (1, d).
        """
        check_is_fitted(self, "components_")
        query_map, database_map = self._query_map().copy(), self.components_.copy()
        offset = np.array(getattr(self, "query_offset_", 0.0))

        def distance(query: AnyArray, point: AnyArray, squared: bool = False) -> float:
            u, v = (_as_vector(each, query_map.shape[1]) for each in (query, point))
            gap = query_map @ u + offset - database_map @ v
            return float(gap @ gap if squared else np.sqrt(gap @ gap))

        return distance

    @property
    def feature_relevance_(self) -> FloatArray:
        """Each feature's share in the squared distance of the rows ``fit`` saw, of shape (d,).

        r_j ∝ M_jj var_j, summing to 1: a feature that hardly varies moves no distance, however
        large its entry in M.
        """
        check_is_fitted(self, "components_")
        spread = getattr(self, "feature_spread_", 1.0)
        diagonal: FloatArray = np.einsum("ij,ij->j", self.components_, self.components_)
        shares = diagonal.astype(np.float64) * spread**2
        total = shares.sum()
        return shares / total if total > 0 else shares

    @property
    def feature_importances_(self) -> FloatArray:
        """The same under the name scikit-learn's ``SelectFromModel`` looks for."""
        return self.feature_relevance_

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # What is near is learned from the targets; a learner that looks at rows alone says so.
        tags.target_tags.required = True
        tags.input_tags.sparse = self._takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def project(X: AnyArray, components: FloatArray) -> FloatArray:
    """Return X Aᵀ densely; a sparse X is never made dense itself."""
    return np.ascontiguousarray(X @ components.T)


def _as_vector(value: AnyArray, width: int) -> AnyArray:
    vector = np.asarray(value)
    if vector.shape not in ((width,), (1, width)):
        raise ValueError(
            f"a vector must have shape ({width},) or (1, {width}), got {vector.shape}."
        )
    return vector.reshape(width)
