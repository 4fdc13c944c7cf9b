"""From a problem to a learned map: choose what is open on inner splits, then fit all rows.

    settings ─▶ SettingTrial each (a descent a split) ─▶ epoch E/8 ─▶ half ─▶ E/4 ─▶ half ─▶ … ─▶ E
                                                                                                │
    Learned ◀─ a descent on all rows ◀─ SettingChoice: the setting of lowest score, its epoch ◀─┘

Scores are those of held-out rows, and those of neighbouring epochs are meaned in the end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from vicinal._types import FloatArray, Fold
from vicinal.metric.descent import Descent, DescentSetting, Problem, Progress, Watch
from vicinal.metric.selection._race import Entry, Score, halve, race
from vicinal.rows import FOLDS, Rows, inner_folds

# Settings that are averaged with the best at most: each is one more fit.
MOST_LEVEL = 3


@dataclass(eq=False)
class SettingTrial(Entry[DescentSetting]):
    """A setting, its descents (one a split), and the score after each epoch it was asked for.

    ``maps`` are those of the epochs that may yet be chosen, one a split: four epochs at most.
    """

    descents: list[Descent] = field(default_factory=list)
    maps: dict[int, list[FloatArray]] = field(default_factory=dict)

    def run(self, splits: Sequence[tuple[Problem, Rows]], until: int) -> None:
        """Walk to an epoch, scoring the start and after each."""
        while len(self.scores) <= until:
            scores = []
            for (problem, held), descent in zip(splits, self.descents, strict=True):
                if self.scores:
                    descent.advance()
                scores.append(Score(problem.score(descent.components, held), held.weights))
            self.scores.append(Score.pool(scores))
            self._remember([descent.components for descent in self.descents])

    def _remember(self, maps: list[FloatArray]) -> None:
        """Keep the maps of the start, of the last two epochs and of the steadiest before them."""
        last = len(self.scores) - 1
        self.maps[last] = maps  # every step makes new ones
        chosen = {0, last, max(0, last - 1), int(np.argmin(self._smooth[:last]))} if last else {0}
        self.maps = {epoch: kept for epoch, kept in self.maps.items() if epoch in chosen}

    @property
    def _smooth(self) -> FloatArray:
        """The mean scores, half of each being that of the epochs beside it."""
        padded = np.pad(self.means, 1, mode="edge")
        smooth: FloatArray = np.round((padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4, 12)
        return smooth

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
        smooth = self._smooth
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
class SettingChoice:
    """The setting to fit with, the epoch to stop at (None: the last), and what was tried, in words.

    ``level`` are the further settings, with their epochs, that noise does not tell from it.
    ``maps`` are what the setting, and each of these, had learned on every split by its epoch.
    """

    setting: DescentSetting
    n_epochs: int | None
    tried: tuple[dict[str, Any], ...] = ()
    level: tuple[tuple[DescentSetting, int], ...] = ()
    maps: tuple[list[FloatArray], ...] = ()


def choose(
    splits: Sequence[tuple[Problem, Rows]],
    settings: Sequence[DescentSetting],
    seed: int,
    watch: Watch,
    *,
    averages: bool = False,
) -> SettingChoice:
    """Return the setting with the lowest inner score, and the epoch to stop at.

    With ``averages`` also the settings that noise does not tell from it. A true answer of the watch
    ends the search with what is known by then.
    """
    trials = [
        SettingTrial(
            setting.label(),
            setting,
            descents=[problem.begin(setting, (seed, i)) for i, (problem, _) in enumerate(splits)],
        )
        for setting in settings
    ]
    n_epochs = trials[0].descents[0].n_epochs

    def walk_on(trial: SettingTrial, until: int) -> bool:
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
    others = level_with(best, scored) if averages else []
    level = tuple((trial.candidate, trial.steady[1]) for trial in others)
    maps = tuple(trial.maps[trial.steady[1]] for trial in (best, *others))
    return SettingChoice(best.candidate, best.steady[1], tried, level, maps)


def level_with(best: SettingTrial, trials: Sequence[SettingTrial]) -> list[SettingTrial]:
    """Return the trials that a standard error does not tell from the best.

    One a start, the better of its rates; no more than MOST_LEVEL, the lowest scores first.
    """
    lowest, starts = best.scores[best.steady[1]], [best.candidate.start]
    level: list[SettingTrial] = []
    for trial in sorted(trials, key=attrgetter("steady")):
        epoch = trial.steady[1]
        if trial.candidate.start not in starts and not trial.scores[epoch].is_behind(lowest, by=1):
            starts.append(trial.candidate.start)
            level.append(trial)
    return level[:MOST_LEVEL]


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


@dataclass(frozen=True)
class Plan:
    """A problem, what folds of its rows chose for it (none, where nothing was open), and a seed."""

    problem: Problem
    choice: SettingChoice
    seed: int
    watch: Watch
    folds: Sequence[Fold] = ()
    stopped: bool = False

    def learn(self) -> Learned:
        """Fit all rows; where the watch ended the choice, for one epoch."""
        problem, choice = self.problem, self.choice
        setting, label = choice.setting, choice.setting.label()
        others = self._others(problem, FINAL)
        descent = problem.begin(setting, (self.seed, FINAL))
        until = descent.n_epochs if choice.n_epochs is None else choice.n_epochs
        began, stop = time.monotonic(), self.stopped
        while descent.epoch < until and not descent.is_done:
            loss = descent.advance()
            left = (time.monotonic() - began) / descent.epoch * (until - descent.epoch)
            progress = Progress("fit", label, descent.epoch, until, loss, seconds_left=left)
            stop |= bool(self.watch(progress))
            if stop:
                break
        described = setting.describe()
        tried = list(choice.tried) or [{**described, "n_epochs": until, "chosen": True}]
        components = problem.mean([descent.components, *others]) if others else descent.components
        return Learned(components, described, descent.losses, tried)

    def without(self, fold: Fold) -> FloatArray:
        """Return the map that the same settings lead to from the training part of a fold."""
        problem = self.problem.on(self.problem.rows.take(fold.train))
        judged = [number for number, each in enumerate(self.folds) if each is fold]
        if judged:
            alone, *others = [maps[judged[0]] for maps in self.choice.maps]
        else:
            number = int(fold.test[0])
            alone = walk(problem, self.choice.setting, self.choice.n_epochs, (self.seed, number))
            others = self._others(problem, number)
        return problem.mean([alone, *others]) if others else alone

    def _others(self, problem: Problem, number: int) -> list[FloatArray]:
        """Return the maps of the settings that are averaged with the chosen one."""
        seed = self.seed, number
        return [walk(problem, setting, until, seed) for setting, until in self.choice.level]


# What seeds the descent on all rows, beside those of splits, which are few.
FINAL = 1 << 20


def plan_fit(
    problem: Problem,
    seed: int,
    watch: Watch,
    *,
    folds: Sequence[Fold] | None = None,
    most_splits: int = FOLDS,
) -> Plan:
    """Choose what was left open on inner splits, or on the folds that are given.

    A true answer of the watch ends the choice with the best setting so far.
    """
    stopped: list[bool] = []

    def watch_all(progress: Progress) -> bool:
        stopped.extend([True] * bool(watch(progress)))
        return bool(stopped)

    rows, settings = problem.rows, problem.settings()
    if len(settings) > 1:
        folds = (inner_folds(rows, seed) if folds is None else folds)[:most_splits]
        held = [(rows.take(fold.train), rows.take(fold.test)) for fold in folds]
        parts = [(problem.on(train), test) for train, test in held]
        if parts:
            choice = choose(parts, settings, seed, watch_all, averages=problem.has_mean)
            return Plan(problem, choice, seed, watch, folds, bool(stopped))
    return Plan(problem, SettingChoice(settings[0], None), seed, watch)


def learn(problem: Problem, seed: int, watch: Watch, *, most_splits: int = FOLDS) -> Learned:
    """Choose what was left open on inner splits, then fit all rows.

    A true answer of the watch ends the choice with the best setting so far, and the fit after one
    epoch with it.
    """
    return plan_fit(problem, seed, watch, most_splits=most_splits).learn()


def walk(
    problem: Problem, setting: DescentSetting, until: int | None, seed: Sequence[int]
) -> FloatArray:
    """Return the map that a setting leads to, after so many epochs; None is all."""
    descent = problem.begin(setting, seed)
    until = descent.n_epochs if until is None else until
    while descent.epoch < until and not descent.is_done:
        descent.advance()
    return descent.components
