"""What judges a setting: rows held out on inner splits, and the loss of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from vicinal._kernels._vote import majority_vote
from vicinal._types import FloatArray, IntArray
from vicinal.data import grouped_kfold, kfold
from vicinal.metric.candidates import nearest_rows
from vicinal.metric.descent import Rows

R = TypeVar("R", bound=Rows)

# Folds, each of which may judge what the others teach.
FOLDS = 4
# Votes to judge by: the standard error of an error is then at most a point and a half. Fewer rows
# have all their folds judge, more only the first ones.
VOTES = 1250
# Rows to choose on at most: more would not change what is chosen, only how long it takes.
MOST_ROWS = 5000
# How much the share of wrong neighbours counts beside the cost of the vote. It moves with every
# single neighbour and so tells maps with equal errors apart; below a half it does not outvote them.
SHARE = 0.25


def inner_splits(rows: R, seed: int) -> list[tuple[R, R]]:
    """Return (training, held-out) parts of some rows: one split of many rows, several of few.

    Classes are kept in proportion and groups together; no row is held out twice. An empty list
    means that there are too few rows, or groups, to hold any out.
    """
    if rows.n_rows > MOST_ROWS:
        rows = rows.take(np.sort(_sample(rows, np.random.default_rng([seed, 0]))))
    n_groups = FOLDS if rows.groups is None else len(np.unique(rows.groups))
    if rows.n_rows < FOLDS or n_groups < 2:
        return []
    n_splits = -(-VOTES // (rows.n_rows // FOLDS))
    if rows.groups is None:
        folds = kfold(rows.n_rows, FOLDS, labels=rows.labels, seed=seed)
    else:
        folds = grouped_kfold(rows.groups, min(FOLDS, n_groups), labels=rows.labels, seed=seed)
    return [(rows.take(fold.train), rows.take(fold.test)) for fold in folds[:n_splits]]


def _sample(rows: Rows, rng: np.random.Generator) -> IntArray:
    """Return so many rows at random, or whole groups with so many rows."""
    if rows.groups is None:
        return rng.permutation(rows.n_rows)[:MOST_ROWS]
    _, members, counts = np.unique(rows.groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(counts))
    kept = order[: max(2, int(np.searchsorted(np.cumsum(counts[order]), MOST_ROWS, side="right")))]
    return np.flatnonzero(np.isin(members, kept))


@dataclass(frozen=True)
class Score:
    """A mean of rows' losses (m,) and how much of it is chance."""

    losses: FloatArray
    weights: FloatArray | None = None

    @classmethod
    def pool(cls, scores: Sequence[Score]) -> Score:
        """Return the score of all rows together, each of weight 1 where it has none."""
        weights = [np.ones(len(s.losses)) if s.weights is None else s.weights for s in scores]
        return cls(np.concatenate([s.losses for s in scores]), np.concatenate(weights))

    @property
    def mean(self) -> float:
        """The weighted mean loss; the plain one where no row has a weight."""
        return float(self._shares() @ self.losses)

    def noise(self, other: Score) -> float:
        """Return the standard error of the difference of two scores of the same rows."""
        gap = self.losses - other.losses
        shares = self._shares()
        deviation = gap - shares @ gap
        return float(np.sqrt(shares**2 @ deviation**2))

    def _shares(self) -> FloatArray:
        some = self.weights is not None and self.weights.any()
        weights = self.weights if self.weights is not None and some else np.ones(len(self.losses))
        shares: FloatArray = weights / weights.sum()
        return shares


def vote_losses(
    database: FloatArray,
    queries: FloatArray,
    codes: IntArray,
    wanted: IntArray,
    costs: FloatArray,
    n_neighbors: int,
    *,
    n_threads: int = 1,
) -> FloatArray:
    """Return the cost of each query's vote plus a quarter of its share of wrong neighbours, (m,).

    The share counts the mean cost of a wrong vote.
    """
    k = min(n_neighbors, len(database))
    labels = codes[nearest_rows(database, queries, k, n_threads=n_threads)].astype(np.int64)
    voted = majority_vote(labels, len(costs))
    wrong = np.mean(labels != wanted[:, None], axis=1)
    typical = costs.sum() / max(1, costs.size - len(costs))
    losses: FloatArray = costs[wanted, voted] + SHARE * typical * wrong
    return losses
