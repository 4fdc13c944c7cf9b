"""Choosing settings on an inner split of the training rows: successive halving over trials.

Every trial is a descent that can be continued. All trials walk a few epochs, the better part goes
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
    """A setting, its descents (one a split), and the mean score after each epoch (0: before)."""

    setting: Any
    descents: list[Descent]
    scores: list[float] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        """How many epochs have been walked."""
        return self.descents[0].epoch

    @property
    def best_epoch(self) -> int:
        """The epoch with the lowest score; the earliest of equals."""
        return int(np.argmin(self.scores))

    @property
    def best_score(self) -> float:
        """The lowest score."""
        return min(self.scores)

    def score(self, judges: Sequence[Judge]) -> None:
        """Record the mean of the splits' scores at the present parameters."""
        pairs = zip(judges, self.descents, strict=True)
        self.scores.append(float(np.mean([judge(descent) for judge, descent in pairs])))

    def run(self, judges: Sequence[Judge], until: int, patience: int) -> None:
        """Continue to epoch ``until``, or until ``patience`` epochs brought nothing."""
        if not self.scores:
            self.score(judges)
        while self.epoch < until and self.epoch - self.best_epoch < patience:
            for descent in self.descents:
                descent.advance()
            self.score(judges)


def successive_halving(
    trials: Sequence[Trial],
    judges: Sequence[Judge],
    rungs: Sequence[int],
    *,
    keep: float = 1 / 3,
    patience: int = 1000,
    report: Callable[[Trial], None] | None = None,
) -> Trial:
    """Return the winner of trials that are thinned to a share ``keep`` at each rung of epochs.

    Equal scores: the trial named first, so a simpler setting should come first.
    """
    alive = list(trials)
    for n, until in enumerate(rungs):
        for trial in alive:
            trial.run(judges, until, patience)
            if report is not None:
                report(trial)
        alive = sorted(alive, key=lambda trial: trial.best_score)
        if n + 1 < len(rungs):
            alive = alive[: max(1, int(np.ceil(keep * len(alive))))]
    return alive[0]


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
