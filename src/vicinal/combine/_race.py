"""A race of learners on inner splits: who predicts held-out rows best, at what cost.

    candidates ─▶ begin each ─▶ maps without the first fold ─▶ score, CPU ─▶ leave out the worse
               ─▶ the next fold ─▶ … ─▶ Standing each, and means of the leaders, the chosen first

A candidate is fitted once: what it chooses on rows held out it chooses on the folds of the race,
for all of them and for the fit of all rows, which only the chosen comes to.

The two leaders go on; another learner is left out where the first one's score is better by more
than two standard errors of the difference on the same rows. A budget of CPU-seconds ends the race
before the next fit. The means of the metrics of the first two, three, … who ran to the end join
then: they cost no fit. The widest mean that is behind the lowest score by no more than the
standard error of their difference is chosen: what the race cannot tell apart is averaged.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any

from vicinal._lines import Lines
from vicinal._types import Fold
from vicinal.combine._members import (
    begin_member,
    can_be_averaged,
    fit_member,
    mean_of,
    prepare_member,
)
from vicinal.metric.held_out import CrossFit
from vicinal.metric.maps import Maps
from vicinal.metric.selection import (
    Entry,
    Fate,
    Score,
    drop_behind,
    first_within,
    judge_maps,
    race,
)
from vicinal.rows import Rows


@dataclass(eq=False)
class Standing(Entry[tuple[Any, ...]]):
    """A learner, or several to be averaged: fits begun, maps and scores of folds, their cost."""

    begun: tuple[CrossFit, ...] = ()
    maps: list[Maps] = field(default_factory=list)
    cpu_seconds: float = 0.0

    @property
    def note(self) -> str:
        """What people are told of its fate."""
        if self.fate is Fate.RUNNING:
            return ""
        return f"{'not tried' if self.fate is Fate.UNTRIED else 'left out'}: {self.reason}"


@dataclass(frozen=True)
class Race:
    """What a race goes by: the k of the prediction, a seed, a budget (None: none)."""

    n_neighbors: int
    seed: int
    cpu_seconds: float | None
    n_threads: int
    lines: Lines

    def run(
        self, rows: Rows, candidates: Sequence[tuple[str, Any]], folds: Sequence[Fold]
    ) -> list[Standing]:
        """Return the standings of candidates and means: the chosen, then by their scores."""
        standings = [Standing(name, (estimator,)) for name, estimator in candidates]
        began = time.process_time()

        n_folds = 0
        for running, fold in race(standings, folds, partial(drop_behind, least=2)):
            if not self._play(running, rows, fold, folds, standings, began):
                break
            n_folds += 1
        self._close(standings, n_folds or min(1, len(folds)), bool(folds))
        means = self._means(standings, rows, folds[:n_folds])
        ranked = sorted([*standings, *means], key=order_of)
        widest_first = [entry for entry in (*reversed(means), ranked[0]) if entry.scores]
        chosen = first_within(widest_first, ranked[0]) if widest_first else ranked[0]
        return [chosen, *(standing for standing in ranked if standing is not chosen)]

    def _play(
        self,
        running: Sequence[Standing],
        rows: Rows,
        fold: Fold,
        folds: Sequence[Fold],
        standings: Sequence[Standing],
        began: float,
    ) -> bool:
        """Enter on a fold all who run; return whether the budget lasted."""
        for standing in running:
            if self._is_spent(began) and any(entry.scores for entry in standings):
                return False
            self._enter(standing, rows, fold, folds)
        return True

    def finish(self, standing: Standing, rows: Rows) -> list[Any]:
        """Return the learners of a standing fitted to all rows."""
        if standing.begun:
            return [begun.finish() for begun in standing.begun]
        return [fit_member(self._prepare(learner), rows) for learner in standing.candidate]

    def _prepare(self, estimator: Any) -> Any:
        return prepare_member(estimator, seed=self.seed, k=self.n_neighbors)

    def _is_spent(self, began: float) -> bool:
        return self.cpu_seconds is not None and time.process_time() - began > self.cpu_seconds

    def _enter(self, standing: Standing, rows: Rows, fold: Fold, folds: Sequence[Fold]) -> None:
        """Learn without a fold and score the maps. A learner that refuses the rows is out."""
        began = time.process_time()
        try:
            if not standing.begun:
                member = self._prepare(standing.candidate[0])
                standing.begun = (begin_member(member, rows, folds),)
            maps = standing.begun[0].without(fold)
        except ValueError as error:
            standing.out(Fate.REFUSED, str(error))
            return
        finally:
            standing.cpu_seconds += time.process_time() - began
        standing.maps.append(maps)
        standing.scores.append(self.judge(maps, rows, fold))
        spent = f"{standing.cpu_seconds:.1f} CPU-seconds"
        self.lines.say(f"{standing.name}: score {standing.score.mean:.4f}, {spent}")

    def judge(self, maps: Maps, rows: Rows, fold: Fold) -> Score:
        """Return the score of the held-out rows under some maps."""
        train, held = rows.take(fold.train), rows.take(fold.test)
        return judge_maps(maps, train, held, self.n_neighbors, n_threads=self.n_threads)

    def _close(self, standings: Sequence[Standing], n_folds: int, could_hold_out: bool) -> None:
        """Count each fold for all who finished it or none; name who was not tried."""
        for standing in standings:
            del standing.scores[n_folds:], standing.maps[n_folds:]
            if not standing.scores and standing.fate is Fate.RUNNING:
                why = "the budget was spent" if could_hold_out else "too few rows to hold any out"
                standing.out(Fate.UNTRIED, why)

    def _means(
        self, standings: Sequence[Standing], rows: Rows, folds: Sequence[Fold]
    ) -> list[Standing]:
        """Return the means of the first two, three, … who finished, while metrics have a mean."""
        finished = [s for s in sorted(standings, key=order_of) if 0 < len(s.scores) == len(folds)]
        leaders = list(takewhile(lambda s: can_be_averaged(s.maps[0]), finished))
        return [self._mean_of(leaders[:n], rows, folds) for n in range(2, len(leaders) + 1)]

    def _mean_of(self, leaders: Sequence[Standing], rows: Rows, folds: Sequence[Fold]) -> Standing:
        """Return the standing of the mean of some learners' metrics."""
        names = [standing.name for standing in leaders]
        mean = Standing(
            f"mean of {', '.join(names[:-1])} and {names[-1]}",
            tuple(standing.candidate[0] for standing in leaders),
            begun=tuple(standing.begun[0] for standing in leaders),
        )
        for number, fold in enumerate(folds):
            maps = mean_of([standing.maps[number] for standing in leaders], rows.X[fold.train])
            mean.maps.append(maps)
            mean.scores.append(self.judge(maps, rows, fold))
        return mean


def order_of(standing: Standing) -> tuple[int, float]:
    """Who ran on more splits comes first: the others were clearly behind, or not tried."""
    n_run = len(standing.scores)
    return -n_run, standing.value if n_run else 0.0
