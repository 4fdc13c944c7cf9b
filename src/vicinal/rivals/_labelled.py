"""Rows with classes, and the choice among settings by rows held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.descent import Frame, Listener, Rows, make_frame
from vicinal.metric.selection import inner_splits, vote_losses
from vicinal.metric.starts import Start, start_map

R = TypeVar("R", bound=Rows)
S = TypeVar("S")
# Iterations without a better held-out loss after which the search for the best one ends.
PATIENCE = 8
# The votes that judge where the learner itself knows no k.
JUDGES = 3


@dataclass(frozen=True)
class LabelledRows:
    """Rows (n, r) in a frame, and their classes 0..R−1."""

    X: FloatArray
    labels: IntArray
    frame: Frame
    groups: None = None
    weights: None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    def take(self, rows: IntArray) -> LabelledRows:
        """Return some of the rows."""
        return replace(self, X=self.X[rows], labels=self.labels[rows])

    def start(self, start: Start, seed: int) -> FloatArray:
        """Return the map (p, r) a start names for these rows, in float64."""
        rng = np.random.default_rng(seed)
        return start_map(start, self.X, self.labels, self.frame, rng).astype(np.float64)

    def vote_loss(
        self, components: FloatArray, held: LabelledRows, k: int, n_threads: int = 1
    ) -> float:
        """Return the mean loss of held-out rows, voted on by these rows under a map."""
        costs = 1.0 - np.eye(int(max(self.labels.max(), held.labels.max())) + 1)
        database, queries = (np.ascontiguousarray(rows.X @ components.T) for rows in (self, held))
        losses = vote_losses(
            database, queries, self.labels, held.labels, costs, k, n_threads=n_threads
        )
        return float(losses.mean())


def frame_rows(X: AnyArray, codes: IntArray) -> LabelledRows:
    """Return rows about their mean, in float64, no wider than there are rows."""
    frame = make_frame(X, standardise=False)
    return LabelledRows(frame.enter(X.astype(np.float64, copy=False)), codes, frame)


@dataclass(frozen=True)
class HeldOutChoice(Generic[S]):
    """The setting and the number of iterations held-out rows are predicted best with.

    ``tried`` maps each setting's label to its losses after every iteration; it is empty, and
    ``n_iter`` None, where there were too few rows to hold any out.
    """

    setting: S
    n_iter: int | None
    tried: dict[str, list[float]]


def choose_by_votes(
    rows: LabelledRows,
    settings: Sequence[S],
    learn: Callable[[LabelledRows, S, Listener], FloatArray],
    *,
    n_neighbors: int = JUDGES,
    seed: int = 0,
    n_threads: int = 1,
) -> HeldOutChoice[S]:
    """Choose by the vote of ``n_neighbors`` rows: see :func:`choose_held_out`."""

    def judge(train: LabelledRows, components: FloatArray, held: LabelledRows) -> float:
        return train.vote_loss(components, held, min(n_neighbors, train.n_rows), n_threads)

    return choose_held_out(rows, settings, learn, judge, seed=seed)


def choose_held_out(
    rows: R,
    settings: Sequence[S],
    learn: Callable[[R, S, Listener], FloatArray],
    judge: Callable[[R, FloatArray, R], float],
    *,
    seed: int,
) -> HeldOutChoice[S]:
    """Return the setting with the lowest loss on inner splits, and the iteration that had it.

    Parameters
    ----------
    rows : Rows
    settings : sequence
        Anything ``learn`` understands.
    learn : callable
        Learns a map from rows at a setting, telling the listener of it after every iteration, or
        never where it has none.
    judge : callable
        The loss of held-out rows, the last argument, under a map learned from the first.
    seed : int
    """
    splits = [
        (train, held)
        for train, held in inner_splits(rows, seed)
        if train.n_rows > 1 and (train.labels is None or len(np.unique(train.labels)) > 1)
    ]
    if not splits:
        return HeldOutChoice(settings[0], None, {})

    def curve(setting: S) -> list[float]:
        curves = [_held_out_curve(train, held, setting, learn, judge) for train, held in splits]
        longest = max(map(len, curves))
        # A descent that ended stays where it is.
        return np.mean([c + c[-1:] * (longest - len(c)) for c in curves], axis=0).tolist()

    curves = [curve(setting) for setting in settings]
    best = int(np.argmin([min(curve) for curve in curves]))
    tried = dict(zip(map(_label, settings), curves, strict=True))
    return HeldOutChoice(settings[best], 1 + int(np.argmin(curves[best])), tried)


def _held_out_curve(
    train: R,
    held: R,
    setting: S,
    learn: Callable[[R, S, Listener], FloatArray],
    judge: Callable[[R, FloatArray, R], float],
) -> list[float]:
    """Return the losses of held-out rows after each iteration of a descent on the others."""
    losses: list[float] = []

    def listener(iteration: int, loss: float, components: FloatArray) -> bool:
        losses.append(judge(train, components, held))
        return len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE

    end = learn(train, setting, listener)
    return losses or [judge(train, end, held)]


def _label(setting: object) -> str:
    if isinstance(setting, Start):
        return setting.label()
    return "array" if isinstance(setting, np.ndarray) else str(setting)
