"""Held-out votes: each row asked by the members that never saw its target.

    places (E, n, p), fold ─▶ 64 nearest of other folds ─▶ votes at a temperature ─▶ losses
                                                     └─▶ choose: temperature, and which half

The vote is the one that predicts: softmax(−d/T) over the nearest rows, found by the same search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._threads import thread_count
from vicinal._types import FloatArray, IntArray
from vicinal.metric.selection import Score
from vicinal.pairs import nearest_rows
from vicinal.rows import Classes, Target

# Neighbours that vote; those beyond weigh next to nothing.
NEIGHBORS = 64
# From a tenth of the distance the members were trained at to more than twice, each half as much
# again: a batch has fewer references than the database, so that its softmax is too wide or narrow.
TEMPERATURES = (0.1, 0.14, 0.2, 0.3, 0.45, 0.65, 1.0, 1.5, 2.2)
# Added to a share of zero, whose logarithm would be none.
SMALLEST = 1e-4


@dataclass(frozen=True)
class Neighborhoods:
    """Rows held out, and what their nearest rows say.

    Attributes
    ----------
    rows : int ndarray of shape (m,)
    distances, near : ndarrays of shape (m, k)
        To the nearest rows, and their numbers.
    heads : ndarray of shape (m, 1 + k) or None
        What the linear head says of the row and of each neighbour, for numbers.
    """

    rows: IntArray
    distances: FloatArray
    near: IntArray
    heads: FloatArray | None = None

    def votes(self, target: Target, temperature: float, weights: FloatArray | None) -> FloatArray:
        """Return the shares of classes (m, R), or the predicted numbers (m, 1)."""
        louder = np.exp((self.distances[:, :1] - self.distances) / temperature)
        if weights is not None:
            louder *= weights[self.near]
        louder /= louder.sum(axis=1, keepdims=True)
        if isinstance(target, Classes):
            shares = np.zeros((len(self.rows), len(target.names)))
            lines = np.arange(len(self.rows))[:, None]
            np.add.at(shares, (lines, target.codes[self.near]), louder)
            return shares
        values = target.values[self.near]
        if self.heads is None:
            return np.sum(louder * values, axis=1, keepdims=True)
        corrected = np.sum(louder * (values - self.heads[:, 1:]), axis=1)
        return (self.heads[:, 0] + corrected)[:, None]


def neighborhoods(
    places: FloatArray, members: IntArray, fold: IntArray, heads: FloatArray | None, cap: int
) -> Neighborhoods:
    """Return the nearest rows of those held out from some members.

    Parameters
    ----------
    places : float32 ndarray of shape (E, n, p)
    members : int ndarray
        Of which member e votes on fold e mod their number.
    fold : int ndarray of shape (n,)
    heads : ndarray of shape (E, n) or None
    cap : int
        Rows at most.
    """
    parts: list[tuple[Any, ...]] = []
    for f, member in enumerate(members):
        held = np.flatnonzero(fold == f)[: -(-cap // len(members))]
        others = np.flatnonzero(fold != f)
        if not len(held) or not len(others):
            continue
        database, queries = places[member][others], places[member][held]
        k = min(NEIGHBORS, len(others))
        near = others[nearest_rows(database, queries, k, n_threads=thread_count(None))]
        gaps = places[member][near] - queries[:, None]
        head = None if heads is None else heads[member][np.column_stack([held, near])]
        parts.append((held, np.sqrt(np.einsum("mkp,mkp->mk", gaps, gaps)), near, head))
    if not parts:
        return Neighborhoods(np.empty(0, np.int64), np.empty((0, 1)), np.empty((0, 1), np.int64))
    least = min(part[2].shape[1] for part in parts)
    return Neighborhoods(
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1][:, :least] for part in parts]),
        np.concatenate([part[2][:, :least] for part in parts]),
        None if heads is None else np.concatenate([part[3][:, : 1 + least] for part in parts]),
    )


def losses(votes: FloatArray, target: Target, rows: IntArray) -> FloatArray:
    """Return what rows lose by votes: −log of the own share, or the squared error; (m,)."""
    if isinstance(target, Classes):
        own = votes[np.arange(len(rows)), target.codes[rows]]
        surprise: FloatArray = -np.log(own + SMALLEST)
        return surprise
    errors: FloatArray = np.square(votes[:, 0] - target.values[rows])
    return errors


@dataclass(frozen=True)
class Choice:
    """A temperature, the halves that count, their votes (m, R) and what these lose."""

    temperature: float
    halves: tuple[int, ...]
    votes: FloatArray
    score: Score


def choose(halves: Sequence[Neighborhoods], target: Target, weights: FloatArray | None) -> Choice:
    """Return the temperature and halves whose votes lose least.

    Both halves count unless one alone is better by more than the noise of the difference.
    """
    rows = halves[0].rows
    own = None if weights is None else weights[rows]
    best: dict[tuple[int, ...], Choice] = {}
    sides = [(g,) for g in range(len(halves))] + [tuple(range(len(halves)))] * (len(halves) > 1)
    for temperature in TEMPERATURES:
        votes = [half.votes(target, temperature, weights) for half in halves]
        for side in sides:
            mean = np.mean([votes[g] for g in side], axis=0)
            score = Score(losses(mean, target, rows), own)
            if side not in best or score.mean < best[side].score.mean:
                best[side] = Choice(temperature, side, mean, score)
    least = min(best.values(), key=lambda choice: choice.score.mean)
    all_of_them = best[sides[-1]]
    return least if all_of_them.score.is_behind(least.score, by=1.0) else all_of_them
