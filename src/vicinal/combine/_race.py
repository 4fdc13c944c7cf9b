"""A race of learners on inner splits: who predicts held-out rows best, at what cost.

    candidates ─▶ fit each on the first split ─▶ score, CPU ─▶ leave out the clearly worse
               ─▶ the next split ─▶ … ─▶ Standing each, and means of the leaders, the chosen first

The two leaders go on; another learner is left out where the first one's score is better by more
than two standard errors of the difference on the same rows. A budget of CPU-seconds ends the race
before the next fit. The means of the metrics of the first two, three, … who ran to the end join
then: they cost no fit. The widest mean that is behind the lowest score by no more than the
standard error of their difference is chosen: what the race cannot tell apart is averaged, for the
lowest of several noisy scores is luck in part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.combine._members import average, fit_member, has_linear_map, prepare_member
from vicinal.combine._target import Target
from vicinal.metric.candidates import nearest_rows
from vicinal.metric.selection import Score, inner_splits, vote_losses

# Standard errors by which a learner is clearly behind: less is as likely to be chance as not where
# several are compared with the best of them.
CLEARLY = 2.0


@dataclass(frozen=True)
class Table:
    """Rows, target, weights and groups, as inner splits see them."""

    X: AnyArray
    y: AnyArray
    target: Target
    weights: FloatArray | None = None
    groups: AnyArray | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.y)

    @property
    def labels(self) -> IntArray | None:
        """The classes of the rows; None for numbers."""
        return self.target.codes

    def take(self, rows: IntArray) -> Table:
        """Return some of the rows."""
        weights, groups = (
            None if part is None else part[rows] for part in (self.weights, self.groups)
        )
        return Table(self.X[rows], self.y[rows], self.target.take(rows), weights, groups)


@dataclass
class Standing:
    """What is known of a learner: fits and scores of the splits it ran on, and their cost."""

    name: str
    estimator: Any
    fits: list[Any] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    cpu_seconds: float = 0.0
    note: str = ""

    @property
    def score(self) -> Score:
        """The score over all splits it ran on."""
        return Score.pool(self.scores)

    def behind(self, leader: Standing) -> tuple[float, float]:
        """Return by how much the leader is better where both ran, and that figure's noise."""
        best = Score.pool(leader.scores[: len(self.scores)])
        return self.score.mean - best.mean, self.score.noise(best)


@dataclass(frozen=True)
class Race:
    """What a race goes by: the k of the prediction, a seed, a budget (None: none)."""

    n_neighbors: int
    seed: int
    cpu_seconds: float | None
    n_threads: int
    report: Callable[[str], None]

    def run(self, table: Table, candidates: Sequence[tuple[str, Any]]) -> list[Standing]:
        """Return the standings of candidates and means: the chosen, then by their scores."""
        standings = [Standing(name, estimator) for name, estimator in candidates]
        splits = inner_splits(table, self.seed)
        began, running = time.process_time(), list(standings)
        for n_done, (train, held) in enumerate(splits):
            for standing in running:
                if self._is_spent(began) and any(s.scores for s in standings):
                    return self._close(standings, n_done or 1, splits)
                self._enter(standing, train, held)
            running = self._thin(running, n_done + 1)
        return self._close(standings, len(splits), splits)

    def _is_spent(self, began: float) -> bool:
        return self.cpu_seconds is not None and time.process_time() - began > self.cpu_seconds

    def _enter(self, standing: Standing, train: Table, held: Table) -> None:
        """Fit a learner on a split and score it. One that refuses the rows is out."""
        began = time.process_time()
        member = prepare_member(standing.estimator, seed=self.seed, k=self.n_neighbors)
        try:
            fit_member(member, train.X, train.y, train.weights)
        except ValueError as error:
            standing.note = f"left out: {error}"
            return
        finally:
            standing.cpu_seconds += time.process_time() - began
        standing.fits.append(member)
        map_queries = getattr(member, "transform_queries", member.transform)
        standing.scores.append(
            self.judge(member.transform(train.X), map_queries(held.X), train, held)
        )
        spent = f"{standing.cpu_seconds:.1f} CPU-seconds"
        self.report(f"{standing.name}: score {standing.score.mean:.4f}, {spent}")

    def judge(self, database: FloatArray, queries: FloatArray, train: Table, held: Table) -> Score:
        """Return the score of the held-out rows: as for votes, or by the squared error."""
        database, queries = np.ascontiguousarray(database), np.ascontiguousarray(queries)
        known, asked, n_threads = train.target, held.target, self.n_threads
        if known.classes is not None and known.codes is not None and asked.codes is not None:
            costs = 1.0 - np.eye(len(known.classes))
            votes = database, queries, known.codes, asked.codes, costs, self.n_neighbors
            return Score(vote_losses(*votes, n_threads=n_threads), held.weights)
        assert known.values is not None
        k = min(self.n_neighbors, len(database))
        rows = nearest_rows(database, queries, k, n_threads=n_threads)
        return Score((known.values[rows].mean(axis=1) - asked.values) ** 2, held.weights)

    def _thin(self, running: Sequence[Standing], n_splits: int) -> list[Standing]:
        """Return the two leaders and who is not clearly behind the first; note the others."""
        entered = [standing for standing in running if len(standing.scores) == n_splits]
        entered.sort(key=lambda standing: standing.score.mean)
        for standing in entered[2:]:
            gap, noise = standing.behind(entered[0])
            if gap > CLEARLY * noise:
                standing.note = f"left out: behind {entered[0].name}"
        return [standing for standing in entered if not standing.note]

    def _close(
        self, standings: list[Standing], n_splits: int, splits: Sequence[tuple[Table, Table]]
    ) -> list[Standing]:
        """Return the standings in order, each split counted for all who finished it or none."""
        for standing in standings:
            del standing.scores[n_splits:], standing.fits[n_splits:]
            if not standing.scores and not standing.note:
                why = "the budget was spent" if splits else "too few rows to hold any out"
                standing.note = f"not tried: {why}"
        standings.sort(key=order_of)
        finished = [standing for standing in standings if 0 < len(standing.scores) == n_splits]
        linear = list(takewhile(lambda standing: has_linear_map(standing.fits[0]), finished))
        means = [self._mean_of(linear[:n], splits) for n in range(2, len(linear) + 1)]
        ranked = sorted([*standings, *means], key=order_of)
        chosen = _widest([ranked[0], *means])
        return [chosen, *(standing for standing in ranked if standing is not chosen)]

    def _mean_of(
        self, leaders: Sequence[Standing], splits: Sequence[tuple[Table, Table]]
    ) -> Standing:
        """Return the standing of the mean of some learners' metrics."""
        names = [standing.name for standing in leaders]
        name = f"mean of {', '.join(names[:-1])} and {names[-1]}"
        mean = Standing(name, tuple(standing.estimator for standing in leaders))
        for fits, (train, held) in zip(
            zip(*(s.fits for s in leaders), strict=True), splits, strict=False
        ):
            components = average(fits, train.X)
            database, queries = (part.X @ components.T for part in (train, held))
            mean.scores.append(self.judge(database, queries, train, held))
        return mean


def _widest(ascending: Sequence[Standing]) -> Standing:
    """Return the last of the first and wider and wider means that is not behind the first."""
    first = ascending[0]
    gaps = [standing.behind(first) for standing in ascending if standing.scores]
    near = [place for place, (gap, noise) in enumerate(gaps) if gap <= noise]
    return ascending[near[-1]] if near else first


def order_of(standing: Standing) -> tuple[int, float]:
    """Who ran on more splits comes first: the others were clearly behind, or not tried."""
    n_run = len(standing.scores)
    return -n_run, standing.score.mean if n_run else 0.0
