"""The algorithm of the source, to the letter where the letter is right."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread, thread_count
from vicinal._types import FloatArray
from vicinal._validation import check_auto, check_choice, check_costs, check_positive, check_whole
from vicinal.metric.descent import FramedRows, Progress, frame_rows, project_to_cone, watch_of
from vicinal.metric.gerrymander._published_descent import (
    GRID,
    PublishedDescent,
    Walk,
    mean_squared_distance,
    published_start,
)
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import prediction_losses
from vicinal.rows import Rows, inner_splits, usual_neighbors

INITS = ("auto", "zeros", "relieff", "identity")
INFERENCES = ("exact", "greedy")


@dataclass(frozen=True)
class PublishedSetting:
    """What one split chooses: a start and C, by the mean loss of the rows held out."""

    init: str
    C: float
    score: float = np.nan


class PublishedMLNG(MetricLearner):
    """MLNG by the algorithm of its source, for reproduction; made by :meth:`MLNG.as_published`.

    Minimises ½‖W‖²_F + C Σ_i L_i over metrics W by stochastic subgradient steps of rate 1/t, a row
    a step, from zeros or the ReliefF diagonal. h* and ĥ of a row are inferred over all rows afresh
    at its step, and W is projected on the cone of metrics, until the running average of the loss
    over an epoch no longer falls.

    Parameters
    ----------
    n_neighbors : int or None
        k; None follows the predictor the metric stands in, and is 5 where there is none.
    C : float or "auto"
        "auto" chooses on one split of 75 and 25 % of the rows.
    init : {"auto", "zeros", "relieff", "identity"}
        "auto" is the source's rule: the ReliefF diagonal where its distance is better than that of
        the features on the held-out quarter, else zeros.
    costs : array of shape (R, R) or None
    inference : {"exact", "greedy"}
        "exact" tries every number k' of rows of the wanted class, which the source gives as the
        intuition behind its algorithm; "greedy" is the algorithm it prints, which can miss the
        best set.
    reuse : int, default=1
        Steps that sets are kept for: with p, those of p rows are inferred at once.
    project_every : int, default=16
        Steps between projections; 1 is the source's.
    max_iter : int, default=50
        Epochs at most.
    random_state : int, RandomState or None
    verbose : int, default=0
    n_jobs : int or None
        Threads of ReliefF; the descent walks row after row in one.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The factor of W.
    C_ : float
    init_ : str
    n_iter_ : int
        Epochs walked over all rows.
    loss_curve_ : list of float
        Mean loss of each of them, every row's at its own step.
    settings_ : list of dict
        Every C tried on the split, with its score, the mean cost of held-out votes plus a quarter
        of the share of wrong neighbours, and which was chosen.

    Notes
    -----
    With rate 1/(t + 1) and V_t = t W_t / (C n) a step is V ← Π(V − ∂L_i/∂W): C is left in the
    margin alone. So a step takes a few products of the rows with a vector, time O(n d k + n R),
    and a projection O(d³); memory O(n d + d²), d being the rows where there are fewer of them.
    Departures: the rate on the whole subgradient, where the source prints it before the regulariser
    only; 1/(t + 1), since 1/t would forget the start; ½‖W‖²; one projection for several rows;
    rows drawn without replacement, an epoch at a time.

    References
    ----------
    Trivedi, McAllester and Shakhnarovich, "Discriminative metric learning by neighborhood
    gerrymandering", NIPS 2014 [trivedi2014].
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        C: Any = "auto",
        init: str = "auto",
        costs: Any = None,
        inference: str = "exact",
        reuse: int = 1,
        project_every: int = 16,
        max_iter: int = 50,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.C = C
        self.init = init
        self.costs = costs
        self.inference = inference
        self.reuse = reuse
        self.project_every = project_every
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map the published descent leads to."""
        C = check_auto("C", self.C, check_positive)
        check_whole("max_iter", self.max_iter)
        check_choice("init", self.init, INITS)
        check_choice("inference", self.inference, INFERENCES)
        how = Walk(
            n_neighbors=usual_neighbors(self.n_neighbors, rows.n_rows - 1),
            costs=check_costs(self.costs, len(rows.classes.names)).astype(np.float64),
            inference=self.inference,
            reuse=check_whole("reuse", self.reuse),
            project_every=check_whole("project_every", self.project_every),
        )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with one_blas_thread():  # products are small, and the result must not depend on threads
            trials = self._choose(rows, how, C, seed)
            best = min(trials, key=lambda each: each.score)
            framed = frame_rows(rows)
            descent = self._descend(rows, framed, how, best, seed)
        self.init_, self.C_ = best.init, best.C
        self.settings_ = [{**vars(each), "chosen": each is best} for each in trials]
        self.loss_curve_, self.n_iter_ = descent.losses, descent.epoch
        return framed.frame.maps(descent.factor.astype(rows.X.dtype, copy=False))

    def _choose(self, rows: Rows, how: Walk, C: float | None, seed: int) -> list[PublishedSetting]:
        """Return the settings tried on one split, with their scores; one where none is open."""
        size = rows.n_rows * mean_squared_distance(rows.X) ** 2
        weights = [weight / size for weight in GRID] if C is None else [C]
        init = "zeros" if self.init == "auto" else self.init
        splits = inner_splits(rows, seed)[:1] if self.init == "auto" or C is None else []
        if not splits:
            return [PublishedSetting(init, weights[len(weights) // 2])]
        ((train, held),) = splits
        framed = frame_rows(train)

        def score(factor: FloatArray) -> float:
            maps, k = framed.frame.maps(factor), how.n_neighbors
            mapped = maps.database(train.X), maps.queries(held.X)
            targets = train.classes, held.classes
            return float(prediction_losses(*mapped, *targets, k, costs=how.costs).mean())

        if self.init == "auto":
            plain, relief = (
                score(project_to_cone(self._start(name, train, framed))[1])
                for name in ("identity", "relieff")
            )
            init = "relieff" if relief < plain else "zeros"
        trials = [PublishedSetting(init, weight) for weight in weights]
        if len(trials) == 1:
            return trials
        ends = [self._descend(train, framed, how, each, seed, "settings") for each in trials]
        return [
            replace(each, score=score(end.factor)) for each, end in zip(trials, ends, strict=True)
        ]

    def _start(self, name: str, rows: Rows, framed: FramedRows) -> FloatArray:
        return published_start(name, rows, framed.frame, thread_count(self.n_jobs))

    def _descend(
        self,
        rows: Rows,
        framed: FramedRows,
        how: Walk,
        setting: PublishedSetting,
        seed: int,
        stage: str = "fit",
    ) -> PublishedDescent:
        """Return the descent of some rows at its end."""
        how = replace(how, n_neighbors=min(how.n_neighbors, rows.n_rows - 1))
        start, n_epochs = self._start(setting.init, rows, framed), int(self.max_iter)
        rng, began = np.random.default_rng(seed), time.monotonic()
        descent = PublishedDescent(framed, how, setting.C, start, n_epochs, rng)
        label, watch = f"{setting.init}, C {setting.C:.3g}", watch_of(self)
        while not descent.is_done:
            loss = descent.advance()
            left = (time.monotonic() - began) / descent.epoch * (n_epochs - descent.epoch)
            watch(Progress(stage, label, descent.epoch, n_epochs, loss, seconds_left=left))
        return descent
