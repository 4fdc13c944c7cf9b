"""The published descent: one row a step, sets afresh over all rows, rate 1/(t + 1), projection.

    W ← Π( W − [W + C n ∂L_i/∂W] / (t + 1) ),    t = 1, 2, …                                  (1)

is a projected stochastic subgradient step of ½‖W‖²_F + C Σ_i L_i. With V_t = t W_t / (C n) it reads

    V ← Π( V − ∂L_i/∂W ),                                                                    (2)

no shrinking and no rate: C is left in the margin alone, D_W = D_V C n / t. A slope has rank 2k at
most, so a step costs a few products of the rows with a vector (``_kernels._published``); the
projection, O(r³), is made once for several rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh

from vicinal._kernels._published import walk_rows
from vicinal._kernels._targeted import new_inferred, new_pools, new_table
from vicinal._types import FloatArray, IntArray
from vicinal.metric._relief import relieff_weights
from vicinal.metric.descent import Frame, FramedRows, project_to_cone
from vicinal.rows import Rows

# C n to choose from, in units in which the mean squared distance of two rows is 1.
GRID = (100.0, 1000.0, 10000.0)
# Epochs before a plateau may end the descent, and the share the loss must fall by to go on.
LEAST_EPOCHS, PLATEAU = 10, 0.01


@dataclass(frozen=True)
class Walk:
    """How rows are walked: sets of k rows and what a vote costs, how sets are inferred and kept."""

    n_neighbors: int
    costs: FloatArray
    inference: str = "exact"
    reuse: int = 1
    project_every: int = 16


def published_start(name: str, rows: Rows, frame: Frame, n_threads: int = 1) -> FloatArray:
    """Return W (r, r) in a frame: zeros, the features' own distance, or their ReliefF diagonal."""
    squares = np.full(rows.X.shape[1], 0.0 if name == "zeros" else 1.0)
    if name == "relieff":
        squares = np.maximum(relieff_weights(rows.X, rows.codes, n_jobs=n_threads), 0.0)
    squares *= frame.scale**2
    if frame.basis is None:
        return np.diag(squares)
    inside: FloatArray = (frame.basis.T * squares) @ frame.basis
    return inside


def mean_squared_distance(X: FloatArray) -> float:
    """Return the mean squared distance of two rows, 1 where all are equal."""
    return 2 * float(X.var(axis=0, dtype=np.float64).sum()) or 1.0


@dataclass
class PublishedDescent:
    """Steps (2) over rows drawn anew for every epoch, from W = ``start`` (r, r).

    C is that of the features: W here is theirs times the scale squared, ‖W‖² its fourth power.
    """

    rows: FramedRows
    how: Walk
    C: float
    start: FloatArray
    n_epochs: int
    rng: np.random.Generator
    losses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows, k, n_classes = self.rows, self.how.n_neighbors, len(self.how.costs)
        self.labels = rows.codes.astype(np.int32)
        self.step = 1
        self.margin = 1 / (self.C * float(rows.frame.scale[0]) ** 4 * rows.n_rows)
        self.V = np.ascontiguousarray(self.start * self.margin)
        self.lengths = np.einsum("ij,ij->i", rows.X @ self.V, rows.X)
        self._room: tuple[Any, ...] = new_table(n_classes, k), new_pools(n_classes, k)
        self._room += tuple(new_inferred(self.how.reuse, k))

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
        self.lengths = np.einsum("ij,ij->i", self.rows.X @ self.V, self.rows.X)  # rounding adds up
        order, total = self.rng.permutation(self.rows.n_rows), 0.0
        for first in range(0, len(order), self.how.project_every):
            total += self.walk(order[first : first + self.how.project_every])
        self.losses.append(total / len(order))
        return self.losses[-1]

    def walk(self, order: IntArray) -> float:
        """Walk some rows and project; return the sum of their losses."""
        X, how = self.rows.X, self.how
        total = walk_rows(
            X, self.labels, order, how.reuse, self.V, self.lengths, self.step, self.margin,
            how.costs, how.inference == "greedy", *self._room,
        )  # fmt: skip
        self.step += len(order)
        self._project()
        return float(total)

    def _project(self) -> None:
        """Set V's negative eigenvalues to zero: of few steps there are few, and they are enough."""
        edge = -1e-12 * float(np.abs(np.diagonal(self.V)).max())
        values, directions = eigh(self.V, driver="evr", subset_by_value=(-np.inf, edge))
        self.V -= (directions * values) @ directions.T
        self.lengths -= np.square(self.rows.X @ directions) @ values

    @property
    def factor(self) -> FloatArray:
        """L of W = LᵀL."""
        scaled: FloatArray = project_to_cone(self.V)[1] / np.sqrt(self.step * self.margin)
        return scaled
