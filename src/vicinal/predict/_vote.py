"""The vote: how many neighbours, what each counts, and how both are chosen.

held-out rows, their 64 nearest ─┬─▶ learn_temperature ─▶ T of least surprise ─┐
                                 └─▶ a loss for every k ─▶ the largest k that ─┴─▶ Vote
                                     noise does not tell from the best
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import FloatArray
from vicinal.metric.held_out import HeldOut
from vicinal.metric.selection import Entry, Score, first_within
from vicinal.predict._ballots import Ballots
from vicinal.predict._votes import LEARNED, weigh_neighbors

# How far a soft vote reaches: what lies beyond hardly counts at any temperature of use.
REACH = 64
# k to choose from, up to the reach.
NEIGHBORS = (1, 2, 3, 5, 7, 9, 13, 17, 25, 35, 49, 64)
# Temperatures tried, in units of how much farther the farthest neighbours are than the nearest:
# at the least only the nearest counts, at the largest all count alike.
_TEMPERATURES = 2.0 ** np.arange(-9, 7)
_REFINEMENTS = 2


@dataclass(frozen=True)
class Vote:
    """k, what each of the k counts ("uniform", …, a function, or "learned"), and T if learned."""

    n_neighbors: int
    weights: Any = "uniform"
    temperature: float | None = None

    @property
    def is_soft(self) -> bool:
        """Whether weights are exp(−d / T)."""
        return self.temperature is not None

    def weigh(self, distances: FloatArray) -> FloatArray | None:
        """Return what each neighbour counts, (m, k), None where all count the same."""
        if self.temperature is None:
            return weigh_neighbors(self.weights, distances)
        return by_temperature(distances, self.temperature)

    def hold(self, ballots: Ballots, held: HeldOut) -> FloatArray:
        """Return the predictions for held-out rows."""
        k = self.n_neighbors
        near, distances = held.near[:, :k], held.distances[:, :k]
        return ballots.tally(near, self.weigh(distances), soft=self.is_soft)


def by_temperature(distances: FloatArray, temperature: float) -> FloatArray:
    """Return exp(−(d − d₁) / T), d₁ the distance of the nearest, so that one weight is 1."""
    weights: FloatArray = np.exp((distances[:, :1] - distances) / temperature)
    return weights


def learn_temperature(ballots: Ballots, held: HeldOut, weights: FloatArray | None = None) -> float:
    """Return T of the least mean surprise at held-out rows (m,), which may be weighed.

    Powers of two are tried first, then finer and finer steps around the best. Where all distances
    are equal every T gives the same vote, and T is 1.
    """
    k = held.near.shape[1]
    unit = float(np.mean(held.distances - held.distances[:, :1])) if len(held.rows) else 0.0
    if not unit > 0 or not np.isfinite(unit):
        return 1.0

    def mean_surprise(temperature: float) -> float:
        shares = Vote(k, LEARNED, temperature).hold(ballots, held)
        return Score(ballots.surprise(shares, held.rows), weights).mean

    best = least(mean_surprise, unit * _TEMPERATURES)
    step = 2.0
    for _ in range(_REFINEMENTS):
        step **= 1 / 3
        best = least(mean_surprise, best * step ** np.arange(-2.0, 3.0))
    return float(best)


def least(function: Callable[[float], float], values: FloatArray) -> float:
    """Return the value at which a function is least, the first of several."""
    return float(min(values.tolist(), key=function))


def choose_neighbors(
    ballots: Ballots, held: HeldOut, weighing: Any, row_weights: FloatArray | None = None
) -> int:
    """Return the most neighbours that a standard error does not tell from the best number.

    More neighbours are the smoother vote, whose noise on new rows is less.
    """
    most = held.near.shape[1]
    entries = []
    for k in sorted({min(k, most) for k in NEIGHBORS}):
        losses = ballots.losses(Vote(k, weighing).hold(ballots, held), held.rows)
        entries.append(Entry(f"{k} neighbours", k, [Score(losses, row_weights)]))
    best = min(entries, key=lambda entry: entry.value)
    return int(first_within(entries[::-1], best).candidate)
