"""AutoMetric: choose among learners on inner splits, and say why."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import thread_count
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import (
    check_at_least_two_classes,
    check_groups,
    check_neighbors,
    check_positive,
    check_target_input,
    check_weights,
)
from vicinal.combine._mean import MeanMetric, draw_seed
from vicinal.combine._members import (
    average,
    check_member,
    fit_member,
    has_linear_map,
    prepare_member,
)
from vicinal.combine._race import Race, Standing, Table
from vicinal.combine._target import Target, read_target
from vicinal.metric import MLNG, MetricLearner, RegressionMLNG, gradient_metric
from vicinal.rivals import LDA, LMNN, Euclidean

# The k of a choice that is not told one and stands in no predictor.
USUAL_NEIGHBORS = 5


class AutoMetric(MetricLearner):
    """Fit the learner that predicts held-out rows best.

    All candidates are fitted on inner splits of at most 5,000 rows, and judged by the k-NN
    prediction of the rows held out. Those behind the leader by more than the noise of the
    difference drop out after each split. The mean of the two best metrics is a candidate, too. The
    best is then fitted on all rows.

    Parameters
    ----------
    candidates : dict of str to learner, list of learners, or None
        None is Euclidean, LDA, the gradient metric for the target (EJOP or EGOP), LMNN, MLNG and
        the mean of several MLNG; for numbers, Euclidean, EGOP and RegressionMLNG.
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
    metric_ : fitted learner, or a list of two whose metrics are averaged
    components_ : ndarray of shape (n_components, n_features)
        Where the chosen metric is linear.
    best_ : str
        Its name among the candidates.
    leaderboard_ : list of dict
        A row a candidate, best first: name, score (of held-out rows: the error plus a quarter of
        the share of wrong neighbours, or the mean squared error), behind (how much it is behind
        the best), noise (the standard error of that difference), n_splits, cpu_seconds and note.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA, AutoMetric, Euclidean
    >>> X, y = load_wine(return_X_y=True)
    >>> metric = AutoMetric({"plain": Euclidean(), "lda": LDA()}, random_state=0).fit(X, y)
    >>> metric.best_
    'lda'
    """

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
        self, X: AnyArray, y: AnyArray, sample_weight: Any = None, groups: Any = None
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
        X, y = check_target_input(self, X, y)
        target = read_target(y, self.task)
        if target.classes is not None:
            check_at_least_two_classes(self, target.classes)
            self.classes_ = target.classes
        weights, groups = check_weights(sample_weight, len(y)), check_groups(groups, len(y))
        table = Table(X, y, target, weights, groups)
        race = self._race(len(X))
        standings = race.run(table, self._candidates(target))
        if all(standing.note.startswith("left out") for standing in standings):
            notes = "; ".join(f"{standing.name} {standing.note}" for standing in standings)
            raise ValueError(f"no candidate could be fitted: {notes}")
        self.leaderboard_ = [row_of(standing, standings[0]) for standing in standings]
        self.best_ = standings[0].name
        self._fit_best(standings[0], table, race)
        return self

    def _fit_best(self, best: Standing, table: Table, race: Race) -> None:
        """Fit the winner, or both members of a winning mean, on all rows."""
        learners = best.estimator if isinstance(best.estimator, tuple) else (best.estimator,)
        fits = []
        for learner in learners:
            member = prepare_member(learner, seed=race.seed, k=race.n_neighbors)
            fits.append(fit_member(member, table.X, table.y, table.weights))
        self.metric_: Any = fits if len(fits) > 1 else fits[0]
        self.__dict__.pop("components_", None)  # of an earlier fit
        if len(fits) > 1:
            self.components_ = average(fits, table.X).astype(table.X.dtype, copy=False)
        elif has_linear_map(fits[0]):
            self.components_ = np.asarray(fits[0].components_, dtype=table.X.dtype)

    def _race(self, n_rows: int) -> Race:
        k = USUAL_NEIGHBORS if self.n_neighbors is None else self.n_neighbors
        budget = self.cpu_seconds
        return Race(
            n_neighbors=check_neighbors(k if self.n_neighbors else min(k, n_rows - 1), n_rows - 1),
            seed=draw_seed(check_random_state(self.random_state)),
            cpu_seconds=None if budget is None else check_positive("cpu_seconds", budget),
            n_threads=thread_count(self.n_jobs),
            report=self._report,
        )

    def _candidates(self, target: Target) -> list[tuple[str, Any]]:
        """Return the candidates by name."""
        given = self.candidates
        if given is None:
            return default_candidates(target)
        if isinstance(given, Mapping):
            named = list(given.items())
        elif isinstance(given, Sequence) and not isinstance(given, str):
            kinds = [type(learner).__name__ for learner in given]
            named = [
                (kind if kinds.count(kind) == 1 else f"{kind} {place}", learner)
                for place, (kind, learner) in enumerate(zip(kinds, given, strict=True))
            ]
        else:
            raise ValueError(
                f"candidates must be a dict or a list of metric learners, got {given!r}."
            )
        if not named:
            raise ValueError("candidates are empty: give at least one metric learner, or None.")
        for name, learner in named:
            check_member(learner, f"candidate {name!r}")
        return named

    def transform(self, X: AnyArray) -> FloatArray:
        """Map database points by the chosen metric."""
        if hasattr(self, "metric_") and not hasattr(self, "components_"):
            mapped: FloatArray = self.metric_.transform(X)
            return mapped
        return super().transform(X)

    def transform_queries(self, X: AnyArray) -> FloatArray:
        """Map queries by the chosen metric."""
        if hasattr(self, "metric_") and not hasattr(self, "components_"):
            mapped: FloatArray = self.metric_.transform_queries(X)
            return mapped
        return super().transform_queries(X)

    def _report(self, line: str) -> None:
        if self.verbose:
            sys.stdout.write(f"[AutoMetric] {line}\n")
            sys.stdout.flush()


def default_candidates(target: Target) -> list[tuple[str, Any]]:
    """Return the learners to try on classes or on numbers, the cheapest first."""
    if target.classes is None:
        return [
            ("euclidean", Euclidean()),
            ("egop", gradient_metric(target.values)),
            ("mlng", RegressionMLNG()),
        ]
    gradients = gradient_metric(target.classes[target.codes])
    return [
        ("euclidean", Euclidean()),
        ("lda", LDA()),
        ("mlng", MLNG()),
        ("lmnn", LMNN()),
        (type(gradients).__name__.lower(), gradients),
        ("mlng-mean", MeanMetric(MLNG())),
    ]


def row_of(standing: Standing, best: Standing) -> dict[str, Any]:
    """Return a row of the leaderboard."""
    known = bool(standing.scores)
    behind, noise = standing.behind(best) if known else (None, None)
    return {
        "name": standing.name,
        "score": standing.score.mean if known else None,
        "behind": behind,
        "noise": noise,
        "n_splits": len(standing.scores),
        "cpu_seconds": standing.cpu_seconds,
        "note": standing.note,
    }
