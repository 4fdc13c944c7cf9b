"""The mean of votes: where a metric is the mean of several, each part of it votes alone.

    maps side by side ─▶ each alone ─▶ its neighbours, its temperature ─▶ its vote ─┐
                                                              their mean, a head ◀──┘

In the common space a row is near where it is near under the mean of the metrics; the mean of votes
also hears rows that are near under one of them alone. Held-out rows say whether it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, Fold
from vicinal.index import ExactIndex
from vicinal.metric.maps import Maps, SideBySideMaps
from vicinal.predict._ballots import Ballots
from vicinal.predict._held_out import look_at_folds
from vicinal.predict._vote import Vote, learn_temperature
from vicinal.predict._votes import LEARNED


@dataclass(frozen=True)
class PartVotes:
    """The columns of each part of mapped rows, (s + 1,) ends, and the temperature of its vote."""

    ends: tuple[int, ...]
    temperatures: tuple[float, ...]

    def columns(self) -> list[slice]:
        """Return the columns of each part."""
        return [slice(*pair) for pair in zip(self.ends[:-1], self.ends[1:], strict=True)]

    def index(self, vectors: AnyArray, n_jobs: int | None) -> list[ExactIndex]:
        """Return an index a part of mapped rows (n, p)."""
        return [
            ExactIndex(np.ascontiguousarray(vectors[:, part]), n_jobs=n_jobs)
            for part in self.columns()
        ]

    def ask(
        self, indexes: Sequence[ExactIndex], queries: AnyArray, ballots: Ballots, k: int
    ) -> FloatArray:
        """Return the mean of the votes on mapped queries (m, p), of k rows a part."""
        votes = []
        sides = zip(self.columns(), indexes, self.temperatures, strict=True)
        for part, index, temperature in sides:
            values, near = index.query(np.ascontiguousarray(queries[:, part]), k)
            weights = Vote(k, LEARNED, temperature).weigh(index.distances(values))
            votes.append(ballots.tally(near, weights, soft=True))
        mean: FloatArray = np.mean(votes, axis=0)
        return mean


def part_ends(maps: Maps, X: AnyArray) -> tuple[int, ...]:
    """Return where each part of rows mapped side by side ends, from 0 on, by some rows (n, d)."""
    assert isinstance(maps, SideBySideMaps)
    return tuple(int(end) for end in np.cumsum([0, *maps.widths(X)]))


def hold_out_parts(
    parts: Sequence[tuple[Fold, Maps]], X: AnyArray, ballots: Ballots,
    weights: FloatArray | None, k: int, n_threads: int,
) -> tuple[FloatArray, tuple[float, ...]] | None:  # fmt: skip
    """Return the mean of the parts' held-out votes and their temperatures; None of one metric."""
    folds = [(fold, maps) for fold, maps in parts if isinstance(maps, SideBySideMaps)]
    if not folds or len(folds) < len(parts):
        return None
    votes, temperatures = [], []
    for s in range(len(folds[0][1].parts)):
        held = look_at_folds([(fold, maps.alone(s)) for fold, maps in folds], X, k, n_threads)
        own = None if weights is None else weights[held.rows]
        temperatures.append(learn_temperature(ballots, held, own))
        votes.append(Vote(held.near.shape[1], LEARNED, temperatures[-1]).hold(ballots, held))
    mean: FloatArray = np.mean(votes, axis=0)
    return mean, tuple(temperatures)
