"""Stochastic descent on any objective that infers sets and differentiates on them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.descent._problem import Objective, Rule

# Steps an epoch, so that rates and epochs mean the same whatever the number of rows; and rows a
# step at least, or the gradient is mostly noise.
STEPS, LEAST_ROWS = 16, 16


@dataclass
class Adam:
    """Adam with a rate that falls linearly to zero.

    m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η (1 − progress) m̂ / (√v̂ + ε).

    ``by_column`` has one v a column, the mean over its rows: then the step of a map L turns with L,
    and where a descent leads does not depend on which of all L with one LᵀL it began at.
    """

    rate: float
    by_column: bool = False
    beta1: float = 0.9
    beta2: float = 0.999
    n_steps: int = 0
    first: FloatArray | None = None
    second: FloatArray | None = None

    def step(self, parameters: FloatArray, gradient: FloatArray, progress: float) -> FloatArray:
        """Return the parameters one step on."""
        if self.first is None or self.second is None:
            self.first, self.second = np.zeros_like(gradient), np.zeros(1, gradient.dtype)
        self.n_steps += 1
        self.first *= self.beta1
        self.first += (1 - self.beta1) * gradient
        self.second = self.second * self.beta2
        squares = gradient * gradient
        if self.by_column:
            squares = squares.mean(axis=-2, keepdims=True)
        self.second = self.second + (1 - self.beta2) * squares
        rate = self.rate * (1 - progress) / (1 - self.beta1**self.n_steps)
        spread = np.sqrt(self.second / (1 - self.beta2**self.n_steps))
        # ε relative to the largest spread: the step must not depend on the data's unit.
        spread += 1e-7 * spread.max(initial=0) + np.finfo(spread.dtype).tiny
        moved: FloatArray = parameters - (rate * self.first / spread).astype(parameters.dtype)
        return moved


@dataclass(frozen=True)
class FallingRate:
    """Plain steps of a rate that falls linearly to zero."""

    rate: float

    def step(self, parameters: FloatArray, gradient: FloatArray, progress: float) -> FloatArray:
        """Return θ − η (1 − progress) g."""
        rate = parameters.dtype.type(self.rate * (1 - progress))
        moved: FloatArray = parameters - rate * gradient
        return moved


@dataclass
class InverseTime:
    """Plain steps of the rate η / (t + 1) at the t-th step, t = 1, 2, …"""

    rate: float
    n_steps: int = 0

    def step(self, parameters: FloatArray, gradient: FloatArray, progress: float) -> FloatArray:
        """Return θ − η g / (t + 1)."""
        self.n_steps += 1
        rate = parameters.dtype.type(self.rate / (self.n_steps + 1))
        moved: FloatArray = parameters - rate * gradient
        return moved


@dataclass
class Descent:
    """One run of stochastic descent, advanced an epoch at a time.

    Attributes
    ----------
    objective, rule : Objective, Rule
    parameters : ndarray
    n_epochs : int
        Over how many epochs the rate falls to zero.
    rng : numpy Generator
        Orders the rows of each epoch.
    reuse : int
        For how many steps inferred sets are kept.
    strata : int ndarray of shape (n,) or None
        Classes of which every step holds the same share of rows, where it matters.
    n_steps, least_rows : int
        Steps an epoch, of so many rows at least: fewer make a gradient that is mostly noise.
    tol, fall : float
        When it is done: the mean loss of an epoch is at most ``tol``, so that nothing is left to
        learn, or has fallen by less than the share ``fall``.
    epoch : int
        Epochs done.
    losses : list of float
        Mean loss of each epoch.
    """

    objective: Objective
    rule: Rule
    parameters: FloatArray
    n_epochs: int
    rng: np.random.Generator
    reuse: int = 1
    strata: IntArray | None = None
    n_steps: int = STEPS
    least_rows: int = LEAST_ROWS
    tol: float = 0.0
    fall: float = -np.inf
    epoch: int = 0
    losses: list[float] = field(default_factory=list)

    @property
    def batch_size(self) -> int:
        """Rows a step."""
        return max(self.least_rows, -(-self.objective.n_rows // self.n_steps))

    @property
    def components(self) -> FloatArray:
        """The map the descent stands at."""
        return self.objective.components(self.parameters)

    @property
    def is_done(self) -> bool:
        """Whether the losses so far say that it is enough."""
        before, last = [np.inf, np.inf, *self.losses][-2:]
        return last <= self.tol or last > (1 - self.fall) * before

    def advance(self) -> float:
        """Walk one epoch and return its mean loss."""
        self.objective.look(self.parameters, self.epoch)
        order = self._order()
        span = self.batch_size * self.reuse
        total = sum(
            self._walk(order[first : first + span], first) for first in range(0, len(order), span)
        )
        self.epoch += 1
        self.losses.append(total / max(1, len(order)))
        return self.losses[-1]

    def _order(self) -> IntArray:
        """Return the rows of an epoch in the order they are walked."""
        if self.strata is None:
            return self.rng.permutation(self.objective.n_rows)
        return spread_strata(self.strata, self.rng)

    def _walk(self, rows: IntArray, done: int) -> float:
        """Infer the sets of these rows once and take a step for each batch of them."""
        sets = self.objective.infer(self.parameters, rows)
        total = 0.0
        for first in range(0, len(rows), self.batch_size):
            part = slice(first, min(first + self.batch_size, len(rows)))
            loss, gradient = self.objective.gradient(self.parameters, sets, part)
            progress = (self.epoch + (done + first) / self.objective.n_rows) / self.n_epochs
            self.parameters = self.rule.step(self.parameters, gradient, min(progress, 1.0))
            total += loss
        self.parameters = self.objective.settle(self.parameters)
        return total


def spread_strata(strata: IntArray, rng: np.random.Generator) -> IntArray:
    """Return all rows in a random order in which each class is spread evenly.

    Rows that follow one another hold each class in its share, to within two rows. Time O(n log n).
    """
    shuffle = rng.permutation(len(strata))
    _, codes, counts = np.unique(strata[shuffle], return_inverse=True, return_counts=True)
    grouped = np.argsort(codes, kind="stable")
    rank = np.arange(len(strata)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = (rank + rng.random(len(counts))[codes[grouped]]) / counts[codes[grouped]]
    order: IntArray = shuffle[grouped[np.argsort(places, kind="stable")]]
    return order
