"""A race of learners on inner splits: who predicts held-out rows best, at what cost.

    candidates ─▶ fit each on the first split ─▶ score, CPU ─▶ leave out the clearly worse
               ─▶ the next split ─▶ … ─▶ Standing each, and means of the leaders, the chosen first

The two leaders go on; another learner is left out where the first one's score is better by more
than two standard errors of the difference on the same rows. A budget of CPU-seconds ends the race
before the next fit. The means of the metrics of the first two, three, … who ran to the end join
then: they cost no fit. The widest mean that is behind the lowest score by no more than the
standard error of their difference is chosen: what the race cannot tell apart is averaged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any

from vicinal.combine._members import average, fit_member, is_linear, prepare_member
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import Maps
from vicinal.metric.selection import Entry, Fate, drop_behind, first_within, judge_maps, race
from vicinal.rows import Rows, inner_splits


@dataclass(eq=False)
class Standing(Entry[tuple[Any, ...]]):
    """A learner, or several to be averaged: fits and scores of splits, and their cost."""

    fits: list[Any] = field(default_factory=list)
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
    report: Callable[[str], None]

    def run(self, rows: Rows, candidates: Sequence[tuple[str, Any]]) -> list[Standing]:
        """Return the standings of candidates and means: the chosen, then by their scores."""
        standings = [Standing(name, (estimator,)) for name, estimator in candidates]
        splits = inner_splits(rows, self.seed)
        began = time.process_time()

        n_splits = 0
        for running, split in race(standings, splits, partial(drop_behind, least=2)):
            if not self._play(running, split, standings, began):
                break
            n_splits += 1
        self._close(standings, n_splits or min(1, len(splits)), bool(splits))
        means = self._means(standings, splits[:n_splits])
        ranked = sorted([*standings, *means], key=order_of)
        widest_first = [entry for entry in (*reversed(means), ranked[0]) if entry.scores]
        chosen = first_within(widest_first, ranked[0]) if widest_first else ranked[0]
        return [chosen, *(standing for standing in ranked if standing is not chosen)]

    def _play(
        self,
        running: Sequence[Standing],
        split: tuple[Rows, Rows],
        standings: Sequence[Standing],
        began: float,
    ) -> bool:
        """Enter on a split all who run; return whether the budget lasted."""
        for standing in running:
            if self._is_spent(began) and any(entry.scores for entry in standings):
                return False
            self._enter(standing, *split)
        return True

    def _is_spent(self, began: float) -> bool:
        return self.cpu_seconds is not None and time.process_time() - began > self.cpu_seconds

    def _enter(self, standing: Standing, train: Rows, held: Rows) -> None:
        """Fit a learner on a split and score its maps. One that refuses the rows is out."""
        began = time.process_time()
        (estimator,) = standing.candidate
        member = prepare_member(estimator, seed=self.seed, k=self.n_neighbors)
        try:
            fit_member(member, train)
        except ValueError as error:
            standing.out(Fate.REFUSED, str(error))
            return
        finally:
            standing.cpu_seconds += time.process_time() - began
        standing.fits.append(member)
        standing.scores.append(self.judge(maps_of(member), train, held))
        spent = f"{standing.cpu_seconds:.1f} CPU-seconds"
        self.report(f"{standing.name}: score {standing.score.mean:.4f}, {spent}")

    def judge(self, maps: Maps, train: Rows, held: Rows) -> Any:
        """Return the score of the held-out rows under some maps."""
        return judge_maps(maps, train, held, self.n_neighbors, n_threads=self.n_threads)

    def _close(self, standings: Sequence[Standing], n_splits: int, could_hold_out: bool) -> None:
        """Count each split for all who finished it or none; name who was not tried."""
        for standing in standings:
            del standing.scores[n_splits:], standing.fits[n_splits:]
            if not standing.scores and standing.fate is Fate.RUNNING:
                why = "the budget was spent" if could_hold_out else "too few rows to hold any out"
                standing.out(Fate.UNTRIED, why)

    def _means(
        self, standings: Sequence[Standing], splits: Sequence[tuple[Rows, Rows]]
    ) -> list[Standing]:
        """Return the means of the first two, three, … learners that finished, while linear."""
        finished = [s for s in sorted(standings, key=order_of) if 0 < len(s.scores) == len(splits)]
        linear = list(takewhile(lambda s: is_linear(maps_of(s.fits[0])), finished))
        return [self._mean_of(linear[:n], splits) for n in range(2, len(linear) + 1)]

    def _mean_of(
        self, leaders: Sequence[Standing], splits: Sequence[tuple[Rows, Rows]]
    ) -> Standing:
        """Return the standing of the mean of some learners' metrics."""
        names = [standing.name for standing in leaders]
        name = f"mean of {', '.join(names[:-1])} and {names[-1]}"
        mean = Standing(name, tuple(standing.candidate[0] for standing in leaders))
        for number, (train, held) in enumerate(splits):
            maps = average([standing.fits[number] for standing in leaders], train.X)
            mean.scores.append(self.judge(maps, train, held))
        return mean


def order_of(standing: Standing) -> tuple[int, float]:
    """Who ran on more splits comes first: the others were clearly behind, or not tried."""
    n_run = len(standing.scores)
    return -n_run, standing.value if n_run else 0.0
