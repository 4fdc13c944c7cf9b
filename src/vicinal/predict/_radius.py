"""Prediction from all training rows within a distance; what to say where there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._kernels._vote import weighted_shares, weighted_vote
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import check_radius
from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._training_targets import NeighborsClassifier, NeighborsRegressor


class _WithinRadius(NeighborsPredictor):
    def __init__(
        self,
        radius: float = 1.0,
        metric: Any = None,
        *,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.metric = metric
        self.index = index
        self.block_size = block_size
        self.n_jobs = n_jobs

    @property
    def _reach(self) -> float:
        return self.radius

    def _takes_partitions(self) -> bool:
        return True

    def _check_settings(self, n_rows: int) -> None:
        check_radius(self.radius)

    def _finish_fit(self) -> None:
        self.n_fallbacks_ = 0

    def _neighbors_of(self, X: AnyArray) -> tuple[IntArray, IntArray]:
        """Return (indices, indptr) of the neighbours, and count the queries without any."""
        check_is_fitted(self)
        _, indices, indptr = self._within(X, self.radius)
        self.n_fallbacks_ = int(np.count_nonzero(np.diff(indptr) == 0))
        return indices, indptr


class RadiusClassifier(NeighborsClassifier, _WithinRadius):
    """Classify by the vote of all training rows within a radius under a learned metric.

    The class most neighbours hold wins, by weight where ``fit`` is given weights (a row of weight
    two is the row twice); a tie goes to the tied class with the nearest neighbour. A query without
    neighbours gets the most frequent class of the training rows (the first in ``classes_`` of
    several), and ``n_fallbacks_`` counts such queries.

    Parameters
    ----------
    radius : float, default=1.0
        In the learned space; in bits for a metric that encodes.
    metric : metric learner or transformer, name of a method or of a distance, default=None
        As for :class:`KNNClassifier`.
    class_weight : dict, "balanced" or None, default=None
        As for :class:`KNNClassifier`.
    index : str, default="exact"
        As for :class:`KNNClassifier`.
    block_size : int, default=None
        How many rows are compared at a time; see :class:`ExactIndex`.
    n_jobs : int, default=None
        Threads of a search; see :class:`ExactIndex`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes among the training rows, by weight.
    metric_ : the fitted metric, or None
    n_fallbacks_ : int
        Queries without neighbours in the latest prediction; 0 before the first.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Examples
    --------
    >>> from vicinal import RadiusClassifier
    >>> model = RadiusClassifier(radius=1.0).fit([[0.0], [1.0], [9.0]], ["a", "a", "b"])
    >>> model.predict([[8.5], [100.0]]).tolist(), model.n_fallbacks_
    (['b', 'a'], 1)
    """

    def __init__(
        self,
        radius: float = 1.0,
        metric: Any = None,
        *,
        class_weight: Any = None,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(radius, metric, index=index, block_size=block_size, n_jobs=n_jobs)
        self.class_weight = class_weight

    def _finish_fit(self) -> None:
        super()._finish_fit()
        self._rows_changed()

    def _rows_changed(self) -> None:
        rows = slice(None) if self._rows is None else self._rows
        weights = None if self._weights is None else self._weights[rows]
        totals = np.bincount(self._codes[rows], weights, minlength=len(self.classes_))
        self.class_prior_ = totals / totals.sum()

    def predict(self, X: AnyArray) -> AnyArray:
        """Return the winner of the vote for each row, of shape (m,)."""
        indices, indptr = self._neighbors_of(X)
        fallback = int(np.argmax(self.class_prior_))
        votes = self._codes[indices], self._weights_of(indices), indptr
        codes = weighted_vote(*votes, len(self.classes_), fallback)
        winners: AnyArray = self.classes_[codes]
        return winners

    def predict_proba(self, X: AnyArray) -> FloatArray:
        """Return each class's share of the votes, of shape (m, n_classes); its prior where none.

        Where shares tie, the winner's is larger by one unit in the last place, so that the largest
        is always the class :meth:`predict` returns.
        """
        indices, indptr = self._neighbors_of(X)
        votes = self._codes[indices], self._weights_of(indices), indptr
        return weighted_shares(*votes, self.class_prior_)

    def _weights_of(self, indices: IntArray) -> FloatArray:
        return np.ones(len(indices)) if self._weights is None else self._weights[indices]


class RadiusRegressor(NeighborsRegressor, _WithinRadius):
    """Predict the mean target of all training rows within a radius under a learned metric.

    The mean is by weight where ``fit`` is given weights (a row of weight two is the row twice). A
    query without neighbours gets the mean of all training targets, and ``n_fallbacks_`` counts
    such queries.

    Parameters
    ----------
    radius : float, default=1.0
        In the learned space; in bits for a metric that encodes.
    metric : metric learner or transformer, name of a method or of a distance, default=None
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
    n_fallbacks_ : int
        Queries without neighbours in the latest prediction; 0 before the first.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had column names.

    Examples
    --------
    >>> from vicinal import RadiusRegressor
    >>> model = RadiusRegressor(radius=1.0).fit([[0.0], [1.0], [9.0]], [0.0, 4.0, 8.0])
    >>> model.predict([[0.5], [100.0]]).tolist(), model.n_fallbacks_
    ([2.0, 4.0], 1)
    """

    def predict(self, X: AnyArray) -> FloatArray:
        """Return the mean target within the radius, of shape (m,) or (m, n_outputs)."""
        indices, indptr = self._neighbors_of(X)
        sizes = np.diff(indptr)
        means = np.empty((len(sizes), *self._targets.shape[1:]))
        means[sizes == 0] = self._overall_mean()
        if len(indices):
            # Sums start at each query that has neighbours; the others own no stretch of them.
            starts, values, counts = (
                indptr[:-1][sizes > 0],
                self._targets[indices],
                sizes[sizes > 0],
            )
            if self._weights is not None:
                weights = self._weights[indices]
                values, counts = (values.T * weights).T, np.add.reduceat(weights, starts)
            means[sizes > 0] = (np.add.reduceat(values, starts, axis=0).T / counts).T
        return means

    def _overall_mean(self) -> AnyArray:
        if self._weights is not None:
            return np.average(self._targets, axis=0, weights=self._weights)
        targets = self._targets if self._rows is None else self._targets[self._rows]
        mean: AnyArray = targets.mean(axis=0)
        return mean
