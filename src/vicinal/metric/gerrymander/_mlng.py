"""MLNG: metric learning by neighborhood gerrymandering."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state

from vicinal._threads import one_blas_thread, thread_count
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_at_least_two_classes,
    check_auto,
    check_choice,
    check_classification_input,
    check_neighbors,
    check_positive,
    check_weights,
    check_whole,
)
from vicinal.metric._base import MetricLearner
from vicinal.metric.descent._frame import Frame, make_frame
from vicinal.metric.gerrymander import _options as checks
from vicinal.metric.gerrymander._records import Learned, Options, Progress, Rows
from vicinal.metric.gerrymander._training import learn


class MLNG(MetricLearner):
    """Learn a Mahalanobis metric whose k nearest neighbours vote right.

    For a row i and a map L let D(x_i, x_j) = ‖L x_i − L x_j‖², h* the nearest set of k other rows
    that votes for y_i without a tie, and ĥ the set with the largest cost less distance. Minimise

        (1/n) Σ_i [ Δ(y_i, ĥ) − Σ_{j∈ĥ} D(x_i, x_j) + Σ_{j∈h*} D(x_i, x_j) ],

    an upper bound of the leave-one-out k-NN cost. Inference of both sets is exact
    (:func:`~vicinal.most_violating_set`, :func:`~vicinal.best_voting_set`) over lists of near
    candidates.

    Parameters
    ----------
    n_neighbors : int, default=3
        The k the metric will be used with.
    training_neighbors : int or "auto"
        The k the loss counts with; "auto" is ``n_neighbors``, or 7 (else 5) where that is more and
        every class has rows enough: larger sets say more about a row's surroundings. It is 7 for
        larger ``n_neighbors`` too from 10,000 to 20,000 rows.
    n_components : int or None
        Rows of the map. None lets ``init`` decide (all features, or fewer where that does better;
        a mean of several metrics of few components has up to four times as many).
    solver : {"factored", "psd"}, default="factored"
        "factored" learns L by Adam. "psd" learns W = LᵀL by projected subgradient steps.
    init : str or array of shape (n_components, n_features), default="auto"
        "auto" tries several and goes by the lowest inner error; "identity" (the
        features as given), "standardised", "whitening", "pca", "lda" (within-class whitening,
        the directions that part the classes first), "logistic" (the weights of a shrunk logistic
        regression, at most R − 1 rows), "relieff" (a diagonal), "zeros" (solver "psd" only), or a
        map to start from.
    regularizer : {None, "frobenius", "trace", "identity"}
        Added to the objective as λ‖W‖²_F, λ tr W or λ‖W − I‖²_F, on standardised features.
    regularization : float or "auto"
        λ; "auto" chooses on the inner split.
    costs : array of shape (R, R) or None
        Cost of voting for column when row is right, classes sorted; None is 0/1. Only ratios count.
    learning_rate : float or "auto"
        Step relative to the root mean square entry of the start (factored), or to the squared
        inverse of the typical squared distance (psd).
    max_iter : int or "auto"
        Epochs over which the rate falls to zero; the inner split may stop sooner. "auto" is 12,
        or 8 from 1,500 to 20,000 rows.
    batch_size : int or "auto"
        Rows a step; "auto" is 256, or 64 below 2000 rows.
    n_candidates : int, "all" or "auto"
        How many near rows of other classes inference looks at, beside 2k+3 of the own; "auto" is
        40. "all" is exact at every step and needs O(n²) memory.
    refresh : int or "auto"
        Epochs between searches for candidates; "auto" is 4, or 1 where the search is approximate:
        it is cheap, and fresh lists are worth more than complete ones.
    candidate_search : {"auto", "exact", "approximate", "faiss"}
        How candidates are found. "exact" compares all rows with all rows. "approximate" compares a
        row with the candidates of rows near it, a bounded number, and finds nearly the same in time
        linear in n. "faiss" asks an inverted file of faiss (extra ``faiss``). "auto" is "exact"
        up to 20,000 rows, else "approximate".
    reuse : int or "auto"
        Updates for which inferred sets are kept; "auto" is 1, or 8 for solver "psd".
    tol : float, default=1e-4
        Stop when the mean loss of an epoch is below this: there is nothing left to learn.
    validation_fraction : float, default=0.25
        Share of the rows held out while settings are chosen.
    warm_start : bool, default=False
        Start from the present ``components_`` if there are any.
    random_state : int, RandomState or None
    verbose : int, default=0
        1 prints a line for every epoch of the fit, 2 also while settings are chosen.
    n_jobs : int or None
        Threads. Results do not depend on it.
    callback : callable or None
        Called with a :class:`~vicinal.metric.Progress` after each epoch; a true return value stops.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    classes_ : ndarray of shape (R,)
    n_iter_ : int
        Epochs over all rows, at the best setting.
    loss_curve_ : list of float
        Mean loss of each of them.
    init_ : str
        The start of the best setting.
    learning_rate_, regularization_ : float
        Of the best setting.
    inner_scores_ : list of float
        Its inner scores while settings were chosen; empty if none were.
    n_skipped_ : int
        Rows whose class is too small for any set of k others to vote for it.

    Notes
    -----
    Time O(n (d p + R k + k³)) an epoch, O(n² p) an exact search for candidates, O(n p log n) an
    approximate one; memory O(n · candidates).
    Where settings are chosen, the result is a mean of metrics. Up to 10,000 rows: of those of up to
    four settings (two above 6,500 rows) whose inner errors are within a standard error of the
    lowest, each learned from all rows; from 1,500 to 6,500 rows, with 2 to 100 rows a feature, a
    metric that started from ReliefF's weights joins them, and with less than two rows a feature one
    from a logistic regression (or from discriminants, where that leads). Up to 20,000 rows: of
    those of three parts of the rows and of three more epochs over all rows that start from their
    mean, or, where more than five neighbours vote, of the parts' mean and of the metric learned
    from all rows. Above, it is the best setting's alone.
    Departures from the source: exact inference instead of the printed greedy one, Adam on a factor
    instead of steps of 1/t on W, a scaled start, candidate lists.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import MLNG, KNNClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KNNClassifier(n_neighbors=3, metric=MLNG(n_neighbors=3, random_state=0))
    >>> float(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])) > 0.9
    True
    """

    n_iter_: int
    loss_curve_: list[float]

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        training_neighbors: Any = "auto",
        n_components: int | None = None,
        solver: str = "factored",
        init: Any = "auto",
        regularizer: str | None = None,
        regularization: Any = "auto",
        costs: Any = None,
        learning_rate: Any = "auto",
        max_iter: Any = "auto",
        batch_size: Any = "auto",
        n_candidates: Any = "auto",
        refresh: Any = "auto",
        candidate_search: str = "auto",
        reuse: Any = "auto",
        tol: float = 1e-4,
        validation_fraction: float = 0.25,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.training_neighbors = training_neighbors
        self.n_components = n_components
        self.solver = solver
        self.init = init
        self.regularizer = regularizer
        self.regularization = regularization
        self.costs = costs
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.n_candidates = n_candidates
        self.refresh = refresh
        self.candidate_search = candidate_search
        self.reuse = reuse
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: AnyArray, y: AnyArray, sample_weight: Any = None) -> MLNG:
        """Learn the metric.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
        y : array-like of shape (n,)
            Labels of any sortable type.
        sample_weight : array-like of shape (n,) or None
            How much the vote each row receives matters. Not the same as repeating rows, which
            would make them their own nearest neighbours.
        """
        warm = getattr(self, "components_", None) if self.warm_start else None
        X, self.classes_, codes = check_classification_input(self, X, y, accept_sparse=True)
        check_at_least_two_classes(self, self.classes_)
        options = self._options(X, codes, warm)
        weights = check_weights(sample_weight, len(codes))
        self._count_skipped(codes)
        self._learn(X, codes, weights, options)
        return self

    def partial_fit(self, X: AnyArray, y: AnyArray, sample_weight: Any = None) -> MLNG:
        """Walk one epoch on new rows, from the present metric; the first call is a :meth:`fit`.

        The rows are each other's neighbours, so a call should bring several of each class.
        Classes not seen before are welcome. Parameters as for :meth:`fit`.
        """
        if not hasattr(self, "components_"):
            return self.fit(X, y, sample_weight)
        X, classes, codes = check_classification_input(self, X, y, accept_sparse=True, reset=False)
        check_at_least_two_classes(self, classes)
        n_iter, curve = self.n_iter_, self.loss_curve_
        options = self._options(X, codes, self.components_, classes=classes, more=True)
        self._count_skipped(codes)
        self._learn(X, codes, check_weights(sample_weight, len(codes)), options)
        self.classes_ = np.union1d(self.classes_, classes)
        self.n_iter_, self.loss_curve_ = n_iter + self.n_iter_, curve + self.loss_curve_
        return self

    def _options(
        self,
        X: AnyArray,
        codes: IntArray,
        warm: FloatArray | None,
        *,
        classes: Any = None,
        more: bool = False,
    ) -> Options:
        classes = self.classes_ if classes is None else classes
        check_choice("solver", self.solver, checks.SOLVERS)
        checks.check_regularizer(self.regularizer)
        checks.check_search(self.candidate_search)
        init = checks.check_init(self.init, self.solver, X.shape[1]) if warm is None else warm
        n_components = self.n_components
        if n_components is not None:
            n_components = min(check_whole("n_components", n_components), X.shape[1])
        share = check_positive("validation_fraction", self.validation_fraction)
        if share >= 1:
            raise ValueError(f"validation_fraction must be below 1, got {share}.")
        rate = check_auto("learning_rate", self.learning_rate, check_positive)
        amount = check_auto("regularization", self.regularization, check_positive)
        reuse = check_auto("reuse", self.reuse, check_whole)
        k = check_neighbors(self.n_neighbors, X.shape[0] - 1)
        training = check_auto("training_neighbors", self.training_neighbors, check_whole)
        return Options(
            n_neighbors=k,
            training_neighbors=check_neighbors(
                training or checks.choose_training_neighbors(codes, k), X.shape[0] - 1
            ),
            n_components=n_components,
            solver=self.solver,
            init=init,
            warm=warm is not None,
            costs=checks.check_costs(self.costs, classes),
            learning_rate=self.learning_rate_ if more else rate,
            max_iter=1 if more else checks.check_epochs(self.max_iter, X.shape[0]),
            batch_size=check_auto("batch_size", self.batch_size, check_whole),
            n_other=checks.check_candidates(self.n_candidates, X.shape[0]),
            refresh=check_auto("refresh", self.refresh, check_whole),
            reuse=reuse or (8 if self.solver == "psd" else 1),
            tol=check_positive("tol", self.tol, zero=True),
            validation_fraction=share,
            regularizer=self.regularizer,
            regularization=self.regularization_ if more else amount,
            n_threads=thread_count(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            search=self.candidate_search,
        )

    def _learn(
        self, X: AnyArray, codes: IntArray, weights: FloatArray | None, options: Options
    ) -> None:
        frame = make_frame(X)
        outside = None
        if not isinstance(options.init, str):
            options, outside = enter_frame(options, frame)
        rows = Rows(frame.enter(X), codes, X.shape[1], weights, frame.plain())
        with one_blas_thread():  # batches are small, and the result must not depend on threads
            learned = learn(rows, options, self._watch)
        components = frame.fold(learned.components)
        if outside is not None:
            components = components + outside * learned.start_scale
        self._keep(learned, components.astype(X.dtype))

    def _keep(self, learned: Learned, components: FloatArray) -> None:
        self.components_ = components
        self.init_ = learned.setting.start.label()
        self.learning_rate_ = learned.setting.rate
        self.regularization_ = learned.setting.regularization
        self.loss_curve_ = list(learned.losses)
        self.inner_scores_ = list(learned.scores)
        # A start no epoch improved on is a direct solution: one iteration.
        self.n_iter_ = max(1, len(learned.losses))

    def _count_skipped(self, codes: IntArray) -> None:
        self.n_skipped_ = checks.count_infeasible(codes, self.n_neighbors)
        if self.n_skipped_:
            warnings.warn(
                f"{self.n_skipped_} of {len(codes)} rows belong to classes too small to win a vote "
                f"of n_neighbors={self.n_neighbors} without themselves; they are skipped while "
                "learning. Use fewer neighbours or more rows of these classes.",
                UserWarning,
                stacklevel=3,
            )

    def _watch(self, progress: Progress) -> bool:
        if self.verbose > (1 if progress.stage == "settings" else 0):
            sys.stdout.write(f"[MLNG] {progress.describe()}\n")
            sys.stdout.flush()
        return bool(self.callback(progress)) if self.callback is not None else False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def enter_frame(options: Options, frame: Frame) -> tuple[Options, FloatArray]:
    """Return options with the given start in the frame, and what of it lies outside the frame."""
    given = np.asarray(options.init, dtype=np.float64)
    inside = frame.unfold(given)
    return replace(options, init=inside), given - frame.fold(inside)
