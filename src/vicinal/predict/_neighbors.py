"""Prediction from the k nearest training rows: their vote, or their mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._kernels._vote import majority_vote, weighted_shares, weighted_vote
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.metric.learner import maps_of
from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._explanations import Explanation, nearness_of
from vicinal.predict._training_targets import NeighborsClassifier, NeighborsRegressor
from vicinal.predict._votes import check_weighing, weigh_neighbors


class _KNearest(NeighborsPredictor):
    predict: Any

    def __init__(
        self,
        n_neighbors: int = 5,
        metric: Any = None,
        *,
        weights: Any = "uniform",
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.index = index
        self.block_size = block_size
        self.n_jobs = n_jobs

    @property
    def _k(self) -> int:
        return self.n_neighbors

    def _check_settings(self, n_rows: int) -> None:
        check_neighbors(self.n_neighbors, n_rows)
        check_weighing(self.weights)

    def explain(self, X: AnyArray, training_rows: AnyArray | None = None) -> list[Explanation]:
        """Say why: each row's neighbours, their votes, and what brought them near.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        training_rows : array-like of shape (n, n_features), default=None
            The rows ``fit`` was given, which a predictor does not keep: with them, and a metric of
            one linear map, an explanation knows which features brought a neighbour near.

        Returns
        -------
        list of Explanation
            One a row; printed, it is a few lines of text.
        """
        distances, indices = self.kneighbors(X)
        predictions, shares = self.predict(X), self._vote_shares(X)
        nearness = None
        if training_rows is not None:
            rows, queries = (
                np.asarray(self._check_rows(some), np.float64) for some in (training_rows, X)
            )
            if len(rows) != self.n_samples_fit_:
                raise ValueError(
                    f"training_rows are {len(rows)}, but fit was given {self.n_samples_fit_}."
                )
            nearness = nearness_of(maps_of(self.metric_), rows, queries, indices)
        names = vars(self).get("feature_names_in_", range(self.n_features_in_))
        return [
            Explanation(
                prediction,
                indices[i],
                distances[i],
                self.targets_of(indices[i]),
                None if shares is None else shares[i],
                None if nearness is None else nearness[i],
                tuple(map(str, names)),
            )
            for i, prediction in enumerate(predictions)
        ]

    def _vote_shares(self, X: AnyArray) -> list[dict[Any, float]] | None:
        """Return each row's shares of the votes by class, the largest first; None for numbers."""
        return None

    def _weighed_neighbors(self, X: AnyArray | None) -> tuple[IntArray, FloatArray | None]:
        """Return the neighbours (m, k) and what each counts, None where all count the same."""
        distances, indices = self.kneighbors(X)
        by_distance = weigh_neighbors(self.weights, distances)
        if self._weights is None:
            return indices, by_distance
        of_rows = self._weights[indices]
        return indices, of_rows if by_distance is None else of_rows * by_distance


class KNNClassifier(NeighborsClassifier, _KNearest):
    """Classify by the vote of the k nearest training rows under a learned metric.

    The class most of the k neighbours hold wins, by weight where ``fit`` is given weights; a tie
    goes to the tied class with the nearest neighbour. Neighbours at equal distance come in order
    of their training rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    metric : metric learner or transformer, name of a method or of a distance, default=None
        Cloned and fitted in ``fit``; None is the Euclidean distance of the rows as given. Wrap a
        fitted one in scikit-learn's ``FrozenEstimator`` to use it as it is. Training rows go
        through its ``transform``, queries through its ``transform_queries`` where it has one; a
        metric with ``encode`` is searched by Hamming distance. A metric learner (or one at the end
        of a pipeline) whose own ``n_neighbors`` is None learns for the k of this vote. A name is
        one of ``vicinal compare``, such as "mlng", with its defaults.
    weights : {"uniform", "distance", "softmax"} or callable, default="uniform"
        What each of the k votes counts, times its sample weight: the same; 1/d (only neighbours
        at distance zero, where there are any); exp(−d²/s²), s² the mean of the query's k squared
        distances; or a function of the distances (m, k) that returns as many weights.
    class_weight : dict, "balanced" or None, default=None
        What votes count by class, times their sample weights; a class that a dict leaves out
        counts 1. "balanced" gives every class the same total. The metric does not see them, but
        a class of weight zero is left out altogether.
    index : str, default="exact"
        "exact", "faiss", or "faiss:" and a factory string such as "faiss:HNSW32", with search
        parameters after a semicolon: "faiss:IVF128,Flat;nprobe=16".
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
    A single class is allowed, and always predicted; a metric may refuse it. Weights count votes:
    k is a number of rows, so a row of weight two is not the same as the row twice; a row of weight
    zero is no row at all. Weighted votes tie where they differ by less than 1e-12 of themselves.
    With scikit-learn's metadata routing, the predictor and its metric each ask for
    ``sample_weight``; without it, the metric (of a pipeline its last step) is given weights
    whenever its ``fit`` takes them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import KNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KNNClassifier(n_neighbors=3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        metric: Any = None,
        *,
        weights: Any = "uniform",
        class_weight: Any = None,
        index: str = "exact",
        block_size: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_neighbors, metric, weights=weights, index=index, block_size=block_size, n_jobs=n_jobs
        )
        self.class_weight = class_weight

    def predict(self, X: AnyArray | None) -> AnyArray:
        """Return the winner of the vote for each row, of shape (m,); X as for ``kneighbors``."""
        indices, weights = self._weighed_neighbors(X)
        labels, n_classes = self._codes[indices], len(self.classes_)
        if weights is None:
            codes = majority_vote(labels, n_classes)
        else:
            votes = labels.ravel(), weights.ravel(), _even(indices)
            codes = weighted_vote(*votes, n_classes, 0)
        winners: AnyArray = self.classes_[codes]
        return winners

    def predict_proba(self, X: AnyArray | None) -> FloatArray:
        """Return each class's share of the k votes, by weight, of shape (m, n_classes).

        Where shares tie, the winner's is larger by one unit in the last place, so that the largest
        is always the class :meth:`predict` returns.
        """
        indices, weights = self._weighed_neighbors(X)
        labels, n_classes = self._codes[indices], len(self.classes_)
        votes = np.ones(labels.size) if weights is None else weights.ravel()
        return weighted_shares(labels.ravel(), votes, _even(indices), np.ones(n_classes))

    def _vote_shares(self, X: AnyArray) -> list[dict[Any, float]]:
        names = self.classes_.tolist()
        return [
            {names[c]: float(shares[c]) for c in np.argsort(-shares, kind="stable")}
            for shares in self.predict_proba(X)
        ]


class KNNRegressor(NeighborsRegressor, _KNearest):
    """Predict the mean of the k nearest training rows' targets under a learned metric.

    The mean is by weight where ``fit`` is given weights; see the notes of :class:`KNNClassifier`.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    metric : metric learner or transformer, name of a method or of a distance, default=None
        As for :class:`KNNClassifier`.
    weights : {"uniform", "distance", "softmax"} or callable, default="uniform"
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

    def predict(self, X: AnyArray | None) -> FloatArray:
        """Return the weighted mean target of the k nearest rows, (m,) or (m, n_outputs).

        X as for ``kneighbors``: None predicts each training row from the others.
        """
        indices, weights = self._weighed_neighbors(X)
        if weights is None:
            means: FloatArray = self._targets[indices].mean(axis=1)
            return means
        sums = np.einsum("ij,ij...->i...", weights, self._targets[indices])
        return (sums.T / weights.sum(axis=1)).T


def _even(indices: IntArray) -> IntArray:
    """Return where the neighbours of each query start when laid out in one line."""
    m, k = indices.shape
    return np.arange(0, m * k + 1, k)
