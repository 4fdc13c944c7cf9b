"""AutoMetric: choose among learners on inner splits, and say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._lines import Lines
from vicinal._threads import thread_count
from vicinal._types import AnyArray, FloatArray, Fold
from vicinal._validation import check_positive
from vicinal.combine._mean import draw_seed
from vicinal.combine._members import check_member, is_linear, mean_of
from vicinal.combine._race import Race, Standing, order_of
from vicinal.metric import (
    EGOP,
    EJOP,
    MLNG,
    BinaryEncoder,
    GradientWeights,
    MetricLearner,
    RegressionMLNG,
    ReliefF,
)
from vicinal.metric.held_out import CrossFit
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import Maps, SideBySideMaps
from vicinal.metric.selection import Fate
from vicinal.neural import NeuralMetric
from vicinal.rivals import LDA, MLKR, Euclidean
from vicinal.rows import (
    Classes,
    Rows,
    Target,
    check_at_least_two_classes,
    inner_folds,
    read_rows,
    usual_neighbors,
)


class AutoMetric(MetricLearner):
    """Fit the learner that predicts held-out rows best.

    All candidates learn from the training parts of inner folds of at most 5,000 rows, and are
    judged by the k-NN prediction of the rows held out. Those behind the leader by more than the
    noise of the difference drop out after each fold. Then the means of the metrics of the first
    two, three, … are judged, too, and of these the widest is taken that is behind the best by no
    more than the noise: what cannot be told apart is averaged (maps that are
    not linear by laying their vectors side by side). Only what is taken is then fitted on
    all rows; settings that a candidate chooses on rows held out it chooses once, on the same folds.

    Parameters
    ----------
    candidates : dict of str to learner, list of learners, or None
        None is Euclidean, LDA, the weights of ReliefF and of gradients, the gradient metric for the
        target (EJOP or EGOP) and MLNG; for numbers, Euclidean, the same weights, EGOP, MLKR and
        RegressionMLNG; for both the neural map, where torch is installed.
    n_neighbors : int or None
        k of the prediction, and of the candidates that leave theirs open. None follows the
        predictor the metric stands in, and is 5 where there is none.
    task : {"auto", "classification", "regression"}
        With "auto", words and at most 100 distinct whole numbers are classes.
    cpu_seconds : float or None
        No fit on an inner split is begun when so much has been spent. None sets no limit, so that
        the result does not depend on the speed of the machine.
    random_state : int, RandomState or None
    verbose : int, default=0
        1 prints a line for every fit on an inner split.
    n_jobs : int or None
        Threads of the search for neighbours.

    Attributes
    ----------
    metric_ : fitted learner, or a list of those whose metrics are averaged
    components_ : ndarray of shape (n_components, n_features)
        Where the chosen metric is linear.
    scales_ : list of float
        Where unlike metrics are averaged: what the vectors of each are multiplied by.
    best_ : str
        Its name among the candidates, or those of its members.
    leaderboard_ : list of dict
        A row a candidate or mean, the chosen first, then by score: name, score (of held-out rows:
        the error plus a quarter of the share of wrong neighbours, or the mean squared error),
        behind (how much it is behind the best), noise (the standard error of that difference),
        n_splits, cpu_seconds and note.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA, AutoMetric, Euclidean
    >>> X, y = load_wine(return_X_y=True)
    >>> metric = AutoMetric({"plain": Euclidean(), "lda": LDA()}, random_state=0).fit(X, y)
    >>> metric.best_
    'lda'
    """

    _task = "auto"
    _fits_distributed = True

    def __init__(
        self,
        candidates: Any = None,
        *,
        n_neighbors: int | None = None,
        task: str = "auto",
        cpu_seconds: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.candidates = candidates
        self.n_neighbors = n_neighbors
        self.task = task
        self.cpu_seconds = cpu_seconds
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(
        self, X: AnyArray, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> AutoMetric:
        """Choose a learner and fit it on all rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Classes or numbers.
        sample_weight : array-like of shape (n,) or None
            How much each held-out row counts; also passed to the learners that take weights.
        groups : array-like of shape (n,) or None
            Rows of one group are not parted by inner splits.
        """
        return self.fit_rows(self._read(X, y, sample_weight, groups))

    def _read(self, X: AnyArray, y: Any, sample_weight: Any = None, groups: Any = None) -> Rows:
        return read_rows(self, X, y, sample_weight, groups, task=self.task)

    def learn(self, rows: Rows) -> Maps:
        """Return the maps of the learner, or of the mean, that predicts held-out rows best."""
        race = self._race(rows.n_rows)
        chosen = self._choose(race, rows, inner_folds(rows, race.seed))
        return self._finish(race, chosen, rows)

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit: the race is run once, on the given folds, and its maps are those without."""
        rows = self.note_rows(rows)
        race = self._race(rows.n_rows)
        chosen = self._choose(race, rows, folds)
        by_fold = {int(fold.test[0]): maps for fold, maps in zip(folds, chosen.maps, strict=False)}

        def without(fold: Fold) -> Maps:
            maps = by_fold.get(int(fold.test[0]))
            if maps is not None:
                return maps
            # The budget was spent before this fold.
            parts = [begun.without(fold) for begun in chosen.begun]
            return parts[0] if len(parts) == 1 else mean_of(parts, rows.X[fold.train])

        def finish() -> AutoMetric:
            self._keep(self._finish(race, chosen, rows))
            return self

        return CrossFit(without, finish)

    def _choose(self, race: Race, rows: Rows, folds: Sequence[Fold]) -> Standing:
        """Return the learner, or the mean, that predicts held-out rows best."""
        if isinstance(rows.target, Classes):
            check_at_least_two_classes(self, rows.target.present())
        standings = race.run(rows, self._candidates(rows.target), folds)
        if all(standing.fate is Fate.REFUSED for standing in standings):
            notes = "; ".join(f"{standing.name} {standing.note}" for standing in standings)
            raise ValueError(f"no candidate could be fitted: {notes}")
        leader = min(standings, key=order_of)
        self.leaderboard_ = [row_of(standing, leader) for standing in standings]
        self.best_ = standings[0].name
        return standings[0]

    def _finish(self, race: Race, chosen: Standing, rows: Rows) -> Maps:
        """Return the maps of the chosen, fitted to all rows."""
        fits = race.finish(chosen, rows)
        self.metric_: Any = fits if len(fits) > 1 else fits[0]
        for name in ("components_", "scales_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if len(fits) == 1:
            return maps_of(fits[0])
        maps = mean_of([maps_of(fit) for fit in fits], rows.X)
        if isinstance(maps, SideBySideMaps):
            self.scales_ = list(maps.scales)
        return maps

    def forget_rows(self) -> None:
        """Drop the training rows that the chosen learners keep beside their maps."""
        for member in self.metric_ if isinstance(self.metric_, list) else [self.metric_]:
            if isinstance(member, MetricLearner):
                member.forget_rows()

    def _keep(self, maps: Maps) -> None:
        if is_linear(maps):
            super()._keep(maps)

    @property
    def maps_(self) -> Maps:
        """Those of the chosen metric, or of the mean."""
        check_is_fitted(self, "metric_")
        if not isinstance(self.metric_, list):
            return maps_of(self.metric_)
        if "scales_" not in vars(self):
            return super().maps_
        return SideBySideMaps(tuple(map(maps_of, self.metric_)), tuple(self.scales_))

    @property
    def feature_relevance_(self) -> FloatArray:
        """That of the chosen metric; where unlike metrics are averaged, the mean of theirs."""
        check_is_fitted(self, "metric_")
        if isinstance(self.metric_, list) and "scales_" not in vars(self):
            return super().feature_relevance_
        members = self.metric_ if isinstance(self.metric_, list) else [self.metric_]
        if not all(isinstance(member, MetricLearner) for member in members):
            raise AttributeError(f"{self.best_} has no feature_relevance_.")
        shares: FloatArray = np.mean([each.feature_relevance_ for each in members], axis=0)
        return shares

    def _race(self, n_rows: int) -> Race:
        budget = self.cpu_seconds
        return Race(
            n_neighbors=usual_neighbors(self.n_neighbors, n_rows - 1),
            seed=draw_seed(check_random_state(self.random_state)),
            cpu_seconds=None if budget is None else check_positive("cpu_seconds", budget),
            n_threads=thread_count(self.n_jobs),
            lines=Lines("AutoMetric", self.verbose),
        )

    def _candidates(self, target: Target | None) -> list[tuple[str, Any]]:
        """Return the candidates by name."""
        candidates = self.candidates
        if candidates is None:
            return default_candidates(target)
        if isinstance(candidates, Mapping):
            named = list(candidates.items())
        elif isinstance(candidates, Sequence) and not isinstance(candidates, str):
            kinds = [type(learner).__name__ for learner in candidates]
            named = [
                (kind if kinds.count(kind) == 1 else f"{kind} {place}", learner)
                for place, (kind, learner) in enumerate(zip(kinds, candidates, strict=True))
            ]
        else:
            raise ValueError(
                f"candidates must be a dict or a list of metric learners, got {candidates!r}."
            )
        if not named:
            raise ValueError("candidates are empty: give at least one metric learner, or None.")
        for name, learner in named:
            check_member(learner, f"candidate {name!r}")
        return named

    def transform(self, X: AnyArray) -> FloatArray:
        """Map database points by the chosen metric; codes as −½ and ½."""
        check_is_fitted(self, "metric_")
        if isinstance(self.metric_, BinaryEncoder):
            return self.metric_.transform(X)
        return super().transform(X)

    @property
    def _n_features_out(self) -> int:
        width = np.zeros((1, self.n_features_in_))
        return int(np.shape(self.maps_.queries(width))[1])


def default_candidates(target: Target | None) -> list[tuple[str, Any]]:
    """Return the learners to try on classes or on numbers, the cheapest first."""
    if not isinstance(target, Classes):
        return [
            ("euclidean", Euclidean()),
            ("relieff", ReliefF()),
            ("gradient-weights", GradientWeights()),
            ("egop", EGOP()),
            ("mlkr", MLKR()),
            ("mlng", RegressionMLNG()),
            *neural_candidates(),
        ]
    gradients = EJOP() if len(target.names) > 2 else EGOP()
    return [
        ("euclidean", Euclidean()),
        ("lda", LDA()),
        ("relieff", ReliefF()),
        ("gradient-weights", GradientWeights()),
        (type(gradients).__name__.lower(), gradients),
        ("mlng", MLNG()),
        *neural_candidates(),
    ]


def neural_candidates() -> list[tuple[str, Any]]:
    """Return the neural map, where there is torch to train it."""
    return [("neural", NeuralMetric())] if find_spec("torch") else []


def row_of(standing: Standing, best: Standing) -> dict[str, Any]:
    """Return a row of the leaderboard."""
    ran = bool(standing.scores)
    behind, noise = standing.behind(best) if ran else (None, None)
    return {
        "name": standing.name,
        "score": standing.score.mean if ran else None,
        "behind": behind,
        "noise": noise,
        "n_splits": len(standing.scores),
        "cpu_seconds": standing.cpu_seconds,
        "note": standing.note,
    }
