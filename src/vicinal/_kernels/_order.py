"""Sorting, selecting, inserting and merging in place, on small arrays inside other kernels."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numba import njit

from vicinal._types import AnyArray

# For functions that only compiled code calls and that allocate nothing: no Python wrappers, half of
# the time to compile, and no reference counts, half of the time to run.
inner: Any = cast(Any, njit)(
    cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False
)


@njit(cache=True, nogil=True, inline="always")
def _before(value: float, row: int, other_value: float, other_row: int) -> bool:
    return value < other_value or (value == other_value and row < other_row)


@inner
def _precedes(value: float, row: Any, values: AnyArray, rows: Any, p: int) -> bool:
    """Return whether (value, row) comes before the p-th pair; ``rows`` None: by value alone."""
    if rows is None:
        return value < values[p]
    return _before(value, row, values[p], rows[p])


@inner
def _follows(value: float, row: Any, values: AnyArray, rows: Any, p: int) -> bool:
    """Return whether (value, row) comes after the p-th pair; ``rows`` None: by value alone."""
    if rows is None:
        return value > values[p]
    return _before(values[p], rows[p], value, row)


@inner
def insert(values: AnyArray, rows: Any, n: int, value: float, row: Any, ties: Any) -> int:
    """Put a value among the least ones, ascending; return its place, beyond the end where none.

    The first n places of ``values`` are taken; where all are, the last one drops out. ``rows`` go
    with the values, or are None. Equal values: the earlier first or, where ``ties`` are the rows
    again instead of None, the lower row.
    """
    room, place = values.shape[0], n
    if n == room:
        if room == 0 or not _precedes(value, row, values, ties, room - 1):
            return room
        place -= 1
    while place > 0 and _precedes(value, row, values, ties, place - 1):
        values[place] = values[place - 1]
        if rows is not None:
            rows[place] = rows[place - 1]
        place -= 1
    values[place] = value
    if rows is not None:
        rows[place] = row
    return place


@njit(cache=True, nogil=True)
def keep_least(values: AnyArray, rows: Any, n: int, k: int) -> float:
    """Bring the k least of the first n values to the front; return the largest of them.

    Equal values: the lower row first; with ``rows`` None there are only values. Expected time O(n).
    """
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) // 2
        pivot = values[middle]
        pivot_row = 0 if rows is None else rows[middle]
        i, j = low, high
        while i <= j:
            while _follows(pivot, pivot_row, values, rows, i):
                i += 1
            while _precedes(pivot, pivot_row, values, rows, j):
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                if rows is not None:
                    rows[i], rows[j] = rows[j], rows[i]
                i, j = i + 1, j - 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return values[k - 1]


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
