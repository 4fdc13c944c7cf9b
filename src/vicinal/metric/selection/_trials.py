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
from vicinal.metric.candidates._nearest import nearest_rows
from vicinal.metric.descent._stochastic import Descent
from vicinal.metric.gerrymander._descents import learned_map

Judge = Callable[[FloatArray], float]


@dataclass
class Trial:
    """A setting, its descents (one a split), and their mean scores.

    ``scores[i]`` is the score after ``epochs[i]`` epochs, 0 being the start, and ``maps[i]`` the
    maps it was given for, one a split.
    """

    setting: Any
    descents: list[Descent]
    scores: list[float] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    maps: list[list[FloatArray]] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        """How many epochs have been walked."""
        return self.descents[0].epoch

    def good_places(self, tolerance: float) -> list[int]:
        """Return the places of the scores that are within a tolerance of the lowest."""
        good = np.asarray(self.scores) <= self.best_score + tolerance
        return [int(place) for place in np.flatnonzero(good)]

    @property
    def best_score(self) -> float:
        """The lowest score."""
        return min(self.scores)

    def score(self, judges: Sequence[Judge]) -> None:
        """Record the mean of the splits' scores under the present maps."""
        maps = [learned_map(descent) for descent in self.descents]
        pairs = zip(judges, maps, strict=True)
        self.scores.append(float(np.mean([judge(components) for judge, components in pairs])))
        self.epochs.append(self.epoch)
        self.maps.append(maps)

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
    n_threads: int = 1,
) -> tuple[float, float]:
    """Return the mean cost of the queries' votes and the share of wrong neighbours.

    The second moves with every single neighbour and tells settings with equal errors apart.
    """
    k = min(n_neighbors, len(database))
    labels = codes[nearest_rows(database, queries, k, n_threads=n_threads)].astype(np.int64)
    voted = majority_vote(labels, len(costs))
    return float(costs[wanted, voted].mean()), float(np.mean(labels != wanted[:, None]))
