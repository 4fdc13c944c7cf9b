"""What a query loses by the order of its documents, and how it changes with every score.

A loss sees scores s (b, c), in units in which the usual losses of unit vectors are written
(:data:`SCALE` times the inner product), and weights w ≥ 0 of the relevant documents, Σ_j w_ij = 1.
Scores of −inf are of documents that no list may show.

- softmax:  −Σ_j w_ij log p_ij,  p_i = softmax(s_i);
- hinge:    Σ_j w_ij max(0, M − s_ij + max_{l wrong} s_il) / M;
- gerrymandering: (Σ_{h*} D − Σ_ĥ D + Δ(ĥ)) / M with D = −s, where h* is the nearest set of k
  documents of which most are relevant, and ĥ the set that is worst for that vote.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vicinal._kernels._targeted import infer_sets, new_inferred
from vicinal._types import FloatArray

# Inner products of unit vectors are counted in twentieths: the usual scale of ranking losses.
SCALE = 20.0
# By how much a wrong document should stay behind: e² to one, were scores logarithms of odds.
MARGIN = 2.0

Loss = Callable[[FloatArray, FloatArray], tuple[float, FloatArray]]


def softmax_loss(scores: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the summed loss, and its derivatives by scores, (b, c)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    chances = np.exp(shifted)
    total = chances.sum(axis=1, keepdims=True)
    logs = np.where(weights > 0, shifted, 0) - np.log(total)
    chances /= total
    chances -= weights
    return -float(np.einsum("ij,ij->", weights, logs, dtype=np.float64)), chances


def hinge_loss(scores: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the summed loss, and its derivatives by scores, (b, c)."""
    rows, right = np.arange(len(scores)), weights > 0
    wrong = np.where(right, -np.inf, scores)
    worst = wrong.argmax(axis=1)
    gap = MARGIN + wrong[rows, worst][:, None] - np.where(right, scores, 0)
    pulled = np.where(right & (gap > 0), weights, 0).astype(scores.dtype)
    loss = float(np.einsum("ij,ij->", pulled, np.where(pulled > 0, gap, 0))) / MARGIN
    slopes = -pulled / scores.dtype.type(MARGIN)
    slopes[rows, worst] += pulled.sum(axis=1) / scores.dtype.type(MARGIN)
    return loss, slopes


def gerrymandering_loss_of(n_neighbors: int) -> Loss:
    """Return the loss of sets of k documents; queries that no set can vote for lose nothing."""
    costs = MARGIN * (1.0 - np.eye(2))

    def loss(scores: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        m, n = scores.shape
        slopes = np.zeros_like(scores)
        if n_neighbors > n:
            return 0.0, slopes
        inferred = new_inferred(m, n_neighbors)
        labels = (weights > 0).astype(np.int32)
        infer_sets(-scores, labels, np.ones(m, np.int32), costs, inferred)
        able = np.flatnonzero(inferred.star[:, 0] >= 0)[:, None]
        unit = scores.dtype.type(1 / MARGIN)
        slopes[able, inferred.star[able[:, 0]]] -= unit
        slopes[able, inferred.hat[able[:, 0]]] += unit
        return float(inferred.loss[able[:, 0]].sum()) / MARGIN, slopes

    return loss


def make_loss(name: str, n_neighbors: int) -> Loss:
    """Return a loss by its name."""
    if name == "gerrymandering":
        return gerrymandering_loss_of(n_neighbors)
    return {"softmax": softmax_loss, "hinge": hinge_loss}[name]
