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
from vicinal._types import AnyArray, FloatArray, IntArray
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
        if not isinstance(target, Classes):
            return self.answers(target, temperature, weights)[:, None]
        louder = self._louder(temperature, weights)
        m, R = len(self.rows), len(target.names)
        place = np.arange(m)[:, None] * R + target.codes[self.near]
        counts: AnyArray = np.bincount(place.ravel(), louder.ravel(), minlength=m * R)
        shares: FloatArray = counts.reshape(m, R)
        return shares

    def answers(self, target: Target, temperature: float, weights: FloatArray | None) -> FloatArray:
        """Return the shares of the rows' own classes, or the predicted numbers; (m,)."""
        louder = self._louder(temperature, weights)
        shares: FloatArray
        if isinstance(target, Classes):
            own = target.codes[self.near] == target.codes[self.rows][:, None]
            shares = np.sum(louder * own, axis=1)
            return shares
        values = target.values[self.near]
        if self.heads is None:
            shares = np.sum(louder * values, axis=1)
            return shares
        shares = self.heads[:, 0] + np.sum(louder * (values - self.heads[:, 1:]), axis=1)
        return shares

    def _louder(self, temperature: float, weights: FloatArray | None) -> FloatArray:
        louder: FloatArray = np.exp((self.distances[:, :1] - self.distances) / temperature)
        if weights is not None:
            louder *= weights[self.near]
        louder /= louder.sum(axis=1, keepdims=True)
        return louder


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
    most = max(part[2].shape[1] for part in parts)
    return Neighborhoods(
        np.concatenate([part[0] for part in parts]),
        np.concatenate([_filled(part[1], most, np.inf) for part in parts]),
        np.concatenate([_filled(part[2], most, 0) for part in parts]),
        None
        if heads is None
        else np.concatenate([_filled(part[3], 1 + most, 0) for part in parts]),
    )


def _filled(values: AnyArray, width: int, value: float) -> AnyArray:
    """Return an array (m, k) widened: who has fewer others hears infinitely far ones."""
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=value)


def losses(answers: FloatArray, target: Target, rows: IntArray) -> FloatArray:
    """Return what rows lose by answers (m,): −log of the own share, or the squared error; (m,)."""
    if isinstance(target, Classes):
        surprise: FloatArray = -np.log(answers + SMALLEST)
        return surprise
    errors: FloatArray = np.square(answers - target.values[rows])
    return errors


@dataclass(frozen=True)
class VoteChoice:
    """A temperature, the halves that count, their votes (m, R) and what these lose."""

    temperature: float
    halves: tuple[int, ...]
    votes: FloatArray
    score: Score


def choose(
    halves: Sequence[Neighborhoods], target: Target, weights: FloatArray | None
) -> VoteChoice:
    """Return the temperature and halves whose votes lose least.

    Both halves count unless one alone is better by more than the noise of the difference.
    """
    rows = halves[0].rows
    own = None if weights is None else weights[rows]
    best: dict[tuple[int, ...], tuple[Score, float]] = {}
    sides = [(g,) for g in range(len(halves))] + [tuple(range(len(halves)))] * (len(halves) > 1)
    for temperature in TEMPERATURES:
        answers = [half.answers(target, temperature, weights) for half in halves]
        for side in sides:
            mean = np.mean([answers[g] for g in side], axis=0)
            score = Score(losses(mean, target, rows), own)
            if side not in best or score.mean < best[side][0].mean:
                best[side] = score, temperature
    chosen, every = min(best, key=lambda side: best[side][0].mean), sides[-1]
    if not best[every][0].is_behind(best[chosen][0], by=1.0):
        chosen = every
    score, temperature = best[chosen]
    votes = np.mean([halves[g].votes(target, temperature, weights) for g in chosen], axis=0)
    return VoteChoice(temperature, chosen, votes, score)
