"""Votes of neighbours, and who wins when they tie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray, FloatArray, IntArray


@njit(cache=True)
def majority_vote(labels: AnyArray, n_classes: int) -> Any:
    """Return the class most neighbours hold; ties go to the tied class with the nearest neighbour.

    ŷ_i = argmax_r #{j : labels[i, j] = r}, and among the maximisers the one whose first
    appearance in row i comes earliest.

    Parameters
    ----------
    labels : int64 ndarray of shape (m, k)
        Classes 0..R-1 of each query's neighbours, nearest first.
    n_classes : int
        R.

    Returns
    -------
    int64 ndarray of shape (m,)

    Notes
    -----
    Time O(m k), memory O(m + R).
    """
    m, k = labels.shape
    winners = np.empty(m, np.int64)
    counts = np.zeros(n_classes, np.int64)
    for i in range(m):
        for j in range(k):
            counts[labels[i, j]] += 1
        winner = labels[i, 0]
        for j in range(1, k):
            if counts[labels[i, j]] > counts[winner]:
                winner = labels[i, j]
        winners[i] = winner
        for j in range(k):
            counts[labels[i, j]] = 0
    return winners


def majority_vote_reference(labels: IntArray, n_classes: int) -> IntArray:
    """Return what :func:`majority_vote` returns, written for reading: O(m k R)."""
    winners = []
    for row in labels:
        counts = np.bincount(row, minlength=n_classes)
        tied = np.flatnonzero(counts == counts.max())
        winners.append(next(label for label in row if label in tied))
    return np.array(winners, dtype=np.int64)


def vote_shares(labels: IntArray, n_classes: int) -> FloatArray:
    """Return the share of each class among each query's neighbours, of shape (m, n_classes)."""
    m, k = labels.shape
    cells = np.arange(m)[:, None] * n_classes + labels
    counts = np.bincount(cells.ravel(), minlength=m * n_classes)
    return counts.reshape(m, n_classes) / k
