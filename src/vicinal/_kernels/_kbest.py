"""The k nearest points of every class, kept in one pass over squared distances.

A *k-best table* of one query is three arrays, reused from query to query:

- ``best`` (R, k) float64, the k smallest squared distances of each class, ascending;
- ``which`` (R, k) int32, the points they belong to (ties: the point met first stays in front);
- ``count`` (R,) int32, how many of the k places are filled;

with ``present`` (R,) int32, whose first entries list the classes that have a point at all, so
that the cost of a query never depends on classes that are absent.

Infinite and NaN distances and negative labels mark points that may not be used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import FloatArray, IntArray


@njit(cache=True, nogil=True)
def insert_sorted(
    best: FloatArray, which: IntArray, count: IntArray, r: int, k: int, value: float, point: int
) -> None:
    """Put ``value`` in its place among class r's k best, behind equal values; cost O(k)."""
    place = count[r]
    if place < k:
        count[r] = place + 1
    else:
        place = k - 1
    while place > 0 and best[r, place - 1] > value:
        best[r, place] = best[r, place - 1]
        which[r, place] = which[r, place - 1]
        place -= 1
    best[r, place] = value
    which[r, place] = point


@njit(cache=True, nogil=True)
def collect_row(
    squared_distances: FloatArray,
    labels: IntArray,
    k: int,
    best: FloatArray,
    which: IntArray,
    count: IntArray,
    present: IntArray,
) -> int:
    """Fill the k-best table from one row of candidates and return how many classes are present.

    ``count`` must be zero on entry. Cost O(c + insertions·k) for c candidates.
    """
    n_present = 0
    for j in range(squared_distances.shape[0]):
        value, r = squared_distances[j], labels[j]
        if r < 0 or not value < np.inf:
            continue
        if count[r] == 0:
            present[n_present] = r
            n_present += 1
        elif count[r] == k and not value < best[r, k - 1]:
            continue
        insert_sorted(best, which, count, r, k, value, j)
    return n_present


def new_table(n_classes: int, k: int) -> tuple[Any, ...]:
    """Return an empty k-best table (best, which, count, present) for R classes."""
    return (
        np.empty((n_classes, k), np.float64),
        np.empty((n_classes, k), np.int32),
        np.zeros(n_classes, np.int32),
        np.empty(n_classes, np.int32),
    )
