"""The gerrymandering objective of W itself, kept in the cone of metrics by projection.

This is the source's own algorithm, in batches: steps along the subgradient of the objective in
W, then the projection that sets negative eigenvalues to zero. The projection costs O(r³), so
it happens once for every ``reuse`` batches, together with the inference of their neighbour sets:
both need the same eigendecomposition, whose positive part is the factor the distances use.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from vicinal._types import FloatArray, IntArray
from vicinal.metric.gerrymander._factored import FactoredObjective, differences
from vicinal.metric.gerrymander._objective import REGULARIZERS, SignedPairs, metric_gradient


def project_to_cone(metric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the nearest positive semidefinite matrix and its factor L, W = LᵀL.

    L has one row for every positive eigenvalue (at least one row), largest first.
    """
    # Divide and conquer is twice as fast as the default driver at several hundred features.
    values, directions = eigh((metric + metric.T) / 2, driver="evd")
    positive = values > max(values[-1], 0.0) * 1e-7
    positive[-1] = True
    factor = np.sqrt(np.maximum(values[positive], 0.0))[:, None] * directions[:, positive].T
    factor = np.ascontiguousarray(factor[::-1], dtype=metric.dtype)
    return factor.T @ factor, factor


@dataclass
class ProjectedGradient:
    """Steps of a rate that falls linearly to zero, and projection when asked to settle."""

    rate: float
    factor: FloatArray = field(default_factory=lambda: np.zeros((1, 1)))

    def step(self, parameters: FloatArray, gradient: FloatArray, progress: float) -> FloatArray:
        """Return W − η (1 − progress) G."""
        rate = parameters.dtype.type(self.rate * (1 - progress))
        moved: FloatArray = parameters - rate * gradient
        return moved

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Project on the cone and keep the factor."""
        projected, self.factor = project_to_cone(parameters)
        return projected


@dataclass
class ProjectedObjective:
    """mean_i w_i L_i(W) + λ reg(W): a :class:`FactoredObjective` differentiated in W.

    ``rule`` holds the factor of the last projection; ``first_look`` is the map candidates are first
    sought under, since a start of zero tells no near from far.
    """

    factored: FactoredObjective
    rule: ProjectedGradient
    first_look: FloatArray

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return self.factored.n_rows

    def begin_epoch(self, parameters: FloatArray, epoch: int) -> None:
        """Find the candidates anew when they are due."""
        known = bool(np.any(self.rule.factor))
        self.factored.begin_epoch(self.rule.factor if known else self.first_look, epoch)

    def infer(self, parameters: FloatArray, rows: IntArray) -> SignedPairs:
        """Return the signed pairs of the rows under the last projection."""
        return self.factored.infer(self.rule.factor, rows)

    def gradient(
        self, parameters: FloatArray, sets: SignedPairs, part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed loss of the part and the gradient of its mean loss."""
        queries, weights, total = self.factored.weigh(sets, part)
        points = sets.queries(part)[1]
        gradient = metric_gradient(differences(self.factored.X, queries, points), weights)
        name, amount = self.factored.regularizer, self.factored.regularization
        if name is not None:
            value, extra = REGULARIZERS[name](parameters)
            total += (part.stop - part.start) * amount * value
            gradient = gradient + parameters.dtype.type(amount) * extra
        return total, gradient
