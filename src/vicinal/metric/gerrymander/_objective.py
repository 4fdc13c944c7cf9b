"""Objectives over signed pairs: the gradient that pulls and pushes, the weights, the regularisers.

With s_ij = +1 on h*∖ĥ and −1 on ĥ∖h*, the signed pairs that inference gives of row i,

    ∂L_i/∂W = Σ_j s_ij (x_i − x_j)(x_i − x_j)ᵀ,   ∂L_i/∂L = 2 L ∂L_i/∂W  for W = LᵀL.    (1)

A learner with another distance needs its own version of (1), nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._kernels._forces import add_forces
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.inference import SignedPairs


class PairedObjective:
    """mean_i w_i L_i + λ reg of one map or of two, L_i a sum of signed squared distances of pairs.

    A subclass has rows ``X`` (n, d), ``weights`` (n,) of mean 1 or None, ``regularization`` λ and
    ``options`` with the name of the ``regularizer``; it says how sets are inferred.
    """

    X: AnyArray
    options: Any
    weights: FloatArray | None
    regularization: float

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return int(self.X.shape[0])

    def gradient(
        self, parameters: FloatArray, sets: SignedPairs, part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed loss of the part and the gradient of its mean loss."""
        queries, points, signs = sets.pairs(part)
        weights, total = self.weigh(sets, part, queries, signs)
        gradient = force_gradient(parameters, self.X, queries, points, weights)
        if self.options.regularizer is not None:
            value, extra = factored_regularizer(self.options.regularizer, parameters)
            total += (part.stop - part.start) * self.regularization * value
            gradient = gradient + parameters.dtype.type(self.regularization) * extra
        return total, gradient

    def weigh(
        self, sets: SignedPairs, part: slice, queries: IntArray, signs: IntArray
    ) -> tuple[FloatArray, float]:
        """Return the signed weight of every pair, and the part's summed loss."""
        weights = signs.astype(self.X.dtype) / self.X.dtype.type(part.stop - part.start)
        loss = sets.loss[part]
        if self.weights is not None:
            loss = loss * self.weights[sets.rows[part]]
            weights *= self.weights[queries].astype(self.X.dtype)
        return weights, float(loss.sum())

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are: a factor is always a metric."""
        return parameters

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters, which are the map."""
        return parameters


def force_gradient(
    components: FloatArray, X: AnyArray, queries: IntArray, points: IntArray, weights: FloatArray
) -> FloatArray:
    """Return Σ w ∂‖L x_q − L x_j‖²/∂L over pairs of rows of X (n, d), shape (p, d).

    With z = L x the sum is 2 Fᵀ X, where row q of F sums w (z_q − z_j) over its pairs: a row in
    many pairs is mapped, and multiplied, once, and a row in none not at all. Two stacked maps
    (2, p, d), of queries and of points, have two stacked gradients of ‖U x_q − V x_j‖².
    """
    occurs = np.zeros(X.shape[0], bool)
    occurs[queries] = occurs[points] = True
    present = np.flatnonzero(occurs)
    place = np.empty(len(occurs), np.int32)
    place[present] = np.arange(len(present))
    some = X[present]
    mapped = [np.ascontiguousarray(some @ side.T) for side in sides(components)]
    forces = [np.zeros_like(rows) for rows in mapped]
    ends = place[queries], place[points]
    add_forces(mapped[0], mapped[-1], *ends, weights, forces[0], forces[-1])
    gradient = np.stack([(some.T @ (2 * force)).T for force in forces])
    return np.ascontiguousarray(gradient.reshape(components.shape), dtype=components.dtype)


def sides(components: FloatArray) -> FloatArray:
    """Return the maps (1 or 2, p, d) in an array: of both sides, or of queries and of points."""
    return components.reshape(-1, *components.shape[-2:])


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


def joint(maps: FloatArray) -> tuple[float, FloatArray]:
    """Return ½‖W‖_F² of W = [UᵀU, −UᵀV; −VᵀU, VᵀV] and its gradients 2(UUᵀ + VVᵀ)U, … V.

    W = MᵀM with M = [U, −V] has the norm of MMᵀ = UUᵀ + VVᵀ, p × p however many features there are.
    """
    inner = maps[0] @ maps[0].T + maps[1] @ maps[1].T
    return 0.5 * float(np.vdot(inner, inner)), 2 * inner @ maps


def each_metric(maps: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖UᵀU‖_F + ‖VᵀV‖_F and its gradients 2UUᵀU / ‖UᵀU‖_F, … V."""
    inner = maps @ maps.transpose(0, 2, 1)
    norms = np.linalg.norm(inner, axis=(1, 2))
    return float(norms.sum()), 2 * inner @ maps / _or_one(norms)


def each_map(maps: FloatArray) -> tuple[float, FloatArray]:
    """Return ‖U‖_F + ‖V‖_F and its gradients U / ‖U‖_F, V / ‖V‖_F; 0 where a map is."""
    norms = np.linalg.norm(maps, axis=(1, 2))
    return float(norms.sum()), maps / _or_one(norms)


def _or_one(norms: FloatArray) -> FloatArray:
    return np.where(norms > 0, norms, 1)[:, None, None].astype(norms.dtype)


TWO_MAPS: dict[str, Callable[[FloatArray], tuple[float, FloatArray]]] = {
    "joint": joint,
    "metrics": each_metric,
    "maps": each_map,
}


def factored_regularizer(name: str, components: FloatArray) -> tuple[float, FloatArray]:
    """Return a regulariser and its gradient with respect to the map L, or to two stacked ones.

    Of W = LᵀL the gradient is 2 L ∂reg/∂W.
    """
    if name in TWO_MAPS:
        return TWO_MAPS[name](components)
    value, gradient = REGULARIZERS[name](components.T @ components)
    return value, 2 * components @ gradient
