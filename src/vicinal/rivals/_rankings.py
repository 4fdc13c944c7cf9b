"""Measures of rankings, and the cut through all queries that a metric violates most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vicinal._kernels._rankings import most_violated
from vicinal._types import FloatArray, IntArray

MEASURES = ("auc", "precision", "map", "ndcg")


@lru_cache(maxsize=256)
def rank_losses(measure: str, n_relevant: int, n_others: int, k: int) -> FloatArray:
    """Return what each relevant row adds to 1 − measure, by the others above it, (P, N + 1).

    Parameters
    ----------
    measure : "auc", "precision", "map" or "ndcg"
        The share of pairs in order; the relevant share of the first k; the mean over relevant rows
        of the share up to them; the sum of 1/log₂(1 + rank), over its best value.
    n_relevant, n_others : int
    k : int
        For "precision"; no more rows than are relevant count.
    """
    row = np.arange(1, n_relevant + 1)[:, None]
    above = np.arange(n_others + 1)[None]
    if measure == "auc":
        return np.broadcast_to(above / (n_relevant * n_others), (n_relevant, n_others + 1)).copy()
    if measure == "precision":
        first = min(k, n_relevant)
        shares = (row <= first) / first
        return shares - (row + above <= first) / first
    if measure == "map":
        return (1 - row / (row + above)) / n_relevant
    gains = 1 / np.log2(1 + np.arange(1, n_relevant + 1))
    losses: FloatArray = (gains[:, None] - 1 / np.log2(1 + row + above)) / gains.sum()
    return losses


@dataclass(frozen=True)
class Cut:
    """One constraint ⟨W, Ψ⟩ ≥ loss − ξ: ``matrix`` Ψ (d, d) and the mean ``loss``."""

    matrix: FloatArray
    loss: float


def violate(
    metric: FloatArray, X: FloatArray, labels: IntArray, measure: str, k: int
) -> tuple[Cut, float]:
    """Return the mean over queries of the most violated constraints, and by how much it is.

    Every row asks for the rows of its class among all others. Time O(n² d + Σ P N), memory O(n²).
    """
    mapped = X @ metric
    squared = np.einsum("ij,ij->i", mapped, X)
    scores = 2 * mapped @ X.T - squared - squared[:, None]
    pull = np.zeros((len(X), len(X)))
    loss, n_asked = 0.0, 0
    for q in range(len(X)):
        relevant, others = _in_order(scores[q], labels, q)
        if not len(relevant) or not len(others):
            continue
        losses = rank_losses(measure, len(relevant), len(others), k)
        above = np.empty(len(relevant), np.int64)
        most_violated(scores[q, relevant], scores[q, others], losses, above)
        pairs = len(relevant) * len(others)
        pull[q, relevant] = 2 * above / pairs
        # Of other row j, how many relevant rows it stands above.
        passed = len(relevant) - np.searchsorted(above, np.arange(1, len(others) + 1))
        pull[q, others] = -2 * passed / pairs
        loss += losses[np.arange(len(relevant)), above].sum()
        n_asked += 1
    pull /= max(1, n_asked)
    cut = Cut(-_scatter(pull, X), loss / max(1, n_asked))
    return cut, cut.loss - float(np.sum(cut.matrix * metric))


def _in_order(scores: FloatArray, labels: IntArray, query: int) -> tuple[IntArray, IntArray]:
    """Return the rows of the query's class, and all others, nearest first."""
    order = np.argsort(-scores, kind="stable")
    order = order[order != query]
    same = labels[order] == labels[query]
    return order[same], order[~same]


def _scatter(weights: FloatArray, X: FloatArray) -> FloatArray:
    """Return Σ_qi w_qi (x_q − x_i)(x_q − x_i)ᵀ."""
    degrees = weights.sum(axis=1) + weights.sum(axis=0)
    cross = X.T @ (weights @ X)
    scatter: FloatArray = (X * degrees[:, None]).T @ X - cross - cross.T
    return scatter
