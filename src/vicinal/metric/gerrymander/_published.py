"""The algorithm of the source, to the letter where the letter is right.

    W ← Π( W − η(t) [W + C n ∂(mean loss)/∂W] ),   η(t) = 1/(t + 1)                     (1)

with Π the projection on the cone of metrics: a stochastic subgradient step of
½‖W‖²_F + C Σ_i L_i. The source prints the rate before the regulariser only, and 1/t, which at
t = 1 would forget the start.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread, thread_count
from vicinal._validation import check_auto, check_choice, check_costs, check_positive, check_whole
from vicinal.metric.descent import Descent, InverseTime, Progress, Rule, enter_frame, make_frame
from vicinal.metric.gerrymander._options import Options, scale_costs
from vicinal.metric.gerrymander._problem import LinearProblem, LinearSetting
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import learn
from vicinal.metric.starts import Start
from vicinal.rows import Rows, usual_neighbors

# C n to choose from, in the unit that makes the first step the size of the margin.
GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
# The share the mean loss of an epoch must fall by for the next to be walked.
PLATEAU = 0.001


@dataclass(frozen=True)
class PublishedProblem(LinearProblem):
    """MLNG's problem with the source's starts, weights and rate; ``C`` None is chosen."""

    C: float | None = None

    def settings(self) -> list[LinearSetting]:
        """Return the starts and weights left open: λ = 1/(C n) on half the squared norm."""
        names = ("relieff", "zeros") if self.options.init == "auto" else (self.options.init,)
        scale = self._metric_unit((self.options.seed,)) ** 2
        weights = [c * scale for c in GRID] if self.C is None else [self.C * self.rows.n_rows]
        return [
            LinearSetting(Start(name), 1.0, 0.5 / weight) for weight in weights for name in names
        ]

    def begin(self, setting: Any, seed: Sequence[int]) -> Descent:
        """Return a descent that ends on a plateau of the loss."""
        return replace(super().begin(setting, seed), fall=PLATEAU)

    def cone_rule(self, setting: LinearSetting, unit: float) -> Rule:
        """Return steps of (1): the objective here is (1)'s divided by C n."""
        return InverseTime(0.5 / setting.regularization)


class PublishedMLNG(MetricLearner):
    """MLNG by the algorithm of its source, for reproduction; made by :meth:`MLNG.as_published`.

    Minimises ½‖W‖²_F + C Σ_i L_i over metrics W by projected stochastic subgradient steps of rate
    1/t from zeros or the ReliefF diagonal, with exact inference over all rows at every step, until
    the mean loss of an epoch stops falling.

    Parameters
    ----------
    n_neighbors : int or None
        k; None follows the predictor the metric stands in, and is 5 where there is none.
    C : float or "auto"
        "auto" chooses on one split of 75 and 25 % of the rows.
    init : {"auto", "zeros", "relieff", "identity"}
        "auto" chooses between the first two with C.
    costs : array of shape (R, R) or None
    max_iter : int, default=50
        Epochs at most.
    random_state : int, RandomState or None
    verbose : int, default=0
    n_jobs : int or None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The factor of W.
    C_ : float
    init_ : str
    n_iter_ : int
    loss_curve_ : list of float
    settings_ : list of dict
        As of :class:`~vicinal.MLNG`.

    Notes
    -----
    Departures: exact inference instead of the printed greedy one, batches instead of single rows,
    one projection for several batches, the rate on the whole subgradient, and the ReliefF diagonal
    scaled to the margin.
    Time O(n² d) an epoch; memory is that of a block of rows.
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        C: Any = "auto",
        init: str = "auto",
        costs: Any = None,
        max_iter: int = 50,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.C = C
        self.init = init
        self.costs = costs
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1)."""
        C = check_auto("C", self.C, check_positive)
        options = self._options(rows)
        with one_blas_thread():
            framed = enter_frame(rows, make_frame(rows.X))
            problem = PublishedProblem(framed, options, C=C)
            learned = learn(problem, options.seed, self._watch, most_splits=1)
        self.init_ = learned.setting["init"]
        self.C_ = 0.5 / (learned.setting["regularization"] * rows.n_rows)
        self.settings_ = learned.tried
        self.loss_curve_, self.n_iter_ = learned.losses, len(learned.losses)
        return framed.frame.maps(learned.components.astype(rows.X.dtype, copy=False))

    def _options(self, rows: Rows) -> Options:
        check_choice("init", self.init, ("auto", "zeros", "relieff", "identity"))
        return Options(
            n_neighbors=usual_neighbors(self.n_neighbors, rows.n_rows - 1),
            n_components=None,
            solver="psd",
            init=self.init,
            regularizer="frobenius",
            regularization=None,
            costs=scale_costs(check_costs(self.costs, len(rows.classes.names))),
            learning_rate=1.0,
            max_iter=check_whole("max_iter", self.max_iter),
            tol=0.0,
            search="all",
            n_threads=thread_count(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _watch(self, progress: Progress) -> bool:
        if self.verbose:
            sys.stdout.write(f"[PublishedMLNG] {progress.describe()}\n")
            sys.stdout.flush()
        return False
