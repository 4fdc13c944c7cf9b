"""The setting and the number of iterations of a learner that tells a listener of each iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from vicinal._types import FloatArray
from vicinal.metric.descent import FramedRows, Listener
from vicinal.metric.selection._judges import prediction_losses
from vicinal.metric.selection._race import Entry, Score
from vicinal.metric.starts import Start
from vicinal.rows import USUAL_NEIGHBORS, inner_splits

S = TypeVar("S")
# Iterations without a better held-out loss after which the search for the best one ends.
PATIENCE = 8

Learn = Callable[[FramedRows, S, Listener], FloatArray]
Judge = Callable[[FramedRows, FloatArray, FramedRows], FloatArray]


@dataclass(frozen=True)
class HeldOutChoice(Generic[S]):
    """The setting and the number of iterations held-out rows are predicted best with.

    ``tried`` maps each setting's label to its losses after every iteration; it is empty, and
    ``n_iter`` None, where there were too few rows to hold any out.
    """

    setting: S
    n_iter: int | None
    tried: dict[str, list[float]]


class Curve(Entry[S]):
    """A setting whose scores are those after each of its iterations."""

    @property
    def means(self) -> list[float]:
        """The mean score after each iteration."""
        return [score.mean for score in self.scores]

    @property
    def value(self) -> float:
        """The lowest of them."""
        return min(self.means)


def choose_by_votes(
    rows: FramedRows,
    settings: Sequence[S],
    learn: Learn[S],
    *,
    n_neighbors: int = USUAL_NEIGHBORS,
    seed: int = 0,
    n_threads: int = 1,
) -> HeldOutChoice[S]:
    """Choose by the vote of ``n_neighbors`` rows: see :func:`choose_held_out`."""

    def judge(train: FramedRows, components: FloatArray, held: FramedRows) -> FloatArray:
        database, queries = (part.X @ components.T for part in (train, held))
        targets = train.classes, held.classes
        return prediction_losses(database, queries, *targets, n_neighbors, n_threads=n_threads)

    return choose_held_out(rows, settings, learn, judge, seed=seed)


def choose_held_out(
    rows: FramedRows, settings: Sequence[S], learn: Learn[S], judge: Judge, *, seed: int
) -> HeldOutChoice[S]:
    """Return the setting with the lowest loss on inner splits, and the iteration that had it.

    Parameters
    ----------
    rows : FramedRows
    settings : sequence
        Anything ``learn`` understands.
    learn : callable
        Learns a map from rows at a setting, telling the listener of it after every iteration, or
        never where it has none.
    judge : callable
        The losses of held-out rows, the last argument, under a map learned from the first.
    seed : int
    """
    splits = [
        (train, held)
        for train, held in inner_splits(rows, seed)
        if train.n_rows > 1 and (train.labels is None or len(np.unique(train.labels)) > 1)
    ]
    if not splits:
        return HeldOutChoice(settings[0], None, {})

    entries = [Curve(_label(setting), setting) for setting in settings]
    for entry in entries:
        curves = [
            _held_out_curve(train, held, entry.candidate, learn, judge) for train, held in splits
        ]
        longest = max(map(len, curves))
        # A descent that ended stays where it is.
        longer = [curve + curve[-1:] * (longest - len(curve)) for curve in curves]
        entry.scores = [Score.pool(scores) for scores in zip(*longer, strict=True)]
    best = min(entries, key=lambda entry: entry.value)
    tried = {entry.name: entry.means for entry in entries}
    return HeldOutChoice(best.candidate, 1 + int(np.argmin(best.means)), tried)


def _held_out_curve(
    train: FramedRows, held: FramedRows, setting: S, learn: Learn[S], judge: Judge
) -> list[Score]:
    """Return the scores of held-out rows after each iteration of a descent on the others."""
    scores: list[Score] = []

    def listener(iteration: int, loss: float, components: FloatArray) -> bool:
        scores.append(Score(judge(train, components, held), held.weights))
        means = [score.mean for score in scores]
        return len(means) - 1 - int(np.argmin(means)) >= PATIENCE

    end = learn(train, setting, listener)
    return scores or [Score(judge(train, end, held), held.weights)]


def _label(setting: object) -> str:
    if isinstance(setting, Start):
        return setting.label()
    return "array" if isinstance(setting, np.ndarray) else str(setting)
