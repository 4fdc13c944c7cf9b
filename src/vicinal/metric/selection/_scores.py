"""Scores of held-out rows, each row's own, so that their noise is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._kernels._vote import majority_vote
from vicinal._types import FloatArray, IntArray
from vicinal.metric.candidates import nearest_rows

# How much the share of wrong neighbours counts beside the cost of the vote. It moves with every
# single neighbour and so tells maps with equal errors apart; below a half it does not outvote them.
SHARE = 0.25


@dataclass(frozen=True)
class Score:
    """A mean of rows' losses (m,) and how much of it is chance."""

    losses: FloatArray
    weights: FloatArray | None = None

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
        weights = np.ones(len(self.losses)) if self.weights is None else self.weights
        total = weights.sum()
        shares: FloatArray = (
            weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
        )
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
