"""From a problem to a learned map: choose what is open on inner splits, then fit all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vicinal._types import FloatArray
from vicinal.metric.descent import Problem, Progress, Watch, walk
from vicinal.metric.selection import Choice, choose, inner_splits


@dataclass(frozen=True)
class Learned:
    """The map in the frame's coordinates and how it was found."""

    components: FloatArray
    choice: Choice
    losses: tuple[float, ...]


def learn(problem: Problem, max_iter: int, tol: float, seed: int, watch: Watch) -> Learned:
    """Choose what was left open on inner splits, then fit all rows.

    A true answer of the watch ends the choice with the best setting so far, and the fit after one
    epoch with it.
    """
    stopped: list[bool] = []

    def watch_all(progress: Progress) -> bool:
        stopped.extend([True] * bool(watch(progress)))
        return bool(stopped)

    settings = problem.settings()
    splits = inner_splits(problem, seed) if len(settings) > 1 else []
    choice = Choice(settings[0], max_iter)
    if splits:
        choice = choose(splits, settings, max_iter, seed, watch_all)
    descent = problem.begin(choice.setting, (seed, 1 << 20))
    walk(
        descent,
        choice.setting.label(),
        choice.n_epochs,
        lambda losses: losses[-1] <= tol,  # nothing is left to learn
        watch_all,
    )
    return Learned(descent.components, choice, tuple(descent.losses))


def settings_table(choice: Choice) -> list[dict[str, Any]]:
    """Return all that was tried; what was not left open stands alone."""
    described = {**choice.setting.describe(), "n_epochs": choice.n_epochs, "chosen": True}
    return list(choice.tried) or [described]
