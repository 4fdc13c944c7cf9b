"""Losses of neighbours chosen softly: a weight for every pair of rows, made a block at a time.

NCA, its variant for k neighbours and kernel regression all look at the squared distances D_ij of
mapped rows z = A x and differ only in the loss they make of a row of D. A *rule* returns each
row's loss and its derivatives W_ij by D_ij; the gradient by A then is

    2 Σ_ij W_ij (z_i − z_j)(x_i − x_j)ᵀ = 2 Fᵀ X,   F_i = Σ_j (W_ij + W_ji)(z_i − z_j),        (1)

three products a block, and no matrix of all pairs is held.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.descent import Adam, Descent, Listener

# Numbers in a block of squared distances: what stays near a core while it is worked on.
BLOCK = 2**19
# Rows whose neighbours say how far a start looks.
PROBES, PROBED = 256, 4096


class Rule(Protocol):
    """What is lost by rows that choose neighbours by their squared distances."""

    def __call__(
        self, squared_distances: FloatArray, queries: IntArray, references: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return losses (b,) and their derivatives (b, m) by squared distances (b, m).

        A distance of inf is a row's own: it is not a neighbour. The array may be overwritten.
        """


def pair_distances(
    wanted: FloatArray, points: FloatArray, queries: IntArray, references: IntArray
) -> FloatArray:
    """Return squared distances (b, m) of mapped rows, inf where a row meets itself.

    ``queries`` (b,) and ``references`` (m,), which ascend, are the numbers of the rows whose maps
    are ``wanted`` (b, p) and ``points`` (m, p).
    """
    squared: FloatArray = wanted @ points.T
    squared *= -2
    squared += np.einsum("ij,ij->i", points, points)
    squared += np.einsum("ij,ij->i", wanted, wanted)[:, None]
    np.maximum(squared, 0, out=squared)
    place = np.searchsorted(references, queries)
    itself = np.flatnonzero(references[np.minimum(place, len(references) - 1)] == queries)
    squared[itself, place[itself]] = np.inf
    return squared


def soft_loss(
    rule: Rule, X: FloatArray, components: FloatArray, queries: IntArray, references: IntArray
) -> tuple[float, FloatArray]:
    """Return the summed loss of some rows that choose among others, and (1).

    Rows that are neither cost nothing.

    Parameters
    ----------
    rule : Rule
    X : ndarray of shape (n, d)
        About its mean.
    components : ndarray of shape (p, d)
    queries : int ndarray of shape (b,)
    references : int ndarray of shape (m,)
        Ascending.
    """
    known = X[references]
    points = known @ components.T
    pulled, degrees = np.zeros_like(points), np.zeros(len(points), X.dtype)
    gradient, loss = np.zeros((len(components), X.shape[1]), X.dtype), 0.0
    step = max(1, BLOCK // len(references))
    for first in range(0, len(queries), step):
        rows = queries[first : first + step]
        asked = X[rows]
        wanted = asked @ components.T
        losses, weights = rule(pair_distances(wanted, points, rows, references), rows, references)
        loss += float(losses.sum(dtype=np.float64))
        gradient += (weights.sum(axis=1)[:, None] * wanted - weights @ points).T @ asked
        degrees += weights.sum(axis=0)
        pulled -= weights.T @ wanted
    gradient += (pulled + degrees[:, None] * points).T @ known
    return loss, 2 * gradient


class AllPairs:
    """The mean loss over all rows and its gradient: what L-BFGS asks for."""

    def __init__(self, X: FloatArray, rule: Rule) -> None:
        self.X, self.rule = X, rule
        self.rows = np.arange(len(X))

    def __call__(self, components: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its gradient (p, d) at A (p, d)."""
        loss, gradient = soft_loss(self.rule, self.X, components, self.rows, self.rows)
        return loss / len(self.X), gradient / len(self.X)


class SampledPairs:
    """The loss of a batch of rows that choose among some rows drawn anew for every batch.

    An :class:`~vicinal.metric.descent.Objective`: memory is that of a block, whatever the rows.
    """

    def __init__(self, X: FloatArray, rule: Rule, n_references: int, seed: Any) -> None:
        self.X, self.rule = np.ascontiguousarray(X, np.float32), rule
        self.n_references = min(n_references, len(X))
        self.rng = np.random.default_rng(seed)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.X)

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Do nothing: all candidates are drawn."""

    def infer(self, parameters: FloatArray, rows: IntArray) -> IntArray:
        """Return the rows themselves."""
        return rows

    def gradient(
        self, parameters: FloatArray, sets: IntArray, part: slice
    ) -> tuple[float, FloatArray]:
        """Return the summed loss of a batch and the gradient of its mean."""
        chosen = np.sort(self.rng.permutation(self.n_rows)[: self.n_references])
        rows = sets[part]
        loss, gradient = soft_loss(self.rule, self.X, parameters, rows, chosen)
        return loss, gradient / len(rows)

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters as they are."""
        return parameters

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return the map, which the parameters are."""
        return parameters


def sampled_descent(
    objective: SampledPairs, start: FloatArray, *, rate: float, n_epochs: int, seed: Any
) -> Descent:
    """Return a descent by Adam; the rate is relative to the size of the start's entries."""
    size = float(np.sqrt(np.mean(start**2)))
    parameters = start.astype(np.float32)
    rng = np.random.default_rng(seed)
    return Descent(objective, Adam(rate * size), parameters, n_epochs, rng)


def descend_sampled(
    objective: SampledPairs,
    start: FloatArray,
    *,
    rate: float,
    n_epochs: int,
    seed: Any,
    n_stop: int,
    listener: Listener,
) -> tuple[FloatArray, list[float]]:
    """Return the map after ``n_stop`` of ``n_epochs`` epochs and the mean loss of each."""
    descent = sampled_descent(objective, start, rate=rate, n_epochs=n_epochs, seed=seed)
    while descent.epoch < n_stop:
        loss = descent.advance()
        if listener(descent.epoch, loss, descent.components):
            break
    return descent.components.astype(np.float64), descent.losses


def scale_to_perplexity(
    start: FloatArray, X: FloatArray, perplexity: float, seed: Any
) -> FloatArray:
    """Scale A so that rows look, on average, at so many neighbours.

    With p_j ∝ exp(−D_ij), the geometric mean over rows of exp(−Σ_j p_j log p_j) is the perplexity;
    it falls as A grows, so that a bisection finds the scale. Where a start is too large every row
    sees its nearest alone and nothing can be learned; too small, and it sees all alike.
    """
    rng = np.random.default_rng(seed)
    references = np.sort(rng.permutation(len(X))[:PROBED])
    queries = rng.permutation(references)[:PROBES]
    squared = pair_distances(X[queries] @ start.T, X[references] @ start.T, queries, references)
    wanted = np.log(min(perplexity, max(1.0, (len(references) - 1) / 2)))
    squared -= squared.min(axis=1, keepdims=True)
    typical = np.median(squared[np.isfinite(squared)])
    if not typical > 0:
        return start
    low, high = np.log(1e-6 / typical), np.log(1e9 / typical)
    for _ in range(24):  # to two millionths of the scale
        middle = (low + high) / 2
        low, high = (middle, high) if _entropy(squared, np.exp(middle)) > wanted else (low, middle)
    scaled: FloatArray = start * np.exp(low / 2)
    return scaled


def _entropy(squared: FloatArray, scale: float) -> float:
    """Return the mean entropy of p ∝ exp(−scale · D), the least distance of each row being 0."""
    weights = np.exp(-scale * squared)
    totals = weights.sum(axis=1)
    finite = np.where(weights > 0, squared, 0.0)
    return float(np.mean(np.log(totals) + scale * np.einsum("ij,ij->i", weights, finite) / totals))
