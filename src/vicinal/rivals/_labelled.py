"""Rows with classes, and the choice among settings by the votes on rows held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.descent import Frame, make_frame
from vicinal.metric.selection import inner_splits, vote_losses
from vicinal.metric.starts import Start, start_map

S = TypeVar("S")
# Told of the map after every iteration; a true answer ends the descent.
Watch = Callable[[FloatArray], bool]
# Iterations without a better held-out score after which the search for the best one ends.
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

    def start(self, name: str, n_components: int | None, seed: int) -> FloatArray:
        """Return a named start (p, r) for these rows, in float64."""
        rng = np.random.default_rng(seed)
        start = Start(name, n_components)
        return start_map(start, self.X, self.labels, self.frame, rng).astype(np.float64)

    def vote_loss(self, components: FloatArray, held: LabelledRows, k: int) -> float:
        """Return the mean loss of held-out rows, voted on by these rows under a map."""
        costs = 1.0 - np.eye(int(max(self.labels.max(), held.labels.max())) + 1)
        database, queries = (np.ascontiguousarray(rows.X @ components.T) for rows in (self, held))
        losses = vote_losses(database, queries, self.labels, held.labels, costs, k)
        return float(losses.mean())


def frame_rows(X: AnyArray, codes: IntArray) -> LabelledRows:
    """Return rows about their mean, in float64, no wider than there are rows."""
    frame = make_frame(X, standardise=False)
    return LabelledRows(frame.enter(X.astype(np.float64, copy=False)), codes, frame)


@dataclass(frozen=True)
class VoteChoice(Generic[S]):
    """The setting and the number of iterations held-out rows are voted on best with.

    ``tried`` maps each setting's label to its scores after every iteration; it is empty where
    there were too few rows to hold any out.
    """

    setting: S
    n_iter: int | None
    tried: dict[str, list[float]]


def choose_by_votes(
    rows: LabelledRows,
    settings: Sequence[S],
    learn: Callable[[LabelledRows, S, Watch], FloatArray],
    *,
    n_neighbors: int = JUDGES,
    seed: int = 0,
) -> VoteChoice[S]:
    """Return the setting with the lowest loss on inner splits, and the iteration that had it.

    Parameters
    ----------
    rows : LabelledRows
    settings : sequence
        Anything ``learn`` understands; ``str`` of it is its label.
    learn : callable
        Learns a map from rows at a setting, telling the watch of it after every iteration, or
        never where it has none.
    n_neighbors : int
        Voters.
    seed : int
    """
    splits = inner_splits(rows, seed)
    if not splits:
        return VoteChoice(settings[0], None, {})
    curves = [_mean_curve(splits, setting, learn, n_neighbors) for setting in settings]
    best = int(np.argmin([min(curve) for curve in curves]))
    tried = {str(setting): curve for setting, curve in zip(settings, curves, strict=True)}
    return VoteChoice(settings[best], 1 + int(np.argmin(curves[best])), tried)


def _mean_curve(
    splits: Sequence[tuple[LabelledRows, LabelledRows]],
    setting: S,
    learn: Callable[[LabelledRows, S, Watch], FloatArray],
    n_neighbors: int,
) -> list[float]:
    """Return the mean over splits of the losses after each iteration."""
    curves = []
    for train, held in splits:
        if len(np.unique(train.labels)) < 2:
            continue
        curves.append(_held_out_curve(train, held, setting, learn, min(n_neighbors, train.n_rows)))
    if not curves:
        return [0.0]
    longest = max(map(len, curves))
    # A descent that ended stays where it is.
    return np.mean([c + c[-1:] * (longest - len(c)) for c in curves], axis=0).tolist()


def _held_out_curve(
    train: LabelledRows,
    held: LabelledRows,
    setting: S,
    learn: Callable[[LabelledRows, S, Watch], FloatArray],
    k: int,
) -> list[float]:
    losses: list[float] = []

    def watch(components: FloatArray) -> bool:
        losses.append(train.vote_loss(components, held, k))
        return len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE

    end = learn(train, setting, watch)
    return losses or [train.vote_loss(end, held, k)]
