"""The gerrymandering objective of W itself, kept in the cone of metrics by projection.

This is the source's own algorithm, in batches: steps along the subgradient of the objective in
W, then the projection that sets negative eigenvalues to zero. The projection costs O(r³), so
it happens once for several batches, together with the inference of their neighbour sets:
both need the same eigendecomposition, whose positive part is the factor the distances use.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.descent import project_to_cone
from vicinal.metric.gerrymander._factored import FactoredObjective
from vicinal.metric.gerrymander._objective import REGULARIZERS, metric_gradient
from vicinal.metric.inference import SignedPairs


@dataclass
class ConeObjective:
    """mean_i w_i L_i(W) + λ reg(W): a :class:`FactoredObjective` differentiated in W.

    ``first_look`` is the map candidates are first sought under, since a start of zero tells no near
    from far.
    """

    factored: FactoredObjective
    first_look: FloatArray
    factor: FloatArray = field(default_factory=lambda: np.zeros((1, 1)))

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return self.factored.n_rows

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Find the candidates anew when they are due."""
        self.factored.look(self.factor if np.any(self.factor) else self.first_look, epoch)

    def infer(self, parameters: FloatArray, rows: IntArray) -> SignedPairs:
        """Return the signed pairs of the rows under the last projection."""
        return self.factored.infer(self.factor, rows)

    def gradient(
        self, parameters: FloatArray, sets: SignedPairs, part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed loss of the part and the gradient of its mean loss."""
        queries, points, signs = sets.pairs(part)
        weights, total = self.factored.weigh(sets, part, queries, signs)
        gradient = metric_gradient(differences(self.factored.X, queries, points), weights)
        name, amount = self.factored.options.regularizer, self.factored.regularization
        if name is not None:
            value, extra = REGULARIZERS[name](parameters)
            total += (part.stop - part.start) * amount * value
            gradient = gradient + parameters.dtype.type(amount) * extra
        return total, gradient

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Project on the cone and keep the factor."""
        projected, self.factor = project_to_cone(parameters, self.factored.options.n_components)
        return projected

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return the factor of the last projection."""
        return self.factor


def differences(X: AnyArray, queries: IntArray, points: IntArray) -> AnyArray:
    """Return x_i − x_j for pairs of rows; sparse rows stay sparse."""
    if sparse.issparse(X):
        return X[queries] - X[points]
    return np.take(X, queries, axis=0) - np.take(X, points, axis=0)
