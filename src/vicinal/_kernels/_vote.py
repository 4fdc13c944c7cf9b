"""Votes of neighbours, and who wins when they tie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray, FloatArray, IntArray


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
        winners[i] = _winner(labels[i], counts)
    return winners


@njit(cache=True, nogil=True)
def ragged_majority_vote(labels: AnyArray, indptr: AnyArray, n_classes: int, fallback: int) -> Any:
    """Return :func:`majority_vote` for neighbours of different number, ``fallback`` where none.

    The neighbours of query i, nearest first, stand at ``labels[indptr[i]:indptr[i + 1]]``.
    """
    winners = np.full(indptr.shape[0] - 1, fallback, np.int64)
    counts = np.zeros(n_classes, np.int64)
    for i in range(winners.shape[0]):
        if indptr[i + 1] > indptr[i]:
            winners[i] = _winner(labels[indptr[i] : indptr[i + 1]], counts)
    return winners


@njit(cache=True, nogil=True)
def _winner(labels: AnyArray, counts: AnyArray) -> int:
    """Return the winner of one vote; ``counts`` (R,) is zero before and after."""
    for label in labels:
        counts[label] += 1
    winner = labels[0]
    for label in labels:
        if counts[label] > counts[winner]:
            winner = label
    for label in labels:
        counts[label] = 0
    return int(winner)


def majority_vote_reference(labels: IntArray, n_classes: int) -> IntArray:
    """Return what :func:`majority_vote` returns, written for reading: O(m k R)."""
    winners = []
    for row in labels:
        counts = np.bincount(row, minlength=n_classes)
        tied = np.flatnonzero(counts == counts.max())
        winners.append(next(label for label in row if label in tied))
    return np.array(winners, dtype=np.int64)


def vote_shares(labels: IntArray, n_classes: int) -> FloatArray:
    """Return each class's share of each query's neighbours, of shape (m, n_classes).

    Where the largest shares tie, that of :func:`majority_vote`'s winner is larger by one unit in
    the last place: the class with the largest share is always the winner.
    """
    m, k = labels.shape
    return ragged_vote_shares(labels.ravel(), np.arange(0, m * k + 1, k), np.ones(n_classes))


def ragged_vote_shares(labels: IntArray, indptr: IntArray, prior: FloatArray) -> FloatArray:
    """Return :func:`vote_shares` for neighbours of different number, the ``prior`` where none."""
    m, n_classes = len(indptr) - 1, len(prior)
    sizes = np.diff(indptr)
    cells = np.repeat(np.arange(m), sizes) * n_classes + labels
    counts = np.bincount(cells, minlength=m * n_classes).reshape(m, n_classes)
    shares: FloatArray = counts / np.maximum(sizes, 1)[:, None]
    shares[sizes == 0] = prior
    tied = (shares == shares.max(axis=1, keepdims=True)).sum(axis=1) > 1
    winners = ragged_majority_vote(labels, indptr, n_classes, int(np.argmax(prior)))[tied]
    shares[tied, winners] = np.nextafter(shares[tied, winners], 2)
    return shares
