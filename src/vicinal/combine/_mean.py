"""MeanMetric: the mean of the metrics one learner finds from parts of the rows or several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state

from vicinal._types import AnyArray, Fold, IntArray
from vicinal._validation import check_components, check_whole
from vicinal.combine._members import (
    average,
    average_maps,
    begin_member,
    check_member,
    fit_member,
    follow_tags,
    prepare_member,
    task_of,
)
from vicinal.metric import MetricLearner
from vicinal.metric.held_out import CrossFit
from vicinal.metric.maps import LinearMaps
from vicinal.rows import Rows, read_rows


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

    _task = "auto"
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

    def fit(self, X: AnyArray, y: Any = None, sample_weight: Any = None) -> MeanMetric:
        """Fit the learner on every part and average.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Passed to the learner, where its ``fit`` takes weights.
        """
        check_member(self.estimator, "estimator")
        return self.fit_rows(self._read(X, y, sample_weight))

    def _read(self, X: AnyArray, y: Any, sample_weight: Any = None, groups: Any = None) -> Rows:
        return read_rows(self, X, y, sample_weight, groups, task=task_of(self.estimator))

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the mean of the maps learned from every part."""
        random = self._check(rows)
        return self._average(
            [
                fit_member(member, rows.take(part))
                for part in self._parts(rows, random)
                for member in self._members(random)
            ],
            rows,
        )

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit: that of each member, where all of them see all rows."""
        if self.n_parts != 1:
            return super().cross_fit(rows, folds)
        rows = self.note_rows(rows)
        members = self._members(self._check(rows))
        begun = [begin_member(member, rows, folds) for member in members]

        def without(fold: Fold) -> LinearMaps:
            parts = [each.without(fold) for each in begun]
            return average_maps(parts, rows.X[fold.train], self.n_components)

        def finish() -> MeanMetric:
            self._keep(self._average([each.finish() for each in begun], rows))
            return self

        return CrossFit(without, finish)

    def _check(self, rows: Rows) -> np.random.RandomState:
        check_components(self.n_components, rows.X.shape[1])
        check_whole("n_starts", self.n_starts)
        random: np.random.RandomState = check_random_state(self.random_state)
        return random

    def _members(self, random: np.random.RandomState) -> list[Any]:
        """Return unfitted members, each with a random state of its own."""
        return [
            prepare_member(self.estimator, seed=draw_seed(random), k=self.n_neighbors)
            for _ in range(self.n_starts)
        ]

    def _average(self, members: list[Any], rows: Rows) -> LinearMaps:
        """Return the mean of fitted members, and keep them."""
        self.estimators_ = members
        counts = [vars(member).get("n_iter_") for member in members]
        self.__dict__.pop("n_iter_", None)  # of an earlier fit
        if None not in counts:
            self.n_iter_ = int(max(np.max(count) for count in counts))
        return average(members, rows.X, self.n_components)

    def forget_rows(self) -> None:
        """Drop the training rows that the members keep beside their maps."""
        for member in self.estimators_:
            if isinstance(member, MetricLearner):
                member.forget_rows()

    def _parts(self, rows: Rows, random: np.random.RandomState) -> list[IntArray]:
        """Return the rows of each part, ascending."""
        n_parts = check_whole("n_parts", self.n_parts, most=max(1, rows.n_rows // 2))
        if n_parts == 1:
            return [np.arange(rows.n_rows)]
        order = random.permutation(rows.n_rows)
        if rows.labels is None:
            return [np.sort(part) for part in np.array_split(order, n_parts)]
        # Dealt out class by class, so that each part has its share of every class.
        by_class = order[np.argsort(rows.labels[order], kind="stable")]
        return [np.sort(by_class[part::n_parts]) for part in range(n_parts)]

    def __sklearn_tags__(self) -> Tags:
        return follow_tags(super().__sklearn_tags__(), self.estimator)


def draw_seed(random: np.random.RandomState) -> int:
    """Return a seed for a member."""
    return int(random.randint(2**31 - 1))
