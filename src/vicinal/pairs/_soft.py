"""Soft weights of all pairs: a weight for every pair of rows, made a block at a time.

Losses of neighbours chosen softly look at the squared distances D_ij of mapped rows z = A x and
differ only in what they make of a row of D. A *rule* returns each row's loss and its derivatives
W_ij by D_ij; the gradient by A then is

    2 Σ_ij W_ij (z_i − z_j)(x_i − x_j)ᵀ = 2 Fᵀ X,   F_i = Σ_j (W_ij + W_ji)(z_i − z_j),        (1)

three products a block, and no matrix of all pairs is held.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.pairs._products import rounded_squared_distances

# Numbers in a block of squared distances: what stays near a core while it is worked on.
BLOCK = 2**19


class SoftRule(Protocol):
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
    squared = rounded_squared_distances(wanted, points)
    place = np.searchsorted(references, queries)
    itself = np.flatnonzero(references[np.minimum(place, len(references) - 1)] == queries)
    squared[itself, place[itself]] = np.inf
    return squared


def soft_loss(
    rule: SoftRule, X: FloatArray, components: FloatArray, queries: IntArray, references: IntArray
) -> tuple[float, FloatArray]:
    """Return the summed loss of some rows that choose among others, and (1).

    Rows that are neither cost nothing.

    Parameters
    ----------
    rule : SoftRule
    X : ndarray of shape (n, d)
        About its mean.
    components : ndarray of shape (p, d)
    queries : int ndarray of shape (b,)
    references : int ndarray of shape (m,)
        Ascending.
    """
    targets = X[references]
    points = targets @ components.T
    pulled, degrees = np.zeros_like(points), np.zeros(len(points), X.dtype)
    gradient, loss = np.zeros((len(components), X.shape[1]), X.dtype), 0.0
    step = max(1, BLOCK // len(references))
    for first in range(0, len(queries), step):
        rows = queries[first : first + step]
        sources = X[rows]
        places = sources @ components.T
        losses, weights = rule(pair_distances(places, points, rows, references), rows, references)
        loss += float(losses.sum(dtype=np.float64))
        gradient += (weights.sum(axis=1)[:, None] * places - weights @ points).T @ sources
        degrees += weights.sum(axis=0)
        pulled -= weights.T @ places
    gradient += (pulled + degrees[:, None] * points).T @ targets
    return loss, 2 * gradient
