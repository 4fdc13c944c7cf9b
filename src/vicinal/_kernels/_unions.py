"""The candidates that the rows of a cell know between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vicinal._types import IntArray


@njit(cache=True, nogil=True)
def reverse_lists(lists: IntArray, n_own: int) -> Any:
    """Return ``starts`` (n + 1,) and ``sources``: the rows that list row i as of another class.

    Those of row i are ``sources[starts[i]:starts[i + 1]]``, ascending; −1 in ``lists`` is no row.
    """
    n = lists.shape[0]
    starts = np.zeros(n + 1, np.int64)
    for i in range(n):
        for a in range(n_own, lists.shape[1]):
            if lists[i, a] >= 0:
                starts[lists[i, a] + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    sources = np.empty(starts[n], np.int32)
    place = starts[:n].copy()
    for i in range(n):
        for a in range(n_own, lists.shape[1]):
            j = lists[i, a]
            if j >= 0:
                sources[place[j]] = i
                place[j] += 1
    return starts, sources


@njit(cache=True, nogil=True, inline="always")
def _add(row: int, stamps: IntArray, stamp: int, found: IntArray, n: int) -> int:
    """Append a row that does not carry the stamp yet."""
    if row >= 0 and stamps[row] != stamp:
        stamps[row] = stamp
        found[n] = row
        n += 1
    return n


@njit(cache=True, nogil=True)
def gather_known(
    rows: IntArray,
    lists: IntArray,
    n_own: int,
    starts: IntArray,
    sources: IntArray,
    most: int,
    stamps: IntArray,
    stamp: int,
) -> Any:
    """Return (own, others): all rows that the lists of some rows of one class name, once each.

    ``own`` begins with the rows themselves. ``others`` are the rows' candidates of other classes
    and at most ``most`` a row of those that list it, evenly chosen. ``stamps`` (n,) is scratch that
    must not hold ``stamp``.
    """
    m, width = rows.shape[0], lists.shape[1]
    own = np.empty(m * (1 + n_own), np.int32)
    others = np.empty(m * (width - n_own + most), np.int32)
    n_same = n_others = 0
    for x in range(m):
        n_same = _add(rows[x], stamps, stamp, own, n_same)
    for x in range(m):
        i = rows[x]
        for a in range(n_own):
            n_same = _add(lists[i, a], stamps, stamp, own, n_same)
        for a in range(n_own, width):
            n_others = _add(lists[i, a], stamps, stamp, others, n_others)
        count = starts[i + 1] - starts[i]
        for a in range(min(count, most)):
            source = sources[starts[i] + a * count // min(count, most)]
            n_others = _add(source, stamps, stamp, others, n_others)
    return own[:n_same], others[:n_others]
