"""The objective of gerrymandering: sets that vote, and the gradient that pulls and pushes.

With s_ij = +1 on h*∖ĥ and −1 on ĥ∖h*, the signed pairs that inference gives of row i,

    ∂L_i/∂W = Σ_j s_ij (x_i − x_j)(x_i − x_j)ᵀ,   ∂L_i/∂L = 2 L ∂L_i/∂W  for W = LᵀL.    (1)

One objective, in the coordinates a descent may want: of a map L or of two (``FactoredObjective``),
of W itself, kept in the cone of metrics (``ConeObjective``), and of what two maps have in common
and what parts them (``PartedObjective``). A learner with other sets (``PairedObjective``) brings
its own inference, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
from vicinal.metric.descent import Descent, Objective, project_to_cone
from vicinal.metric.gerrymander._options import MLNGOptions
from vicinal.metric.gerrymander._regularizers import REGULARIZERS, factored_regularizer
from vicinal.metric.inference import SignedPairs, infer_all, infer_pairs
from vicinal.rows import Rows

# Rows of other classes a list holds beside 2k + 3 of the own: several times what a set can use.
OTHERS = 40
# Rows whose gaps tell the size of a start.
PROBES = 256
# The median row's gap in units of the margin: all but one, and irrational, since gaps of rows on a
# grid are in the ratios of whole numbers.
MEDIAN_GAP = 0.99**0.5
# s: what parts the maps moves by so much of what they have in common.
SPREAD = 0.1


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


@dataclass
class FactoredObjective(PairedObjective):
    """mean_i w_i L_i(LᵀL) + λ reg(LᵀL), with inference over candidate lists or over all rows.

    Parameters are L (p, d), or U and V (2, p, d) for queries and for the database.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Rows in order of class.
    classes : ClassOrder
    options : MLNGOptions
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
    options: MLNGOptions
    weights: FloatArray | None = None
    regularization: float = 0.0
    candidates: IntArray | None = None
    searched: int = -1

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Find the candidates anew every few epochs."""
        options = self.options
        n_own, n_other = min(2 * options.n_neighbors + 3, self.n_rows), min(OTHERS, self.n_rows)
        if options.search == "all" or n_own + n_other >= self.n_rows:
            return
        due = epoch % REFRESH[options.search] == 0 and epoch != self.searched
        if self.candidates is None or due:
            queries, points = self._map(parameters)
            self.candidates = SEARCHES[options.search](
                points, self.classes, n_own, n_other, queries=queries,
                previous=self.candidates, seed=(options.seed, epoch), n_threads=options.n_threads,
            )  # fmt: skip
            self.searched = epoch

    def infer(
        self, parameters: FloatArray, rows: IntArray, costs: FloatArray | None = None
    ) -> SignedPairs:
        """Return the signed pairs of the rows under the map ``parameters``."""
        k, codes, lists = self.options.n_neighbors, self.classes.codes, self.candidates
        costs = self.options.costs if costs is None else costs
        queries, points = self._map(parameters)
        if lists is None:
            n_threads = self.options.n_threads
            return infer_all(points, codes, rows, k, costs, queries=queries, n_threads=n_threads)
        squared_distances, labels = squared_distances_to(queries, points, rows, lists, codes)
        return infer_pairs(squared_distances, labels, rows, lists, codes, k, costs)

    def _map(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rows where the maps put queries and points; one array where there is one map."""
        mapped = [np.ascontiguousarray(self.X @ side.T) for side in sides(parameters)]
        return mapped[0], mapped[-1]

    def scale_to_margin(self, start: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Scale a start so that about half of the rows have something to teach.

        Then the median row's gap, by which its nearest wrong vote is farther than its nearest right
        one, is all but 1, the size of the margin Δ: at its very edge a row would teach or not as
        the last bit of its distances has it. A start that parts its own rows too well, as
        discriminants of few rows do, would otherwise satisfy every margin and learn nothing.
        """
        largest = max(float(np.square(side).sum(axis=1).max()) for side in self._map(start))
        # A cost that no distance outweighs: the most violating set is then the nearest wrong one.
        cost = 1 + 8.0 * self.options.n_neighbors * largest
        probes = rng.permutation(self.n_rows)[:PROBES]
        sets = self.infer(start, probes, cost * (1 - np.eye(len(self.options.costs))))
        # Without a wrong vote, or a right one, there is no gap.
        sizes = np.abs(cost - sets.loss[sets.loss > cost / 2])
        gaps = sizes[sizes > 0]
        size = np.sqrt(np.median(gaps) / MEDIAN_GAP) if len(gaps) else 1.0
        # In float64 the quotient would have all epochs that begin here walked in float64.
        return (start / size).astype(start.dtype)


def make_objective(rows: Rows, options: MLNGOptions) -> FactoredObjective:
    """Return the objective of rows and their classes, in any order."""
    classes = order_by_class(rows.codes)
    ordered = rows.take(classes.order)
    return FactoredObjective(ordered.X, classes, options, ordered.weights)


@dataclass
class ConeObjective:
    """mean_i w_i L_i(W) + λ reg(W): a :class:`FactoredObjective` differentiated in W.

    The projection on the cone of metrics costs O(r³), so it happens once for several batches,
    together with the inference of their sets: both need the same eigendecomposition.
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


@dataclass
class PartedObjective:
    """An objective of stacked maps (U, V), seen as one of (M, E): U = M + s E and V = M − s E.

    Steps of Adam are of one size in every parameter. Steps of U and V themselves would move what
    the maps have in common and what parts them alike, and the second, which the loss says little
    about, is mostly noise. Here M moves as the one map of a symmetric metric does, and E by the
    share s of it.
    """

    inner: Objective
    spread: float = SPREAD

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""
        return self.inner.n_rows

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Look again where the candidates for neighbour sets lie."""
        self.inner.look(self.components(parameters), epoch)

    def infer(self, parameters: FloatArray, rows: IntArray) -> Any:
        """Return the neighbour sets of the rows."""
        return self.inner.infer(self.components(parameters), rows)

    def gradient(self, parameters: FloatArray, sets: Any, part: slice) -> tuple[float, FloatArray]:
        """Return the summed loss of a part and the gradient of its mean in M and E."""
        loss, (query_side, database_side) = self.inner.gradient(
            self.components(parameters), sets, part
        )
        spread = parameters.dtype.type(self.spread)
        common, apart = query_side + database_side, query_side - database_side
        return loss, np.stack([common, spread * apart])

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are."""
        return parameters

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return U and V, stacked."""
        apart = parameters.dtype.type(self.spread) * parameters[1]
        return np.stack([parameters[0] + apart, parameters[0] - apart])


def part(descent: Descent, spread: float = SPREAD) -> Descent:
    """Turn a descent on stacked maps into one on their mean and half their difference."""
    first, second = descent.parameters
    apart = (first - second) / first.dtype.type(2 * spread)
    descent.parameters = np.stack([(first + second) / 2, apart])
    descent.objective = PartedObjective(descent.objective, spread)
    return descent


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
