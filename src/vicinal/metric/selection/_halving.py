"""Successive halving of settings: all walk a little way, the better half goes on, and so forth.

    settings ─▶ Trial each (a descent a split) ─▶ to epoch E/8 ─▶ half ─▶ E/4 ─▶ half ─▶ … ─▶ E
                                                                                      │
                     Choice: the setting with the lowest score, the epoch it had it at ◀┘

Scores are those of held-out rows, kept row by row, so that their noise is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vicinal.metric.descent import Descent, Problem, Progress, Setting, Watch
from vicinal.metric.selection._scores import Score


@dataclass
class Trial:
    """A setting, its descents (one a split), and the score after each epoch it was asked for."""

    setting: Setting
    splits: Sequence[tuple[Problem, Problem]]
    descents: list[Descent]
    scores: dict[int, Score] = field(default_factory=dict)

    def run(self, until: int) -> None:
        """Walk to an epoch, scoring after each."""
        while self.descents[0].epoch < until:
            for descent in self.descents:
                descent.advance()
            self.scores[self.descents[0].epoch] = self._score()

    def _score(self) -> Score:
        losses, weights = [], []
        for (train, held), descent in zip(self.splits, self.descents, strict=True):
            losses.append(train.score(descent.components, held))
            weights.append(np.ones(held.n_rows) if held.weights is None else held.weights)
        return Score(np.concatenate(losses), np.concatenate(weights))

    @property
    def best(self) -> Score:
        """The lowest score so far."""
        return min(self.scores.values(), key=lambda score: score.mean)

    @property
    def stop(self) -> int:
        """The epoch of the lowest score."""
        return min(self.scores, key=lambda epoch: self.scores[epoch].mean)

    def describe(self, chosen: bool) -> dict[str, Any]:
        """Return what was tried and what came of it."""
        return {
            **self.setting.describe(),
            "epochs_tried": max(self.scores, default=0),
            "n_epochs": self.stop,
            "scores": [score.mean for score in self.scores.values()],
            "score": self.best.mean,
            "chosen": chosen,
        }


@dataclass(frozen=True)
class Choice:
    """The setting to fit with, the epoch to stop at, and all that was tried, in words."""

    setting: Setting
    n_epochs: int
    tried: tuple[dict[str, Any], ...] = ()


def choose(
    splits: Sequence[tuple[Problem, Problem]],
    settings: Sequence[Setting],
    max_iter: int,
    seed: int,
    watch: Watch,
) -> Choice:
    """Return the setting with the lowest inner score, and the epoch to stop at.

    A true answer of the watch ends the search with what is known by then.
    """
    trials = [
        Trial(
            setting,
            splits,
            [train.begin(setting, (seed, place)) for place, (train, _) in enumerate(splits)],
        )
        for setting in settings
    ]
    running = list(trials)
    for until in rungs(len(settings), max_iter):
        for trial in running:
            trial.run(until)
            if watch(_progress(trial, max_iter)):
                return _choice(trials)
        running.sort(key=lambda trial: trial.best.mean)
        running = running[: -(-len(running) // 2)]
    return _choice(trials)


def rungs(n_settings: int, max_iter: int) -> list[int]:
    """Return the epochs after which half of the trials go on: E, E/2, E/4, … ascending."""
    n_halvings = int(np.ceil(np.log2(max(1, n_settings))))
    return sorted({max(1, max_iter // 2**h) for h in range(n_halvings + 1)})


def _choice(trials: Sequence[Trial]) -> Choice:
    best = min((trial for trial in trials if trial.scores), key=lambda trial: trial.best.mean)
    tried = tuple(trial.describe(trial is best) for trial in trials if trial.scores)
    return Choice(best.setting, best.stop, tried)


def _progress(trial: Trial, max_iter: int) -> Progress:
    descent = trial.descents[0]
    label, loss = trial.setting.label(), descent.losses[-1]
    return Progress("settings", label, descent.epoch, max_iter, loss, trial.best.mean)
