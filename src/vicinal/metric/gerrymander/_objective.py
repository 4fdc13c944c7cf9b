"""The surrogate loss on neighbour sets, its gradient, and the regularisers: free functions.

With h* the nearest set that votes right and ĥ the most violating one (``_kernels._targeted``),

    L_i = Σ_{j∈h*} D(x_i, x_j) − Σ_{j∈ĥ} D(x_i, x_j) + Δ(y_i, ĥ).                  (1)

Points in both sets cancel, so with s_ij = +1 on h*∖ĥ and −1 on ĥ∖h* only signed pairs matter:

    ∂L_i/∂W = Σ_j s_ij (x_i − x_j)(x_i − x_j)ᵀ,   ∂L_i/∂L = 2 L ∂L_i/∂W  for W = LᵀL.    (2)

A learner with another distance needs its own version of (2), nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from vicinal._kernels._candidates import signed_pairs
from vicinal._kernels._forces import add_forces
from vicinal._kernels._settled import unsettled_rows
from vicinal._kernels._targeted import infer_sets
from vicinal._types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class SignedPairs:
    """What inference says about some rows.

    ``rows`` (m,) the rows asked; ``loss`` (m,) of (1); row x pulls or pushes
    ``points[starts[x]:starts[x+1]]`` by their ``signs``; ``feasible`` (m,) is False where no set
    can vote for the row's class.
    """

    rows: IntArray
    starts: IntArray
    points: IntArray
    signs: IntArray
    loss: FloatArray
    feasible: AnyArray

    def pairs(self, part: slice) -> tuple[IntArray, IntArray, IntArray]:
        """Return (query, point, sign) of every pair of the rows in ``part``."""
        starts = self.starts[part.start : part.stop + 1]
        repeated = np.repeat(self.rows[part], np.diff(starts))
        pairs = slice(starts[0], starts[-1])
        return repeated, self.points[pairs], self.signs[pairs]


def infer_pairs(
    squared_distances: FloatArray,
    labels: IntArray,
    rows: IntArray,
    candidates: IntArray,
    codes: IntArray,
    n_neighbors: int,
    costs: FloatArray,
) -> SignedPairs:
    """Infer h* and ĥ of each row from its candidates' distances; return their difference.

    ``squared_distances`` and ``labels`` are (m, c), ``candidates`` (n, c) of which row x uses
    ``candidates[rows[x]]``. Rows whose loss is seen to be zero from two sums are not inferred. Time
    O(m c), and O(R k + k³) for each of the others.
    """
    targets, k = codes[rows], n_neighbors
    asked = find_unsettled(squared_distances, labels, targets, k, costs)
    m = len(asked)
    star, hat = np.empty((m, k), np.int32), np.empty((m, k), np.int32)
    asked_loss, voted = np.empty(m), np.empty(m, np.int32)
    infer_sets(
        squared_distances[asked], labels[asked], targets[asked], k, costs,
        star, hat, asked_loss, voted,
    )  # fmt: skip
    voted[star[:, 0] < 0] = -1  # where the own class cannot win nothing pulls, nothing pushes
    ends = np.empty(m + 1, np.int64)
    points, signs = np.empty(2 * m * k, np.int32), np.empty(2 * m * k, np.int32)
    signed_pairs(rows[asked], candidates, star, hat, voted, ends, points, signs)
    loss, feasible = np.zeros(len(rows)), np.ones(len(rows), bool)
    starts = np.zeros(len(rows) + 1, np.int64)
    loss[asked], feasible[asked], starts[asked + 1] = asked_loss, voted >= 0, np.diff(ends)
    np.cumsum(starts, out=starts)
    return SignedPairs(rows, starts, points[: starts[-1]], signs[: starts[-1]], loss, feasible)


def find_unsettled(
    squared_distances: FloatArray, labels: IntArray, targets: IntArray, k: int, costs: FloatArray
) -> IntArray:
    """Return the rows whose loss is not seen to be zero without inference, ascending."""
    found, room = np.empty(len(targets), np.int64), np.empty((2, k + 1))
    largest = costs.max(axis=1)
    n = unsettled_rows(squared_distances, labels, targets, k, largest, room, found)
    return found[:n]


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
