"""The gerrymandering objective of a factor L (W = LᵀL), its gradient, and the regularisers.

With s_ij = +1 on h*∖ĥ and −1 on ĥ∖h*, the signed pairs that inference gives of row i,

    ∂L_i/∂W = Σ_j s_ij (x_i − x_j)(x_i − x_j)ᵀ,   ∂L_i/∂L = 2 L ∂L_i/∂W  for W = LᵀL.    (1)

A learner with another distance needs its own version of (1), nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from vicinal._kernels._forces import add_forces
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.candidates import (
    REFRESH,
    SEARCHES,
    ClassOrder,
    order_by_class,
    squared_distances_to,
)
from vicinal.metric.gerrymander._options import Options
from vicinal.metric.inference import SignedPairs, infer_all, infer_pairs

# Rows of other classes a list holds beside 2k + 3 of the own: several times what a set can use.
OTHERS = 40
# Rows whose gaps tell the size of a start.
PROBES = 256


@dataclass
class FactoredObjective:
    """mean_i w_i L_i(LᵀL) + λ reg(LᵀL), with inference over candidate lists or over all rows.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows in order of class.
    classes : ClassOrder
    options : Options
    weights : ndarray of shape (n,) or None
        Row weights of mean 1.
    regularization : float
        λ.
    candidates : int32 ndarray of shape (n, c) or None
        The present lists; None where all rows are looked at.
    searched : int
        The epoch they were found before; −1: none yet.
    """

    X: AnyArray
    classes: ClassOrder
    options: Options
    weights: FloatArray | None = None
    regularization: float = 0.0
    candidates: IntArray | None = None
    searched: int = -1

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return int(self.X.shape[0])

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Find the candidates anew every few epochs."""
        options = self.options
        n_own, n_other = min(2 * options.n_neighbors + 3, self.n_rows), min(OTHERS, self.n_rows)
        if options.search == "all" or n_own + n_other >= self.n_rows:
            return
        due = epoch % REFRESH[options.search] == 0 and epoch != self.searched
        if self.candidates is None or due:
            self.candidates = SEARCHES[options.search](
                self.X @ parameters.T, self.classes, n_own, n_other,
                previous=self.candidates, seed=(options.seed, epoch), n_threads=options.n_threads,
            )  # fmt: skip
            self.searched = epoch

    def infer(
        self, parameters: FloatArray, rows: IntArray, costs: FloatArray | None = None
    ) -> SignedPairs:
        """Return the signed pairs of the rows under the map ``parameters``."""
        k, codes, lists = self.options.n_neighbors, self.classes.codes, self.candidates
        costs = self.options.costs if costs is None else costs
        mapped = np.ascontiguousarray(self.X @ parameters.T)
        if lists is None:
            return infer_all(mapped, codes, rows, k, costs, n_threads=self.options.n_threads)
        squared_distances, labels = squared_distances_to(mapped, mapped, rows, lists, codes)
        return infer_pairs(squared_distances, labels, rows, lists, codes, k, costs)

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

    def scale_to_margin(self, start: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Scale a start so that about half of the rows have something to teach.

        Then the median row's gap, by which its nearest wrong vote is farther than its nearest right
        one, is 1, the size of the margin Δ. A start that parts its own rows too well (discriminants
        of few rows do) would otherwise satisfy every margin and learn nothing.
        """
        largest = float(np.square(self.X @ start.T).sum(axis=1).max())
        # A cost that no distance outweighs: the most violating set is then the nearest wrong one.
        cost = 1 + 8.0 * self.options.n_neighbors * largest
        probes = rng.permutation(self.n_rows)[:PROBES]
        sets = self.infer(start, probes, cost * (1 - np.eye(len(self.options.costs))))
        # Without a wrong vote, or a right one, there is no gap.
        sizes = np.abs(cost - sets.loss[sets.loss > cost / 2])
        known = sizes[sizes > 0]
        # In float64 the quotient would have all epochs that begin here walked in float64.
        return (start / np.sqrt(np.median(known))).astype(start.dtype) if len(known) else start


def make_objective(
    X: AnyArray, labels: IntArray, options: Options, weights: FloatArray | None
) -> FactoredObjective:
    """Return the objective of rows and their classes, in any order."""
    classes = order_by_class(labels)
    ordered = None if weights is None else weights[classes.order]
    return FactoredObjective(X[classes.order], classes, options, ordered)


def force_gradient(
    components: FloatArray, X: AnyArray, queries: IntArray, points: IntArray, weights: FloatArray
) -> FloatArray:
    """Return Σ w 2 L δ δᵀ over pairs of rows of X (n, d) with differences δ, shape (p, d).

    With z = L x the sum is 2 Fᵀ X, where row q of F sums w (z_q − z_j) over its pairs: a row in
    many pairs is mapped, and multiplied, once, and a row in none not at all.
    """
    occurs = np.zeros(X.shape[0], bool)
    occurs[queries] = occurs[points] = True
    present = np.flatnonzero(occurs)
    place = np.empty(len(occurs), np.int32)
    place[present] = np.arange(len(present))
    some = X[present]
    mapped = np.ascontiguousarray(some @ components.T)
    forces = np.zeros_like(mapped)
    add_forces(mapped, place[queries], place[points], weights, forces)
    gradient = some.T @ (2 * forces)
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
