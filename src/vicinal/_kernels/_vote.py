"""Votes of neighbours, and who wins when they tie.

With weights w_j, the class r holds V_r = Σ_{j : labels_j = r} w_j. Sums of the same weights in
another order differ by rounding, so classes whose V_r is within a share TIE of the largest tie.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray, FloatArray, IntArray

TIE = 1e-12


@njit(cache=True, nogil=True)
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
    winners = np.empty(labels.shape[0], np.int64)
    counts = np.zeros(n_classes, np.int64)
    for i in range(labels.shape[0]):
        for label in labels[i]:
            counts[label] += 1
        winners[i] = labels[i, 0]
        for label in labels[i]:
            if counts[label] > counts[winners[i]]:
                winners[i] = label
        for label in labels[i]:
            counts[label] = 0
    return winners


@njit(cache=True, nogil=True)
def weighted_vote(
    labels: AnyArray, weights: AnyArray, indptr: AnyArray, n_classes: int, fallback: int
) -> Any:
    """Return the class of largest V_r, among tied ones that with the nearest neighbour.

    Parameters
    ----------
    labels : int64 ndarray of shape (total,)
        Classes 0..R-1 of the neighbours of query i, nearest first, at indptr[i]:indptr[i + 1].
    weights : float64 ndarray of shape (total,)
        Above zero.
    indptr : int64 ndarray of shape (m + 1,)
    n_classes : int
        R.
    fallback : int
        The winner where there are no neighbours.

    Returns
    -------
    int64 ndarray of shape (m,)

    Notes
    -----
    Time O(total), memory O(m + R).
    """
    winners = np.full(indptr.shape[0] - 1, fallback, np.int64)
    totals = np.zeros(n_classes)
    for i in range(winners.shape[0]):
        stretch = labels[indptr[i] : indptr[i + 1]]
        largest = 0.0
        for j in range(stretch.shape[0]):
            totals[stretch[j]] += weights[indptr[i] + j]
        for label in stretch:
            largest = max(largest, totals[label])
        for label in stretch:
            if totals[label] >= largest * (1 - TIE):
                winners[i] = label
                break
        for label in stretch:
            totals[label] = 0.0
    return winners


def weighted_shares(
    labels: IntArray, weights: FloatArray, indptr: IntArray, prior: FloatArray
) -> FloatArray:
    """Return V_r / Σ_s V_s for each query, of shape (m, R); the ``prior`` (R,) where none vote.

    Where the largest shares tie, that of :func:`weighted_vote`'s winner is lifted above them, by
    no more than the tie's width: the class with the largest share is always the winner.
    """
    m, n_classes = len(indptr) - 1, len(prior)
    sizes = np.diff(indptr)
    cells = np.repeat(np.arange(m), sizes) * n_classes + labels
    totals = np.bincount(cells, weights, minlength=m * n_classes).reshape(m, n_classes)
    shares: FloatArray = totals / np.where(sizes > 0, totals.sum(axis=1), 1.0)[:, None]
    shares[sizes == 0] = prior
    winners = weighted_vote(labels, weights, indptr, n_classes, int(np.argmax(prior)))
    largest = shares.max(axis=1)
    beaten = (shares >= shares[np.arange(m), winners][:, None]).sum(axis=1) > 1
    shares[beaten, winners[beaten]] = np.nextafter(largest[beaten], 2)
    return shares
