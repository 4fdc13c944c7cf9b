"""One race for all that is chosen by rows held out: settings, smoothers, learners, k.

    entries ─▶ race: a round ─▶ scores ─▶ who goes on (halve, drop_behind) ─▶ the next round ─▶ …
                                                                                  │
                              first_within: the preferred of those that noise does not tell apart

A round is whatever its players make of it: some epochs of a descent, one more split, more points.
A score is what held-out rows lost, with how much of a difference is chance: the one rule for noise.
What became of an entry is its fate, a value; the reason beside it is for people alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np

from vicinal._types import FloatArray

C = TypeVar("C")
R = TypeVar("R")
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
        """The weighted mean loss; the plain one where no row has a weight.

        To twelve digits: scores that are equal but for rounding must tie.
        """
        return round(float(self._shares() @ self.losses), 12)

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


class Fate(Enum):
    """What became of an entry."""

    RUNNING = "running"
    BEHIND = "behind"  # clearly worse than the first
    REFUSED = "refused"  # would not learn from the rows
    UNTRIED = "untried"  # nothing was left to try it with


@dataclass(eq=False)
class Entry(Generic[C]):
    """A candidate, its scores, one a round, and its fate."""

    name: str
    candidate: C
    scores: list[Score] = field(default_factory=list)
    fate: Fate = Fate.RUNNING
    reason: str = ""

    @property
    def score(self) -> Score:
        """The score over all rounds it ran in."""
        return Score.pool(self.scores)

    @property
    def value(self) -> float:
        """What entries are ranked by: the lower the better."""
        return self.score.mean

    def behind(self, leader: Entry[C]) -> tuple[float, float]:
        """Return by how much the leader is better where both ran, and that figure's noise."""
        return self.score.behind(Score.pool(leader.scores[: len(self.scores)]))

    def out(self, fate: Fate, reason: str) -> None:
        """End here."""
        self.fate, self.reason = fate, reason


E = TypeVar("E", bound=Entry[Any])


def race(
    entries: Sequence[E], rounds: Iterable[R], keep: Callable[[Sequence[E]], list[E]]
) -> Iterator[tuple[list[E], R]]:
    """Yield, round by round, the entries that still run and what the round is of.

    Who asks for the rounds plays them: gives each of these entries its score, or its fate, and
    stops asking where the race is to end.

    Parameters
    ----------
    entries : sequence of Entry
    rounds : iterable
    keep : callable
        Returns who goes on.
    """
    running = list(entries)
    for each in rounds:
        yield running, each
        running = keep([entry for entry in running if entry.fate is Fate.RUNNING])


def halve(entries: Sequence[E]) -> list[E]:
    """Return the better half, one more where they are odd in number."""
    return sorted(entries, key=lambda entry: entry.value)[: -(-len(entries) // 2)]


def drop_behind(entries: Sequence[E], *, least: int = 1, by: float = CLEARLY) -> list[E]:
    """Return the first so many, and who is not clearly behind the very first; end the others."""
    ranked = sorted(entries, key=lambda entry: entry.value)
    for entry in ranked[least:]:
        gap, noise = entry.behind(ranked[0])
        if gap > by * noise:
            entry.out(Fate.BEHIND, f"behind {ranked[0].name}")
    return [entry for entry in ranked if entry.fate is Fate.RUNNING]


def first_within(preferred: Sequence[E], best: Entry[C], *, by: float = 1.0) -> E:
    """Return the first, in the order of preference, that is not behind the best by more than noise.

    The lowest of several noisy scores is luck in part: what a standard error does not tell from it
    may as well be chosen for its own sake.
    """
    for entry in preferred:
        gap, noise = entry.behind(best)
        if gap <= by * noise:
            return entry
    raise ValueError("the best is not among those to choose from.")
