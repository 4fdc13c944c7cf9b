"""Which loss, ridge and move of documents: by held-out queries, the identity always among them.

losses ─▶ a path each, from the strongest ridge to the weakest, every map beginning at the last
             │  race: a path ends where it falls behind its own best (early stopping)
             ▼
the one whose smaller gain is largest ─▶ kept if the gain exceeds its standard error
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.selection import Entry, Fate, Score, race
from vicinal.search._setting import IDENTITY, AdapterSetting
from vicinal.search._splits import Split, pool_kinds


class AdapterTask(Protocol):
    """What is learned and how it is judged."""

    @property
    def splits(self) -> Sequence[Split]:
        """The inner splits."""

    def learn(
        self, asked: IntArray, setting: AdapterSetting, start: FloatArray | None
    ) -> FloatArray | None:
        """Return the map learned from some queries, on from another."""

    def score(self, split: Split, flat: FloatArray | None, setting: AdapterSetting) -> Score:
        """Return the losses of a split's held-out part."""


@dataclass(eq=False)
class RidgePath(Entry[AdapterSetting]):
    """A setting at one ridge after the other: maps of each split, and scores by question."""

    maps: list[FloatArray | None] = field(default_factory=list)
    settings: list[AdapterSetting] = field(default_factory=list)
    kinds: list[dict[str, Score]] = field(default_factory=list)

    def step(self, task: AdapterTask, setting: AdapterSetting) -> None:
        """Go on to the next ridge, and score it."""
        starts = self.maps or [None] * len(task.splits)
        self.maps = [
            task.learn(split.train, setting, start)
            for split, start in zip(task.splits, starts, strict=True)
        ]
        scores: dict[str, list[Score]] = {}
        for split, flat in zip(task.splits, self.maps, strict=True):
            scores.setdefault(split.kind, []).append(task.score(split, flat, setting))
        self.settings.append(setting)
        self.kinds.append({kind: Score.pool(parts) for kind, parts in scores.items()})
        self.scores.append(pool_kinds(self.kinds[-1]))


@dataclass(frozen=True)
class AdapterChoice:
    """The setting to fit with, and all that was tried, the chosen one first."""

    setting: AdapterSetting
    leaderboard: tuple[dict[str, Any], ...] = ()


def choose(
    task: AdapterTask,
    settings: Sequence[AdapterSetting],
    ridges: Sequence[float],
    say: Callable[[str], None] = lambda line: None,
) -> AdapterChoice:
    """Return the setting held-out queries are answered best with.

    Parameters
    ----------
    task : AdapterTask
        With a split at least.
    settings : sequence of AdapterSetting
        Each is tried at every ridge; one without a loss once.
    ridges : sequence of float
        Descending.
    say : callable
        Is told a line for each setting.
    """
    plain = RidgePath("identity", IDENTITY)
    plain.step(task, IDENTITY)
    paths = [RidgePath(setting.label(), setting) for setting in settings]

    for running, ridge in race(paths, ridges, _still_gaining):
        for path in running:
            path.step(task, _at(path.candidate, ridge))
            say(f"{path.settings[-1].label()}: {1 - path.scores[-1].mean:.4f}")
    return _decide(plain, paths)


def _at(setting: AdapterSetting, ridge: float) -> AdapterSetting:
    return setting if setting.loss is None else replace(setting, ridge=ridge)


def _still_gaining(paths: Sequence[RidgePath]) -> list[RidgePath]:
    """End paths whose last step is behind an earlier one by more than noise."""
    for path in paths:
        best = min(path.scores, key=lambda score: score.mean)
        if path.candidate.loss is None or path.scores[-1].is_behind(best, by=1):
            path.out(Fate.BEHIND, "a weaker ridge is no better")
    return [path for path in paths if path.fate is Fate.RUNNING]


def _decide(plain: RidgePath, paths: Sequence[RidgePath]) -> AdapterChoice:
    """Return the setting whose smaller gain is largest, or the identity where it may be chance.

    Of one question that is the lowest score. Of two it helps with both, or it is the identity.
    """
    steps = [
        (path.settings[i], path.scores[i], path.kinds[i])
        for path in paths
        for i in range(len(path.scores))
    ]
    first, base = plain.scores[0], plain.kinds[0]
    best = max(steps, key=lambda step: _smaller_gain(step[2], base), default=None)
    helps = best is not None and _smaller_gain(best[2], base) > 0
    chosen = best[0] if best is not None and helps and first.is_behind(best[1], by=1) else IDENTITY
    rows = [_row(IDENTITY, first, first, base, base, chosen)]
    rows += [_row(setting, score, first, kinds, base, chosen) for setting, score, kinds in steps]
    rows.sort(key=lambda row: (not row["chosen"], -row["smaller_gain"]))
    return AdapterChoice(chosen, tuple(rows))


def _smaller_gain(kinds: dict[str, Score], base: dict[str, Score]) -> float:
    """Return what is gained in the question that gains least."""
    return min(base[kind].mean - score.mean for kind, score in kinds.items())


def _row(
    setting: AdapterSetting, score: Score, first: Score, kinds: dict[str, Score],
    base: dict[str, Score], chosen: AdapterSetting,
) -> dict[str, Any]:  # fmt: skip
    gain, noise = first.behind(score)
    harmed = [kind for kind in kinds if kinds[kind].is_behind(base[kind], by=1)]
    return {
        "name": setting.label(),
        "loss": setting.loss,
        "ridge": setting.ridge if np.isfinite(setting.ridge) else None,
        "weight": setting.weight,
        "score": 1 - score.mean,
        "gain": gain,
        "smaller_gain": _smaller_gain(kinds, base),
        "noise": noise,
        "chosen": setting == chosen,
        "note": f"harms held-out {' and '.join(harmed)}" if harmed else "",
    }
