"""RegressionMLNG: the metric whose k nearest neighbours have the right mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread, thread_count
from vicinal._types import AnyArray, Fold
from vicinal._validation import (
    check_auto,
    check_choice,
    check_components,
    check_positive,
    check_whole,
)
from vicinal.metric.descent import Progress, enter_frame, make_frame, watch_of
from vicinal.metric.gerrymander._options import check_init
from vicinal.metric.gerrymander._planned import as_maps, cross_fit_plan
from vicinal.metric.gerrymander._published_variants import PublishedRegressionMLNG
from vicinal.metric.gerrymander._regression_problem import (
    RegressionOptions,
    RegressionProblem,
    standard_targets,
)
from vicinal.metric.gerrymander._regularizers import REGULARIZERS, TWO_MAPS
from vicinal.metric.held_out import CrossFit
from vicinal.metric.inference import TARGET_SETS
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import Plan, plan_fit
from vicinal.metric.starts import STARTS
from vicinal.rows import Numbers, Rows, usual_neighbors


class RegressionMLNG(MetricLearner):
    """Learn a metric under which the mean of the k nearest targets is near the truth.

    With D the squared distance under the map and e_ij = (y_i − y_j)², targets in deviations, let
    h* be the k other rows of least D + (γ/k) e and ĥ those of least D − (γ/k) e. Minimise

        (1/n) Σ_i [ Σ_{j∈h*} (D_ij + (γ/k) e_ij) − Σ_{j∈ĥ} (D_ij − (γ/k) e_ij) ],

    a bound of γ times the squared error of the leave-one-out k-NN mean.

    Parameters
    ----------
    n_neighbors : int or None
        How many targets the mean is of. None follows the predictor the metric stands in, and is 5
        where there is none.
    set_size : int or "auto"
        k, the rows of a neighbour set while learning. "auto" chooses ``n_neighbors`` or four
        times as many, with which noisy targets are better learned from.
    n_components : int or None
        Rows of the map, at most as many as features; None is all.
    asymmetric : bool, default=False
        Learn a map of queries beside that of the database.
    sets : {"bound", "epsilon", "nearest-target", "swaps", "sampled"}
        What is wished near. "bound": h* above. "epsilon": the nearest set of k whose mean is off by
        ``epsilon`` at most, squared.
        "nearest-target": the k of nearest targets, a convex problem in LᵀL. "swaps" and "sampled":
        both sets with the error of the mean itself, (y_i − mean_h y_j)², in place of the mean
        error; finding h* is then NP-hard, and sought by exchanges or by a cooling random walk;
        ĥ is exact.
    gamma : float or "auto"
        γ: what an error of one deviation of the target counts, in units of the squared distance of
        the k-th neighbour at the start.
    epsilon : float, default=0.1
        For sets="epsilon": the largest squared error of a set's mean, in squared deviations.
    init : str or array of shape (n_components, n_features), default="auto"
        "identity", "standardised", "whitening", "pca", "relieff" (for numbers), "lda" (of ten
        slices of the target: sliced inverse regression), or a map whose scale is kept. "auto"
        chooses among "identity", "relieff" and "lda", with all directions or the first two, and
        averages what it cannot tell apart, as :class:`MLNG` does, where there is one map.
    regularizer : {None, "frobenius", "trace", "identity"}
        Added to the objective times λ, as of :class:`MLNG`; where ``asymmetric`` it is one of
        {"joint", "metrics", "maps"}, as of :class:`AsymmetricMLNG`.
    regularization : float or "auto"
        λ, one over the C n of the source.
    learning_rate : float or "auto"
        Step relative to the root mean square entry of the start.
    batch_size : int, "auto" or None
        Rows a step; None is a sixteenth of the rows, sixteen at least.
    max_iter : int, default=24
        Epochs over which the rate falls to zero; inner splits may stop sooner.
    tol : float, default=1e-4
        Stop when the mean loss of an epoch is at most this.
    random_state : int, RandomState or None
    verbose : int, default=0
        1 prints a line for every epoch of the fit, 2 also while settings are chosen.
    n_jobs : int or None
        Threads. Results do not depend on it.
    callback : callable or None
        As of :class:`MLNG`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    query_components_, query_offset_ : ndarray
        The queries' side, where ``asymmetric``.
    n_iter_, loss_curve_, settings_
        As of :class:`MLNG`; scores are mean squared errors of held-out rows, in squared deviations.
    init_, learning_rate_, regularization_, set_size_, gamma_ : str, float, float, int, float
        As used.

    Notes
    -----
    Time O(n² p) an epoch, O(5,000 n p) above 5,000 rows, where an epoch takes neighbours from a
    sample of so many; memory O(n p) and a block of 2²⁰ distances. Departures from the source: Adam
    on factors with a scaled start instead of steps of 1/t, settings chosen by halving.
    The source calls both sets of the true error hard. ĥ is not: −Σ D + γ (y − mean)² is the largest
    over slopes λ of −Σ D + γ (2 λ (y − mean) − λ²), for each of which k points are sorted.

    References
    ----------
    trivedi2018

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import KNNRegressor, RegressionMLNG
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = KNNRegressor(n_neighbors=5, metric=RegressionMLNG(random_state=0))
    >>> float(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])) > 0.9
    True
    """

    _task = "regression"
    n_iter_: int
    loss_curve_: list[float]
    solver = "factored"  # what the check of a start asks for

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        set_size: Any = "auto",
        n_components: int | None = None,
        asymmetric: bool = False,
        sets: str = "bound",
        gamma: Any = "auto",
        epsilon: float = 0.1,
        init: Any = "auto",
        regularizer: str | None = None,
        regularization: Any = "auto",
        learning_rate: Any = "auto",
        batch_size: Any = None,
        max_iter: int = 24,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.set_size = set_size
        self.n_components = n_components
        self.asymmetric = asymmetric
        self.sets = sets
        self.gamma = gamma
        self.epsilon = epsilon
        self.init = init
        self.regularizer = regularizer
        self.regularization = regularization
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    @staticmethod
    def as_published(n_neighbors: int | None = None, **parameters: Any) -> PublishedRegressionMLNG:
        """Return the source's algorithm: see :class:`~vicinal.metric.PublishedRegressionMLNG`."""
        return PublishedRegressionMLNG(n_neighbors, **parameters)

    def fit(
        self, X: AnyArray, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> RegressionMLNG:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Numbers, not all equal.
        sample_weight : array-like of shape (n,) or None
            How much the error of each row matters.
        groups : array-like of shape (n,) or None
            Rows of one group are not parted by inner splits.
        """
        return self.fit_rows(self._read(X, y, sample_weight, groups))

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map whose neighbours' mean is right."""
        with one_blas_thread():  # blocks are small, and the result must not depend on threads
            return self._finish(self._plan(rows))

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit whose settings are chosen once, on the given folds."""
        with one_blas_thread():
            plan = self._plan(self.note_rows(rows), folds)
        return cross_fit_plan(plan, self, lambda plan: self._keep(self._finish(plan)))

    def _plan(self, rows: Rows, folds: Sequence[Fold] | None = None) -> Plan:
        """Return what inner splits choose for the rows."""
        options = self._options(rows)
        standard = replace(rows, target=Numbers(standard_targets(rows.values)))
        framed = enter_frame(standard, make_frame(rows.X))
        problem = RegressionProblem(framed, options)
        return plan_fit(problem, options.seed, watch_of(self), folds=folds)

    def _finish(self, plan: Plan) -> LinearMaps:
        """Return the maps learned from all rows, and keep how they came to be."""
        outcome = plan.learn()
        self.init_ = outcome.setting["init"]
        self.learning_rate_ = outcome.setting["learning_rate"]
        self.regularization_ = outcome.setting["regularization"]
        self.set_size_ = outcome.setting["set_size"]
        self.gamma_ = outcome.setting["gamma"]
        self.settings_ = outcome.tried
        self.loss_curve_, self.n_iter_ = outcome.losses, max(1, len(outcome.losses))
        return as_maps(plan, outcome.components)

    def _options(self, rows: Rows) -> RegressionOptions:
        n_rows, width = rows.X.shape
        if n_rows < 2:
            raise ValueError(
                f"RegressionMLNG needs two rows or more to learn from; got n_samples={n_rows}."
            )
        check_choice("sets", self.sets, TARGET_SETS)
        check_choice("asymmetric", self.asymmetric, (True, False))
        names = tuple(TWO_MAPS if self.asymmetric else REGULARIZERS)
        check_choice("regularizer", self.regularizer, (None, *names))
        batch = 0 if self.batch_size is None else self.batch_size

        def sized(name: str, size: Any) -> int:
            return check_whole(name, size, most=n_rows - 1)

        return RegressionOptions(
            n_neighbors=usual_neighbors(self.n_neighbors, n_rows - 1),
            set_size=check_auto("set_size", self.set_size, sized),
            n_components=check_components(self.n_components, width),
            asymmetric=bool(self.asymmetric),
            sets=self.sets,
            gamma=check_auto("gamma", self.gamma, check_positive),
            epsilon=check_positive("epsilon", self.epsilon),
            init=check_init(self, width, STARTS),
            learning_rate=check_auto("learning_rate", self.learning_rate, check_positive),
            batch_size=check_auto("batch_size", batch, lambda name, n: check_whole(name, n, 0)),
            max_iter=check_whole("max_iter", self.max_iter),
            tol=check_positive("tol", self.tol, zero=True),
            n_threads=thread_count(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            regularizer=self.regularizer,
            regularization=check_auto("regularization", self.regularization, check_positive),
        )
