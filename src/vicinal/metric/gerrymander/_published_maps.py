"""The published descent of maps: rows a step, sets afresh over all rows, rate 1/(t + 1).

    M ← M − [∂reg/∂M + C n mean_batch ∂L_i/∂M] / (t + 1),    t = 1, 2, …                       (1)

for M = (U, V), the maps of queries and of the database, with reg = ½‖W‖²_F of the 2d × 2d matrix W,
or for one map L with reg = ‖LᵀL‖_F. What is inferred, votes or means, is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.gerrymander._objective import force_gradient
from vicinal.metric.gerrymander._published_descent import is_plateau
from vicinal.metric.gerrymander._regularizers import each_metric, joint
from vicinal.metric.inference import SignedPairs
from vicinal.pairs import pair_distances

# C to choose from, in units in which a step of rate 1 is as long as the start.
STRENGTHS = (0.3, 1.0, 3.0)
# Rows whose slopes say how long a step is.
_PROBES = 64

# What squared distances (b, n) of some rows to all say of them: signed pairs.
Infer = Callable[[FloatArray, IntArray], SignedPairs]


@dataclass
class MapDescent:
    """Steps (1) over rows X (n, r), drawn anew for every epoch, from ``maps`` (1 or 2, p, r)."""

    X: FloatArray
    infer: Infer
    maps: FloatArray
    C: float
    n_epochs: int
    rng: np.random.Generator
    batch_size: int = 1
    losses: list[float] = field(default_factory=list)
    step: int = 1

    @property
    def epoch(self) -> int:
        """How many epochs were walked."""
        return len(self.losses)

    @property
    def is_finite(self) -> bool:
        """Whether the steps have not led out of the numbers."""
        return bool(np.isfinite(self.maps).all())

    @property
    def is_done(self) -> bool:
        """Whether the loss of the last epoch no longer falls."""
        return self.epoch >= self.n_epochs or is_plateau(self.losses)

    def advance(self) -> float:
        """Walk an epoch; return its mean loss."""
        order, total = self.rng.permutation(len(self.X)), 0.0
        for first in range(0, len(order), self.batch_size):
            total += self.walk(order[first : first + self.batch_size])
        self.losses.append(total / len(order))
        return self.losses[-1]

    def walk(self, rows: IntArray) -> float:
        """Take one step by some rows; return the sum of their losses."""
        loss, slope = row_slopes(self.X, self.maps, rows, self.infer)
        _, shrinking = joint(self.maps) if len(self.maps) == 2 else each_metric(self.maps)
        slope *= self.C * len(self.X) / len(rows)
        self.step += 1
        self.maps = self.maps - (shrinking + slope) / self.step
        return loss


def row_slopes(
    X: FloatArray, maps: FloatArray, rows: IntArray, infer: Infer
) -> tuple[float, FloatArray]:
    """Return the summed loss of some rows and its gradient in the maps."""
    everyone = np.arange(len(X))
    database, queries = X @ maps[-1].T, X[rows] @ maps[0].T
    sets = infer(pair_distances(queries, database, rows, everyone), rows)
    asking, points, signs = sets.pairs(slice(0, len(rows)))
    if not len(asking):
        return float(sets.loss.sum()), np.zeros_like(maps)
    weights = signs.astype(np.float64)
    components = maps if len(maps) == 2 else maps[0]
    gradient = force_gradient(components, X, asking, points, weights)
    return float(sets.loss.sum()), gradient.reshape(maps.shape)


def step_unit(X: FloatArray, maps: FloatArray, infer: Infer, rng: np.random.Generator) -> float:
    """Return the C for which a step of rate 1 by a typical row is as long as the maps."""
    probes = rng.permutation(len(X))[:_PROBES]
    slopes = (row_slopes(X, maps, probe, infer)[1] for probe in probes[:, None])
    lengths = [float(np.linalg.norm(slope)) for slope in slopes]
    moving = [length for length in lengths if length > 0]
    return float(np.linalg.norm(maps) / (np.median(moving) * len(X))) if moving else 1.0
