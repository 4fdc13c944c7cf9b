"""Scores: what held-out rows lost, and how much of a difference is chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray

# Standard errors by which a candidate is clearly behind: less is as likely to be chance as not
# where several are compared with the best of them.
CLEARLY = 2.0


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

    def behind(self, other: Score) -> tuple[float, float]:
        """Return by how much another score of the same rows is lower, and the standard error."""
        gap = self.losses - other.losses
        shares = self._shares()
        mean = float(shares @ gap)
        return mean, float(np.sqrt(shares**2 @ (gap - mean) ** 2))

    def is_behind(self, other: Score, by: float = CLEARLY) -> bool:
        """Return whether another score is lower by more than so many standard errors."""
        gap, noise = self.behind(other)
        return gap > by * noise

    def _shares(self) -> FloatArray:
        some = self.weights is not None and self.weights.any()
        weights = self.weights if self.weights is not None and some else np.ones(len(self.losses))
        shares: FloatArray = weights / weights.sum()
        return shares
