"""Sorting, selecting and merging in place, on small arrays inside other kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray


@njit(cache=True, nogil=True)
def kth_smallest(values: AnyArray, k: int) -> float:
    """Return the k-th smallest value (k from 1); reorders ``values``. Expected time O(n)."""
    low, high = 0, values.shape[0] - 1
    while low < high:
        pivot = _median(values[low], values[(low + high) // 2], values[high])
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return values[k - 1]


@njit(cache=True, nogil=True)
def _median(a: float, b: float, c: float) -> float:
    return max(min(a, b), min(max(a, b), c))


@njit(cache=True, nogil=True)
def sort_pairs(values: AnyArray, rows: AnyArray) -> None:
    """Sort (value, row) pairs ascending, equal values by row, in place. Heap sort, O(n log n)."""
    n = values.shape[0]
    for root in range(n // 2 - 1, -1, -1):
        _sift_down(values, rows, root, n)
    for last in range(n - 1, 0, -1):
        values[0], values[last] = values[last], values[0]
        rows[0], rows[last] = rows[last], rows[0]
        _sift_down(values, rows, 0, last)


@njit(cache=True, nogil=True)
def _sift_down(values: AnyArray, rows: AnyArray, root: int, n: int) -> None:
    value, row = values[root], rows[root]
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and _before(
            values[child], rows[child], values[child + 1], rows[child + 1]
        ):
            child += 1
        if not _before(value, row, values[child], rows[child]):
            break
        values[root], rows[root] = values[child], rows[child]
        root = child
    values[root], rows[root] = value, row


@njit(cache=True, nogil=True)
def _before(value: float, row: int, other_value: float, other_row: int) -> bool:
    return value < other_value or (value == other_value and row < other_row)


@njit(cache=True, nogil=True)
def merge_sorted(
    nearest: AnyArray, indices: AnyArray, values: AnyArray, rows: AnyArray, first_row: int
) -> None:
    """Merge ascending (value, row) pairs into the k nearest so far, in place, from the far end.

    ``nearest`` and ``indices`` (k,) are what was found among lower rows; on equal values they stay
    in front. ``rows`` count from ``first_row``. Time O(k + len(values)).
    """
    k, c = nearest.shape[0], values.shape[0]
    # How many of each list are among the first k: walk both from the front.
    old = new = 0
    while old + new < k:
        if new < c and values[new] < nearest[old]:
            new += 1
        else:
            old += 1
    for place in range(k - 1, -1, -1):
        if new > 0 and (old == 0 or values[new - 1] >= nearest[old - 1]):
            new -= 1
            nearest[place], indices[place] = values[new], first_row + rows[new]
        else:
            old -= 1
            nearest[place], indices[place] = nearest[old], indices[old]


@njit(cache=True, nogil=True)
def grown(values: AnyArray, size: int) -> Any:
    """Return a copy with room for ``size`` values."""
    larger = np.empty(size, values.dtype)
    larger[: values.shape[0]] = values
    return larger
