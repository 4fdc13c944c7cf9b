"""Trials of settings, judged on held-out rows: the parts of successive halving.

A trial is a descent that can be continued. All trials walk a few epochs, the better part goes
on, and so forth; the winner is the trial with the lowest inner error, together with the
epoch it had it at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vicinal._kernels._vote import majority_vote
from vicinal._types import FloatArray, IntArray
from vicinal.index import ExactIndex
from vicinal.metric._optimiser import Descent

Judge = Callable[[Descent], float]


@dataclass
class Trial:
    """A setting, its descents (one a split), and their mean scores.

    ``scores[i]`` is the score after ``epochs[i]`` epochs, 0 being the start.
    """

    setting: Any
    descents: list[Descent]
    scores: list[float] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        """How many epochs have been walked."""
        return self.descents[0].epoch

    def last_good_epoch(self, tolerance: float) -> int:
        """Return the last epoch whose score is within a tolerance of the lowest.

        The rate falls to zero at the end, so an epoch cut short needs more than luck to be better.
        """
        good = np.flatnonzero(np.asarray(self.scores) <= self.best_score + tolerance)
        return self.epochs[good[-1]]

    @property
    def best_score(self) -> float:
        """The lowest score."""
        return min(self.scores)

    def score(self, judges: Sequence[Judge]) -> None:
        """Record the mean of the splits' scores at the present parameters."""
        pairs = zip(judges, self.descents, strict=True)
        self.scores.append(float(np.mean([judge(descent) for judge, descent in pairs])))
        self.epochs.append(self.epoch)

    def run(self, judges: Sequence[Judge], until: int, every: int = 1) -> None:
        """Continue to epoch ``until``, scoring every few epochs and at the end."""
        if not self.scores:
            self.score(judges)
        while self.epoch < until:
            for descent in self.descents:
                descent.advance()
            if self.epoch % every == 0 or self.epoch == until:
                self.score(judges)


def thin(trials: Sequence[Trial], keep: int) -> list[Trial]:
    """Return the ``keep`` trials with the lowest score; of equals, those named first."""
    return sorted(trials, key=lambda trial: trial.best_score)[:keep]


def vote_score(
    database: FloatArray,
    queries: FloatArray,
    codes: IntArray,
    wanted: IntArray,
    n_neighbors: int,
    costs: FloatArray,
    *,
    n_jobs: int | None = 1,
) -> tuple[float, float]:
    """Return the mean cost of the queries' votes and the share of wrong neighbours.

    The second moves with every single neighbour and tells settings with equal errors apart.
    """
    k = min(n_neighbors, len(database))
    _, indices = ExactIndex(database, n_jobs=n_jobs).query(queries, k)
    labels = codes[indices].astype(np.int64)
    voted = majority_vote(labels, len(costs))
    return float(costs[wanted, voted].mean()), float(np.mean(labels != wanted[:, None]))
