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


@dataclass(eq=False)
class Trial(Entry[Setting]):
    """A setting, its descents (one a split), and the score after each epoch it was asked for."""

    descents: list[Descent] = field(default_factory=list)

    def run(self, splits: Sequence[tuple[Problem, Rows]], until: int) -> None:
        """Walk to an epoch, scoring after each."""
        while self.descents[0].epoch < until:
            scores = []
            for (problem, held), descent in zip(splits, self.descents, strict=True):
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
        smooth = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
        first = int(np.argmin(smooth))
        return float(smooth[first]), first + 1

    def describe(self, chosen: bool) -> dict[str, Any]:
        """Return what was tried and what came of it."""
        score, epoch = self.steady
        return {
            **self.candidate.describe(),
            "epochs_tried": len(self.scores),
            "n_epochs": epoch,
            "scores": self.means,
            "score": score,
            "chosen": chosen,
        }


@dataclass(frozen=True)
class Choice:
    """The setting to fit with, the epoch to stop at, and all that was tried, in words."""

    setting: Setting
    n_epochs: int
    tried: tuple[dict[str, Any], ...] = ()


def choose(
    splits: Sequence[tuple[Problem, Rows]],
    settings: Sequence[Setting],
    seed: int,
    watch: Watch,
) -> Choice:
    """Return the setting with the lowest inner score, and the epoch to stop at.

    A true answer of the watch ends the search with what is known by then.
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

    def play(running: Sequence[Trial], until: int) -> bool:
        for trial in running:
            trial.run(splits, until)
            loss = trial.descents[0].losses[-1]
            if watch(Progress("settings", trial.name, until, n_epochs, loss, trial.value)):
                return True
        return False

    race(trials, rungs(len(settings), n_epochs), play, halve)
    scored = [trial for trial in trials if trial.scores]
    best = min(scored, key=attrgetter("steady"))
    tried = tuple(trial.describe(trial is best) for trial in scored)
    return Choice(best.candidate, best.steady[1], tried)


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
    choice = choose(parts, settings, seed, watch_all) if parts else None
    setting = choice.setting if choice else settings[0]
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
    return Learned(descent.components, described, descent.losses, tried)
