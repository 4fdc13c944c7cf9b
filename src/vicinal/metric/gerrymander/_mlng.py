"""MLNG: metric learning by neighborhood gerrymandering."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray, Fold, IntArray
from vicinal._validation import check_costs
from vicinal.metric.descent import (
    Frame,
    FramedRows,
    Progress,
    enter_frame,
    make_frame,
    watch_of,
)
from vicinal.metric.gerrymander._options import MLNGOptions, check_options, count_infeasible
from vicinal.metric.gerrymander._planned import as_maps, cross_fit_plan
from vicinal.metric.gerrymander._problem import LinearProblem
from vicinal.metric.gerrymander._published import PublishedMLNG
from vicinal.metric.gerrymander._regularizers import REGULARIZERS
from vicinal.metric.held_out import CrossFit
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import LinearMaps, stacked
from vicinal.metric.selection import Plan, plan_fit
from vicinal.rows import Rows, check_at_least_two_classes, check_transform_input

# Entries of sparse rows that are made dense, 32 MB: so small a table is learned as a dense one.
MOST_DENSE = 1 << 22


class MLNG(MetricLearner):
    """Learn a Mahalanobis metric whose k nearest neighbours vote right.

    For a row i and a map L let D(x_i, x_j) = ‖L x_i − L x_j‖², h* the nearest set of k other rows
    that votes for y_i without a tie, and ĥ the set with the largest cost less distance. Minimise

        (1/n) Σ_i [ Δ(y_i, ĥ) − Σ_{j∈ĥ} D(x_i, x_j) + Σ_{j∈h*} D(x_i, x_j) ],

    an upper bound of the leave-one-out k-NN cost, with k = ``n_neighbors``. Inference of both sets
    is exact (:func:`~vicinal.most_violating_set`, :func:`~vicinal.best_voting_set`) over lists of
    near candidates.

    Parameters
    ----------
    n_neighbors : int or None
        k, of the loss and of the vote the metric is for. None follows the predictor the metric
        stands in, and is 5 where there is none.
    n_components : int or None
        Rows of the map, at most as many as features. None lets ``init`` decide.
    solver : {"factored", "psd"}, default="factored"
        "factored" learns L by Adam. "psd" learns W = LᵀL by projected subgradient steps.
    init : str or array of shape (n_components, n_features), default="auto"
        "identity" (the features as given), "standardised", "whitening", "pca", "lda" (whitening
        within the classes, the directions that part them first), "dann" (the same, these directions
        counting more), "relieff" (a diagonal), "zeros" (the objective with ½‖W‖²_F followed from
        zero by dual averaging, along 300 directions at most), or a map to start from, whose scale
        is kept. "auto" chooses.
    regularizer : {None, "frobenius", "trace", "identity"}
        Added to the objective as λ‖W‖²_F, λ tr W or λ‖W − I‖²_F, on standardised features.
    regularization : float or "auto"
        λ.
    costs : array of shape (R, R) or None
        Cost of voting for column when row is right, classes sorted; None is 0/1. Only ratios count.
    learning_rate : float or "auto"
        Step relative to the root mean square entry of the start (factored), or to the squared
        inverse of the typical squared distance (psd).
    max_iter : int, default=12
        Epochs over which the rate falls to zero; inner splits may stop sooner.
    tol : float, default=1e-4
        Stop when the mean loss of an epoch is at most this: there is nothing left to learn.
    candidates : {"auto", "all", "exact", "approximate", "faiss"}
        The rows inference looks at. "all" is every row at every step. The others are the 2k + 3
        nearest rows of the own class and the 40 nearest of other classes: "exact" compares all rows
        with all rows to find them, "approximate" compares a row with the candidates of rows near
        it and finds nearly the same in time linear in n, "faiss" asks an inverted file of faiss
        (extra ``faiss``). "auto" is "exact" up to 20,000 rows, where it is quicker, else
        "approximate".
    warm_start : bool, default=False
        Start from the present ``components_`` if there are any.
    random_state : int, RandomState or None
    verbose : int, default=0
        1 prints a line for every epoch of the fit, 2 also while settings are chosen.
    n_jobs : int or None
        Threads. Results do not depend on it.
    callback : callable or None
        Called with a :class:`~vicinal.metric.Progress` after each epoch, and after each trial of a
        setting. A true return value ends the choice with the best setting so far, and the fit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    classes_ : ndarray of shape (R,)
    n_iter_ : int
        Epochs walked over all rows; 1 where a start was kept as it is.
    loss_curve_ : list of float
        Mean loss of each of them.
    init_ : str
        The start.
    learning_rate_, regularization_ : float
        As used.
    settings_ : list of dict
        Everything tried on inner splits: its scores at the start and after each epoch, the lowest
        one, of which half is that of the epochs beside it, its epoch (0: the start is kept), and
        which was chosen. A score is the mean cost of held-out votes plus a quarter of the share of
        wrong neighbours.
    n_skipped_ : int
        Rows whose class is too small for any set of k others to vote for it.

    Notes
    -----
    What is left open ("auto" of ``init``, ``learning_rate`` and, with a regulariser,
    ``regularization``) is raced on inner splits: at most 5,000 rows are cut into four folds, and
    one of them after another is held out until 1,250 rows have been voted on by the rest, or all.
    Every start is scored before its descent and after each epoch, and kept as it is unless what
    follows is better by more than a standard error. What noise does not tell from the best, up to
    three further starts at their epochs, is fitted to all rows as well, and the metrics are
    averaged, near rows being the unit of each.
    Splits and batches are drawn by row number: the same rows in another order are another draw, as
    another ``random_state`` is. Starts, sets, losses and gradients do not depend on the order.
    Time O(n (d p + R k + k³)) an epoch, O(n² p) an exact search for candidates, O(n p log n) an
    approximate one; memory O(n · candidates).
    Departures from the source: exact inference instead of the printed greedy one, Adam on a factor
    instead of steps of 1/t on W, a scaled start, candidate lists. :meth:`as_published` is the
    source's algorithm.

    References
    ----------
    Trivedi, McAllester and Shakhnarovich, "Discriminative metric learning by neighborhood
    gerrymandering", NIPS 2014 [trivedi2014]; Trivedi, "Discriminative learning of similarity and
    group equivariant representations", 2018 [trivedi2018].

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import MLNG, KNNClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KNNClassifier(n_neighbors=3, metric=MLNG(random_state=0))
    >>> float(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])) > 0.9
    True
    """

    _takes_sparse = True
    n_iter_: int
    loss_curve_: list[float]
    # What a variant brings: its problem, and the names of its regularisers.
    _problem: type[LinearProblem] = LinearProblem
    _regularizers: tuple[str, ...] = tuple(REGULARIZERS)

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        n_components: int | None = None,
        solver: str = "factored",
        init: Any = "auto",
        regularizer: str | None = None,
        regularization: Any = "auto",
        costs: Any = None,
        learning_rate: Any = "auto",
        max_iter: int = 12,
        tol: float = 1e-4,
        candidates: str = "auto",
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.solver = solver
        self.init = init
        self.regularizer = regularizer
        self.regularization = regularization
        self.costs = costs
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.candidates = candidates
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    @staticmethod
    def as_published(n_neighbors: int | None = None, **parameters: Any) -> PublishedMLNG:
        """Return the source's algorithm: see :class:`~vicinal.metric.PublishedMLNG`.

        ``C``, ``init``, ``costs``, ``max_iter`` and what all learners share may be given.
        """
        return PublishedMLNG(n_neighbors, **parameters)

    def fit(
        self, X: AnyArray, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> MLNG:
        """Learn the metric.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
        y : array-like of shape (n,)
            Labels of any sortable type.
        sample_weight : array-like of shape (n,) or None
            How much the vote each row receives matters. Not the same as repeating rows, which
            would make them their own nearest neighbours.
        groups : array-like of shape (n,) or None
            Rows of one group are not parted by inner splits.
        """
        return self.fit_rows(self._read(X, y, sample_weight, groups))

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map whose k nearest neighbours vote right."""
        with one_blas_thread():  # batches are small, and the result must not depend on threads
            return self._finish(self._plan(rows))

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit whose settings are chosen once, on the given folds."""
        rows = self.note_rows(rows)
        with one_blas_thread():
            plan = self._plan(rows, folds)
        return cross_fit_plan(plan, self, lambda plan: self._keep(self._finish(plan)))

    def _plan(self, rows: Rows, folds: Sequence[Fold] | None = None) -> Plan:
        """Return what inner splits choose for the rows."""
        if issparse(rows.X) and rows.X.shape[0] * rows.X.shape[1] <= MOST_DENSE:
            rows = replace(rows, X=rows.X.toarray())
        warm = stacked(self.maps_) if self.warm_start and self._is_fitted else None
        costs = check_costs(self.costs, len(rows.classes.names))
        options = check_options(self, rows.X, costs, warm)
        self._warn_of_small_classes(rows.codes, options.n_neighbors)
        framed = enter_frame(rows, make_frame(rows.X))
        return self._planned(framed, options, folds)

    def _planned(
        self, rows: FramedRows, options: MLNGOptions, folds: Sequence[Fold] | None = None
    ) -> Plan:
        return plan_fit(self._problem(rows, options), options.seed, watch_of(self), folds=folds)

    def partial_fit(self, X: AnyArray, y: Any = None, sample_weight: Any = None) -> MLNG:
        """Walk one epoch on new rows, from the present metric; the first call is a :meth:`fit`.

        The rows are each other's neighbours, so a call should bring several of each class. They are
        centred and scaled as those of the first fit were, and walked at its rate. Classes not seen
        before are welcome, unless there are costs, which must know them. Parameters as for
        :meth:`fit`.
        """
        if not self._is_fitted:
            return self.fit(X, y, sample_weight)
        check_transform_input(self, X)
        rows = self._read(X, y, sample_weight)
        check_at_least_two_classes(self, rows.classes)
        costs = self._costs_among(rows.classes.names)
        options = replace(
            check_options(self, rows.X, costs, stacked(self.maps_)),
            learning_rate=self.learning_rate_,
            regularization=self.regularization_ or None,
            max_iter=1,
        )
        earlier = self.n_iter_, self.loss_curve_
        self._warn_of_small_classes(rows.codes, options.n_neighbors)
        with one_blas_thread():
            framed = enter_frame(rows, Frame(*self._frame))
            self._keep(self._finish(self._planned(framed, options)))
        self.classes_ = np.union1d(self.classes_, rows.classes.names)
        self.n_iter_ += earlier[0]
        self.loss_curve_ = earlier[1] + self.loss_curve_
        return self

    def _costs_among(self, classes: AnyArray) -> FloatArray:
        """Return the costs of the classes present in a call."""
        if self.costs is None:
            return check_costs(None, len(classes))
        costs = check_costs(self.costs, len(self.classes_))
        unknown = np.setdiff1d(classes, self.classes_)
        if len(unknown):
            raise ValueError(
                f"class {unknown.tolist()[0]!r} is not among those of the first fit, so costs do "
                "not say what a wrong vote for it costs; fit anew with costs for all classes."
            )
        places = np.searchsorted(self.classes_, classes)
        return costs[np.ix_(places, places)]

    def _finish(self, plan: Plan) -> LinearMaps:
        """Return the maps learned from all rows, and keep how they came to be."""
        rows: Any = plan.problem.rows
        outcome, frame = plan.learn(), rows.frame
        self._frame = (frame.centre, frame.scale, frame.basis)
        self.init_ = outcome.setting["init"]
        self.learning_rate_ = outcome.setting["learning_rate"]
        self.regularization_ = outcome.setting["regularization"]
        self.settings_ = outcome.tried
        self.loss_curve_, self.n_iter_ = outcome.losses, max(1, len(outcome.losses))
        return as_maps(plan, outcome.components)

    def _warn_of_small_classes(self, codes: IntArray, n_neighbors: int) -> None:
        self.n_skipped_ = count_infeasible(codes, n_neighbors)
        if self.n_skipped_:
            warnings.warn(
                f"{self.n_skipped_} of {len(codes)} rows belong to classes too small to win a vote "
                f"of n_neighbors={n_neighbors} without themselves; they are skipped while "
                "learning. Use fewer neighbours or more rows of these classes.",
                UserWarning,
                stacklevel=3,
            )
