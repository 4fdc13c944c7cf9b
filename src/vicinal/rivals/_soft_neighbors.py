"""Descent on losses of neighbours chosen softly, over all pairs of rows or over some drawn.

NCA, its variant for k neighbours and kernel regression differ only in their *rule*, the loss they
make of a row of squared distances (``pairs``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.metric.descent import Adam, Descent, Listener
from vicinal.pairs import SoftRule, pair_distances, soft_loss

# Rows whose neighbours say how far a start looks.
PROBES, PROBED = 256, 4096


class AllPairs:
    """The mean loss over all rows and its gradient: what L-BFGS asks for."""

    def __init__(self, X: FloatArray, rule: SoftRule) -> None:
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

    def __init__(self, X: FloatArray, rule: SoftRule, n_references: int, seed: Any) -> None:
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
    entropy = np.log(min(perplexity, max(1.0, (len(references) - 1) / 2)))
    squared -= squared.min(axis=1, keepdims=True)
    typical = np.median(squared[np.isfinite(squared)])
    if not typical > 0:
        return start
    low, high = np.log(1e-6 / typical), np.log(1e9 / typical)
    for _ in range(24):  # to two millionths of the scale
        middle = (low + high) / 2
        low, high = (middle, high) if _entropy(squared, np.exp(middle)) > entropy else (low, middle)
    scaled: FloatArray = start * np.exp(low / 2)
    return scaled


def _entropy(squared: FloatArray, scale: float) -> float:
    """Return the mean entropy of p ∝ exp(−scale · D), the least distance of each row being 0."""
    weights = np.exp(-scale * squared)
    totals = weights.sum(axis=1)
    finite = np.where(weights > 0, squared, 0.0)
    return float(np.mean(np.log(totals) + scale * np.einsum("ij,ij->i", weights, finite) / totals))
