"""k-nearest-neighbour prediction under a learned metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from vicinal._kernels._vote import majority_vote
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_classification_input,
    check_neighbors,
    check_transform_input,
)
from vicinal.index import ExactIndex


class KNNClassifier(ClassifierMixin, BaseEstimator):
    """Classify by the vote of the k nearest training rows under a learned metric."""

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

    def fit(self, X: AnyArray, y: AnyArray) -> KNNClassifier:
        """Fit the metric and index the training rows."""
        X, self.classes_, self._codes = check_classification_input(self, X, y)
        check_neighbors(self.n_neighbors, X.shape[0])
        self.metric_ = None if self.metric is None else clone(self.metric).fit(X, y)
        database = X if self.metric_ is None else self.metric_.transform(X)
        self._index = ExactIndex(database, block_size=self.block_size, n_jobs=self.n_jobs)
        return self

    def kneighbors(
        self, X: AnyArray, n_neighbors: int | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Return distances and training rows of the nearest neighbours, both (m, k)."""
        check_is_fitted(self)
        X = check_transform_input(self, X)
        if self.metric_ is not None:
            mapped = getattr(self.metric_, "transform_queries", self.metric_.transform)(X)
        else:
            mapped = X
        squared_distances, indices = self._index.query(mapped, n_neighbors or self.n_neighbors)
        return np.sqrt(squared_distances), indices

    def predict(self, X: AnyArray) -> AnyArray:
        """Return the class of the vote for each row."""
        _, indices = self.kneighbors(X)
        winners: AnyArray = self.classes_[majority_vote(self._codes[indices], len(self.classes_))]
        return winners
