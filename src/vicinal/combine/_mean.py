"""MeanMetric: the mean of the metrics one learner finds from parts of the rows or several seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state, get_tags

from vicinal._types import AnyArray, IntArray
from vicinal._validation import check_components, check_target_input, check_weights, check_whole
from vicinal.combine._members import average, check_member, fit_member, prepare_member
from vicinal.combine._target import Target, read_target
from vicinal.metric import MetricLearner


class MeanMetric(MetricLearner):
    """Average the Mahalanobis metrics of several fits of a learner.

        M = (1/m) Σ_s c_s A_sᵀA_s,

    with A_s the map of the s-th fit and c_s such that near rows are as far apart under each. The
    fits differ in their random state, which draws inner splits and batches (``n_starts``), in the
    rows they see (``n_parts``), or in both: m = ``n_starts`` × ``n_parts``.

    Parameters
    ----------
    estimator : metric learner
        With a linear map, ``components_``. Its ``n_neighbors``, where None, follows this one's.
    n_starts : int, default=4
        Fits of the same rows from different random states.
    n_parts : int, default=1
        Parts the rows are cut into at random, classes in proportion; each is fitted alone. Where
        rows are very many this takes a fraction of the time; on a dask collection the parts are its
        partitions (:func:`~vicinal.fit_distributed`).
    n_neighbors : int or None
        k, for an estimator that leaves it open; None follows the predictor the metric stands in.
    n_components : int or None
        Keep so many rows of the mean, those with the largest share; None keeps its rank.
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthogonal rows, the longest first.
    estimators_ : list of fitted learners
    n_iter_ : int
        The largest of theirs, where they have any.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA, MeanMetric
    >>> X, y = load_wine(return_X_y=True)
    >>> MeanMetric(LDA(), n_starts=1, n_parts=3, random_state=0).fit(X, y).components_.shape[1]
    13
    """

    _fits_distributed = True

    def __init__(
        self,
        estimator: Any,
        *,
        n_starts: int = 4,
        n_parts: int = 1,
        n_neighbors: int | None = None,
        n_components: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_starts = n_starts
        self.n_parts = n_parts
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: AnyArray, y: AnyArray, sample_weight: Any = None) -> MeanMetric:
        """Fit the learner on every part and average.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Passed to the learner, where its ``fit`` takes weights.
        """
        check_member(self.estimator, "estimator")
        X, y = check_target_input(self, X, y)
        target = read_target(y)
        weights = check_weights(sample_weight, len(y))
        check_components(self.n_components, X.shape[1])
        n_starts = check_whole("n_starts", self.n_starts)
        random = check_random_state(self.random_state)
        if target.classes is not None:
            self.classes_ = target.classes
        self.estimators_ = [
            fit_member(
                prepare_member(self.estimator, seed=draw_seed(random), k=self.n_neighbors),
                X[rows],
                y[rows],
                None if weights is None else weights[rows],
            )
            for rows in self._parts(target, random)
            for _ in range(n_starts)
        ]
        self._average(X)
        return self

    def _parts(self, target: Target, random: np.random.RandomState) -> list[IntArray]:
        """Return the rows of each part, ascending."""
        n_parts = check_whole("n_parts", self.n_parts, most=max(1, target.n_rows // 2))
        if n_parts == 1:
            return [np.arange(target.n_rows)]
        order = random.permutation(target.n_rows)
        if target.codes is None:
            return [np.sort(part) for part in np.array_split(order, n_parts)]
        # Dealt out class by class, so that each part has its share of every class.
        by_class = order[np.argsort(target.codes[order], kind="stable")]
        return [np.sort(by_class[part::n_parts]) for part in range(n_parts)]

    def _average(self, X: AnyArray) -> None:
        mean = average(self.estimators_, X, self.n_components)
        self.components_ = mean.astype(X.dtype, copy=False)
        if all(hasattr(member, "n_iter_") for member in self.estimators_):
            self.n_iter_ = int(max(np.max(member.n_iter_) for member in self.estimators_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.classifier_tags = get_tags(self.estimator).classifier_tags
        return tags


def draw_seed(random: np.random.RandomState) -> int:
    """Return a seed for a member."""
    return int(random.randint(2**31 - 1))
