"""Prediction from the k nearest training rows: their vote, or their mean."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from vicinal._kernels._vote import majority_vote, vote_shares
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_classification_input,
    check_neighbors,
    check_regression_input,
)
from vicinal.predict._base import NeighborsPredictor


class _KNearest(NeighborsPredictor):
    def __init__(
        self,
        n_neighbors: int = 5,
        metric: Any = None,
        *,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.index = index
        self.block_size = block_size
        self.n_jobs = n_jobs

    def kneighbors(
        self,
        X: AnyArray | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find the nearest training rows under the learned metric.

        Parameters
        ----------
        X : array-like of shape (m, n_features), default=None
            None asks for the neighbours of each training row among the others.
        n_neighbors : int, default=None
            None takes the predictor's own.
        return_distance : bool, default=True

        Returns
        -------
        distances : float64 ndarray of shape (m, n_neighbors)
            Euclidean in the learned space (bits, for a metric that encodes), ascending. Only with
            ``return_distance``.
        indices : int64 ndarray of shape (m, n_neighbors)
            Training rows; of two at the same distance the lower comes first.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        return super().kneighbors(X, k, return_distance)

    def _neighbors_of(self, X: AnyArray) -> IntArray:
        indices: IntArray = self.kneighbors(X, return_distance=False)
        return indices


class KNNClassifier(ClassifierMixin, _KNearest):
    """Classify by the vote of the k nearest training rows under a learned metric.

    The class most of the k neighbours hold wins; a tie goes to the tied class with the nearest
    neighbour. Neighbours at equal distance come in order of their training rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    metric : metric learner or transformer, default=None
        Cloned and fitted in ``fit``; None is the Euclidean distance of the rows as given. Wrap a
        fitted one in scikit-learn's ``FrozenEstimator`` to use it as it is. Training rows go
        through its ``transform``, queries through its ``transform_queries`` where it has one; a
        metric with ``encode`` is searched by Hamming distance.
    index : str, default="exact"
        "exact", "faiss", or "faiss:" and a factory string such as "faiss:HNSW32".
    block_size : int, default=None
        How many rows are compared at a time; see :class:`ExactIndex`.
    n_jobs : int, default=None
        Threads of a search; see :class:`ExactIndex`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    metric_ : the fitted metric, or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Notes
    -----
    A single class is allowed, and always predicted; a metric may refuse it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import KNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KNNClassifier(n_neighbors=3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    def fit(self, X: AnyArray, y: AnyArray) -> KNNClassifier:
        """Fit the metric and index the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            May be sparse where the metric takes sparse rows.
        y : array-like of shape (n,)
            Classes: numbers or texts.

        Returns
        -------
        KNNClassifier
            Itself.
        """
        sparse = self.metric is not None
        rows, self.classes_, self._codes = check_classification_input(
            self, X, y, accept_sparse=sparse
        )
        check_neighbors(self.n_neighbors, rows.shape[0])
        self._fit_index(X, rows, self.classes_[self._codes])
        return self

    def predict(self, X: AnyArray) -> AnyArray:
        """Return the winner of the vote for each row, of shape (m,)."""
        indices = self._neighbors_of(X)
        codes = majority_vote(self._codes[indices], len(self.classes_))
        winners: AnyArray = self.classes_[codes]
        return winners

    def predict_proba(self, X: AnyArray) -> FloatArray:
        """Return each class's share of the k votes, of shape (m, n_classes).

        Where shares tie, the winner's is larger by one unit in the last place, so that the largest
        is always the class :meth:`predict` returns.
        """
        indices = self._neighbors_of(X)
        return vote_shares(self._codes[indices], len(self.classes_))


class KNNRegressor(RegressorMixin, _KNearest):
    """Predict the mean of the k nearest training rows' targets under a learned metric.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    metric : metric learner or transformer, default=None
        As for :class:`KNNClassifier`.
    index : str, default="exact"
        As for :class:`KNNClassifier`.
    block_size : int, default=None
        How many rows are compared at a time; see :class:`ExactIndex`.
    n_jobs : int, default=None
        Threads of a search; see :class:`ExactIndex`.

    Attributes
    ----------
    metric_ : the fitted metric, or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Examples
    --------
    >>> from vicinal import KNNRegressor
    >>> KNNRegressor(n_neighbors=2).fit([[0.0], [1.0], [9.0]], [0.0, 4.0, 7.0]).predict([[0.4]])
    array([2.])
    """

    def fit(self, X: AnyArray, y: AnyArray) -> KNNRegressor:
        """Fit the metric and index the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            May be sparse where the metric takes sparse rows.
        y : array-like of shape (n,) or (n, n_outputs)

        Returns
        -------
        KNNRegressor
            Itself.
        """
        rows, self._targets = check_regression_input(
            self, X, y, accept_sparse=self.metric is not None
        )
        check_neighbors(self.n_neighbors, rows.shape[0])
        self._fit_index(X, rows, self._targets)
        return self

    def predict(self, X: AnyArray) -> FloatArray:
        """Return the mean target of the k nearest rows, of shape (m,) or (m, n_outputs)."""
        indices = self._neighbors_of(X)
        means: FloatArray = self._targets[indices].mean(axis=1)
        return means

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags
