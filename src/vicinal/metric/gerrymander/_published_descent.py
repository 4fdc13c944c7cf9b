"""The published descent: one row a step, sets afresh over all rows, rate 1/(t + 1), projection.

    W ← Π( W − [W + C n ∂L_i/∂W] / (t + 1) ),    t = 1, 2, …                                  (1)

is a projected stochastic subgradient step of ½‖W‖²_F + C Σ_i L_i. With V_t = t W_t / (C n) it reads

    V ← Π( V − ∂L_i/∂W ),                                                                    (2)

no shrinking and no rate: C is left in the margin alone, D_W = D_V C n / t. A slope has rank 2k at
most, so a step costs a few products of the rows with a vector (``_kernels._published``); the
projection, O(r³), is made once for several rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from vicinal._kernels._published import walk_rows
from vicinal._kernels._targeted import new_inferred, new_pools, new_table
from vicinal._types import FloatArray, IntArray
from vicinal.metric._relief import relieff_weights
from vicinal.metric.descent import FramedRows, project_to_cone
from vicinal.metric.selection import prediction_losses

# C n to choose from, in units in which the mean squared distance of two rows is 1.
GRID = (100.0, 1000.0, 10000.0)
# Epochs before a plateau may end the descent, and the share the loss must fall by to go on.
LEAST_EPOCHS, PLATEAU = 10, 0.01


@dataclass(frozen=True)
class PublishedRows(FramedRows):
    """Rows (n, r) in a frame, the features they were (n, d), and how they are walked."""

    features: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    costs: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    n_neighbors: int = 1
    inference: str = "exact"
    reuse: int = 1
    project_every: int = 16
    n_threads: int = 1

    def take(self, rows: IntArray) -> Self:
        """Return some of the rows."""
        k = min(self.n_neighbors, max(1, len(rows) - 1))
        return replace(super().take(rows), features=self.features[rows], n_neighbors=k)

    @property
    def unit(self) -> float:
        """The mean squared distance of two rows, in the features' own units."""
        return (2 * float(self.X.var(axis=0).sum()) or 1.0) * float(self.frame.scale[0]) ** 2

    def start(self, name: str) -> FloatArray:
        """Return W (r, r): zeros, the features' own distance, or the ReliefF diagonal."""
        squares = np.ones(self.features.shape[1])
        if name == "zeros":
            squares[:] = 0.0
        elif name == "relieff":
            weights = relieff_weights(self.features, self.codes, n_jobs=self.n_threads)
            squares = np.maximum(weights, 0.0)
        squares *= self.frame.scale**2
        if self.frame.basis is None:
            return np.diag(squares)
        inside: FloatArray = (self.frame.basis.T * squares) @ self.frame.basis
        return inside

    def score(self, components: FloatArray, held: PublishedRows) -> float:
        """Return the mean loss of the held-out rows, voted on by these."""
        database, queries = (rows.X @ components.T for rows in (self, held))
        targets = self.classes, held.classes
        losses = prediction_losses(database, queries, *targets, self.n_neighbors, costs=self.costs)
        return float(losses.mean())


@dataclass
class PublishedDescent:
    """Steps (2) over rows drawn anew for every epoch, from W = ``start`` (r, r).

    C is that of the features: W here is theirs times the scale squared, ‖W‖² its fourth power.
    """

    rows: PublishedRows
    C: float
    start: FloatArray
    n_epochs: int
    rng: np.random.Generator
    losses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.rows
        self.step = 1
        self.margin = 1 / (self.C * float(rows.frame.scale[0]) ** 4 * rows.n_rows)
        self.V = np.ascontiguousarray(self.start * self.margin)
        self.components = project_to_cone(self.V)[1]
        self.lengths = np.einsum("ij,ij->i", rows.X @ self.V, rows.X)
        self._labels = rows.codes.astype(np.int32)
        k, n_classes = rows.n_neighbors, len(rows.costs)
        self._room: tuple[Any, ...] = new_table(n_classes, k), new_pools(n_classes, k)
        self._room += tuple(new_inferred(rows.reuse, k))

    @property
    def epoch(self) -> int:
        """How many epochs were walked."""
        return len(self.losses)

    @property
    def is_done(self) -> bool:
        """Whether the loss of the last epoch, its running average, no longer falls."""
        if self.epoch <= LEAST_EPOCHS:
            return self.epoch >= self.n_epochs
        return self.epoch >= self.n_epochs or self.losses[-1] > (1 - PLATEAU) * self.losses[-2]

    def advance(self) -> float:
        """Walk an epoch; return its mean loss."""
        order, total = self.rng.permutation(self.rows.n_rows), 0.0
        for first in range(0, len(order), self.rows.project_every):
            total += self.walk(order[first : first + self.rows.project_every])
        self.losses.append(total / len(order))
        return self.losses[-1]

    def walk(self, order: IntArray) -> float:
        """Walk some rows and project; return the sum of their losses."""
        rows, X = self.rows, self.rows.X
        total = walk_rows(
            X, self._labels, order, rows.reuse, self.V, self.lengths, self.step, self.margin,
            rows.costs, rows.inference == "greedy", *self._room,
        )  # fmt: skip
        self.step += len(order)
        self.V, self.components = project_to_cone(self.V)
        self.lengths = np.einsum("ij,ij->i", X @ self.V, X)
        return float(total)

    @property
    def factor(self) -> FloatArray:
        """L of W = LᵀL."""
        scaled: FloatArray = self.components / np.sqrt(self.step * self.margin)
        return scaled
