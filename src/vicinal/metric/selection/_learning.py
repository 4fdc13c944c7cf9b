"""From a problem to a learned map: choose what is open on inner splits, then fit all rows.

    settings ─▶ Trial each (a descent a split) ─▶ to epoch E/8 ─▶ half ─▶ E/4 ─▶ half ─▶ … ─▶ E
                                                                                      │
    Learned ◀─ a descent on all rows ◀─ Choice: the setting of lowest score, its epoch ◀┘

Scores are those of held-out rows, and those of neighbouring epochs are meaned in the end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from vicinal._types import FloatArray
from vicinal.metric.descent import Descent, Problem, Progress, Setting, Watch
from vicinal.metric.selection._race import Entry, Score, halve, race
from vicinal.rows import FOLDS, Rows, inner_splits

# Settings that are averaged with the best at most: each is one more fit.
MOST_LEVEL = 3


@dataclass(eq=False)
class Trial(Entry[Setting]):
    """A setting, its descents (one a split), and the score after each epoch it was asked for."""

    descents: list[Descent] = field(default_factory=list)

    def run(self, splits: Sequence[tuple[Problem, Rows]], until: int) -> None:
        """Walk to an epoch, scoring the start and after each."""
        while len(self.scores) <= until:
            scores = []
            for (problem, held), descent in zip(splits, self.descents, strict=True):
                if self.scores:
                    descent.advance()
                scores.append(Score(problem.score(descent.components, held), held.weights))
            self.scores.append(Score.pool(scores))

    @property
    def means(self) -> list[float]:
        """The mean score after each epoch."""
        return [score.mean for score in self.scores]

    @property
    def value(self) -> float:
        """The lowest score so far."""
        return min(self.means)

    @property
    def steady(self) -> tuple[float, int]:
        """The lowest score and its epoch, half of each score being that of the epochs beside it.

        Maps of neighbouring epochs are nearly one, so that their mean score has less noise: the
        lowest of many single scores is luck in part.
        """
        padded = np.pad(self.means, 1, mode="edge")
        smooth = np.round((padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4, 12)
        best = int(np.argmin(smooth))
        # The start is kept unless what follows is better by more than chance.
        is_better = self.scores[0].is_behind(self.scores[best], by=1)
        return float(smooth[best]), best if is_better else 0

    def describe(self, chosen: bool) -> dict[str, Any]:
        """Return what was tried and what came of it."""
        score, epoch = self.steady
        return {
            **self.candidate.describe(),
            "epochs_tried": len(self.scores) - 1,
            "n_epochs": epoch,
            "scores": self.means,
            "score": score,
            "chosen": chosen,
        }


@dataclass(frozen=True)
class Choice:
    """The setting to fit with, the epoch to stop at, and all that was tried, in words.

    ``level`` are the further settings, with their epochs, that noise does not tell from it.
    """

    setting: Setting
    n_epochs: int
    tried: tuple[dict[str, Any], ...] = ()
    level: tuple[tuple[Setting, int], ...] = ()


def choose(
    splits: Sequence[tuple[Problem, Rows]],
    settings: Sequence[Setting],
    seed: int,
    watch: Watch,
    *,
    averages: bool = False,
) -> Choice:
    """Return the setting with the lowest inner score, and the epoch to stop at.

    With ``averages`` also the settings that noise does not tell from it. A true answer of the watch
    ends the search with what is known by then.
    """
    trials = [
        Trial(
            setting.label(),
            setting,
            descents=[problem.begin(setting, (seed, i)) for i, (problem, _) in enumerate(splits)],
        )
        for setting in settings
    ]
    n_epochs = trials[0].descents[0].n_epochs

    def walk_on(trial: Trial, until: int) -> bool:
        """Walk to an epoch and tell; return whether that was enough."""
        trial.run(splits, until)
        loss = trial.descents[0].losses[-1] if until else np.nan
        return watch(Progress("settings", trial.name, until, n_epochs, loss, trial.value))

    for running, until in race(trials, rungs(len(settings), n_epochs), halve):
        if any(walk_on(trial, until) for trial in running):
            break
    scored = [trial for trial in trials if trial.scores]
    best = min(scored, key=attrgetter("steady"))
    tried = tuple(trial.describe(trial is best) for trial in scored)
    level = level_with(best, scored) if averages else ()
    return Choice(best.candidate, best.steady[1], tried, level)


def level_with(best: Trial, trials: Sequence[Trial]) -> tuple[tuple[Setting, int], ...]:
    """Return the settings, and their epochs, that a standard error does not tell from the best.

    One a start, the better of its rates; no more than MOST_LEVEL, the lowest scores first.
    """
    lowest, starts, level = best.scores[best.steady[1]], [best.candidate.start], []
    for trial in sorted(trials, key=attrgetter("steady")):
        epoch = trial.steady[1]
        if trial.candidate.start not in starts and not trial.scores[epoch].is_behind(lowest, by=1):
            starts.append(trial.candidate.start)
            level.append((trial.candidate, epoch))
    return tuple(level[:MOST_LEVEL])


def rungs(n_settings: int, n_epochs: int) -> list[int]:
    """Return the epochs after which half of the trials go on: E, E/2, E/4, … ascending."""
    n_halvings = int(np.ceil(np.log2(max(1, n_settings))))
    return sorted({max(1, n_epochs // 2**h) for h in range(n_halvings + 1)})


@dataclass(frozen=True)
class Learned:
    """The map found, the values of its setting, the mean loss of each epoch, and all tried."""

    components: FloatArray
    setting: dict[str, Any]
    losses: list[float]
    tried: list[dict[str, Any]]


def learn(problem: Problem, seed: int, watch: Watch, *, most_splits: int = FOLDS) -> Learned:
    """Choose what was left open on inner splits, then fit all rows.

    A true answer of the watch ends the choice with the best setting so far, and the fit after one
    epoch with it.
    """
    stopped: list[bool] = []

    def watch_all(progress: Progress) -> bool:
        stopped.extend([True] * bool(watch(progress)))
        return bool(stopped)

    settings = problem.settings()
    splits = inner_splits(problem.rows, seed)[:most_splits] if len(settings) > 1 else []
    parts = [(problem.on(train), held) for train, held in splits]
    choice = None
    if parts:
        choice = choose(parts, settings, seed, watch_all, averages=problem.has_mean)
    setting = choice.setting if choice else settings[0]
    others = [walk(problem, each, until, seed) for each, until in (choice.level if choice else ())]
    descent = problem.begin(setting, (seed, 1 << 20))
    until = choice.n_epochs if choice else descent.n_epochs
    began, label = time.monotonic(), setting.label()
    while descent.epoch < until and not descent.is_done:
        loss = descent.advance()
        left = (time.monotonic() - began) / descent.epoch * (until - descent.epoch)
        if watch_all(Progress("fit", label, descent.epoch, until, loss, seconds_left=left)):
            break
    described = setting.describe()
    alone = {**described, "n_epochs": until, "chosen": True}
    tried = list(choice.tried) if choice else [alone]
    components = problem.mean([descent.components, *others]) if others else descent.components
    return Learned(components, described, descent.losses, tried)


def walk(problem: Problem, setting: Setting, until: int, seed: int) -> FloatArray:
    """Return the map that a setting leads to from all rows, after so many epochs."""
    descent = problem.begin(setting, (seed, 1 << 20))
    while descent.epoch < until and not descent.is_done:
        descent.advance()
    return descent.components
