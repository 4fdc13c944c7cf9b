"""The gradient of the surrogate loss on neighbour sets, and the regularisers: free functions.

With s_ij = +1 on h*∖ĥ and −1 on ĥ∖h*, the signed pairs that inference gives of row i,

    ∂L_i/∂W = Σ_j s_ij (x_i − x_j)(x_i − x_j)ᵀ,   ∂L_i/∂L = 2 L ∂L_i/∂W  for W = LᵀL.    (1)

A learner with another distance needs its own version of (1), nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from vicinal._kernels._forces import add_forces
from vicinal._types import AnyArray, FloatArray, IntArray


def force_gradient(
    components: FloatArray, X: AnyArray, queries: IntArray, points: IntArray, weights: FloatArray
) -> FloatArray:
    """Return Σ w 2 L δ δᵀ over pairs of rows of X (m, d) with differences δ, shape (p, d).

    With z = L x the sum is 2 Fᵀ X, where row q of F sums w (z_q − z_j) over its pairs: a row in
    many pairs is mapped, and multiplied, once.
    """
    mapped = np.ascontiguousarray(X @ components.T)
    forces = np.zeros_like(mapped)
    add_forces(mapped, queries, points, weights, forces)
    gradient = X.T @ (2 * forces)
    return np.ascontiguousarray(gradient.T, dtype=components.dtype)


def metric_gradient(differences: AnyArray, weights: FloatArray) -> FloatArray:
    """Return Σ w δ δᵀ over pairs with differences δ, shape (d, d)."""
    if sparse.issparse(differences):
        summed: FloatArray = (differences.T @ sparse.diags_array(weights) @ differences).toarray()
        return summed
    gradient: FloatArray = differences.T @ (weights[:, None] * differences)
    return gradient


def frobenius(metric: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖W‖_F² and its gradient 2W."""
    return float(np.vdot(metric, metric)), 2 * metric


def trace(metric: FloatArray) -> tuple[float, FloatArray]:
    """Return tr W and its gradient I."""
    return float(np.trace(metric)), np.eye(len(metric), dtype=metric.dtype)


def identity(metric: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖W − I‖_F² and its gradient 2(W − I)."""
    return frobenius(metric - np.eye(len(metric), dtype=metric.dtype))


REGULARIZERS: dict[str, Callable[[FloatArray], tuple[float, FloatArray]]] = {
    "frobenius": frobenius,
    "trace": trace,
    "identity": identity,
}


def factored_regularizer(name: str, components: FloatArray) -> tuple[float, FloatArray]:
    """Return the regulariser of W = LᵀL and its gradient with respect to L, 2 L ∂reg/∂W."""
    value, gradient = REGULARIZERS[name](components.T @ components)
    return value, 2 * components @ gradient
