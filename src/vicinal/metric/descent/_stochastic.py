"""Stochastic descent on any objective that infers sets and differentiates on them.

An objective answers three questions; a rule turns a gradient into a step; :class:`Descent` walks
the epochs. None of them knows the others' insides, so a new learner brings an objective only.

    begin_epoch(parameters, epoch)      look again where the candidates lie
    infer(parameters, rows) -> sets     neighbour sets of some rows at these parameters
    gradient(parameters, sets, part)    (loss summed over the part, gradient of its mean)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from vicinal._types import FloatArray, IntArray


class Objective(Protocol):
    """What :class:`Descent` needs to know of a loss."""

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""

    def begin_epoch(self, parameters: FloatArray, epoch: int) -> None:
        """Prepare for an epoch."""

    def infer(self, parameters: FloatArray, rows: IntArray) -> Any:
        """Return the neighbour sets of the rows."""

    def gradient(self, parameters: FloatArray, sets: Any, part: slice) -> tuple[float, FloatArray]:
        """Return the summed loss and the gradient of the mean loss of a part of the sets."""


class Rule(Protocol):
    """How a gradient moves the parameters; ``progress`` runs from 0 to 1 over the descent."""

    def step(self, parameters: FloatArray, gradient: FloatArray, progress: float) -> FloatArray:
        """Return the new parameters."""

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters made fit for inference (a projection, or nothing)."""


class Adam:
    """Adam with a rate that falls linearly to zero.

    m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − η (1 − progress) m̂ / (√v̂ + ε).
    """

    def __init__(self, rate: float, *, beta1: float = 0.9, beta2: float = 0.999) -> None:
        self.rate, self.beta1, self.beta2 = rate, beta1, beta2
        self.n_steps = 0
        self.first: FloatArray | None = None
        self.second: FloatArray | None = None

    def step(self, parameters: FloatArray, gradient: FloatArray, progress: float) -> FloatArray:
        """Return the parameters one step on."""
        if self.first is None or self.second is None:
            self.first, self.second = np.zeros_like(gradient), np.zeros_like(gradient)
        self.n_steps += 1
        self.first *= self.beta1
        self.first += (1 - self.beta1) * gradient
        self.second *= self.beta2
        self.second += (1 - self.beta2) * gradient * gradient
        rate = self.rate * (1 - progress) / (1 - self.beta1**self.n_steps)
        spread = np.sqrt(self.second / (1 - self.beta2**self.n_steps))
        # ε relative to the largest spread: the step must not depend on the data's unit.
        spread += 1e-7 * spread.max(initial=0) + np.finfo(spread.dtype).tiny
        moved: FloatArray = parameters - (rate * self.first / spread).astype(parameters.dtype)
        return moved

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are: a factor is always a metric."""
        return parameters


@dataclass
class Descent:
    """One run of stochastic descent, advanced an epoch at a time.

    Attributes
    ----------
    objective, rule : Objective, Rule
    parameters : ndarray
    n_epochs : int
        Over how many epochs the rate falls to zero.
    batch_size : int
    reuse : int
        For how many updates inferred sets are kept.
    rng : numpy Generator
        Orders the rows of each epoch.
    epoch : int
        Epochs done.
    losses : list of float
        Mean loss of each epoch.
    """

    objective: Objective
    rule: Rule
    parameters: FloatArray
    n_epochs: int
    batch_size: int
    reuse: int
    rng: np.random.Generator
    epoch: int = 0
    losses: list[float] | None = None

    def advance(self) -> float:
        """Walk one epoch and return its mean loss."""
        self.objective.begin_epoch(self.parameters, self.epoch)
        order = self.rng.permutation(self.objective.n_rows)
        span = self.batch_size * self.reuse
        total = sum(
            self._walk(order[first : first + span], first) for first in range(0, len(order), span)
        )
        self.epoch += 1
        mean = total / max(1, self.objective.n_rows)
        self.losses = [*(self.losses or []), mean]
        return mean

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
        self.parameters = self.rule.settle(self.parameters)
        return total
