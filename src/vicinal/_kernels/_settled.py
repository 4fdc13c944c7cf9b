"""Rows whose loss is seen to be zero from two sums, without inference.

With h = ⌊k/2⌋, a set of k points with more than h of the row's own class votes for that class,
whatever the others are. So the total of h* is at most

    U = min over n > h of (the n nearest own points + the k−n nearest others),

and that of any other set, which votes for another class or ties, is at least

    B = the h nearest own points + the k−h nearest others

wherever U < B: the sum is convex in n, so it falls up to n = h. If B − U exceeds the largest cost,
ĥ = h* and the loss is zero. Once learning is under way this holds for most rows.
"""

from __future__ import annotations

import numpy as np

from vicinal._kernels._order import inner, insert
from vicinal._types import FloatArray, IntArray


@inner
def gap(least: FloatArray, k: int) -> float:
    """Return B − U, less what rounding could add; NaN or negative where none is certain.

    ``least[0]`` are the k nearest own distances, ``least[1]`` the k−h nearest others; inf: none.
    """
    half = k // 2
    shared = 0.0
    for p in range(half):
        shared += least[0, p]
    right, wrong = shared + least[0, half], shared
    for p in range(k - half):
        wrong += least[1, p]
    own, other = half + 1, 0
    for _ in range(k - half - 1):
        if least[0, own] <= least[1, other]:
            right += least[0, own]
            own += 1
        else:
            right += least[1, other]
            other += 1
    return wrong * (1 - 1e-9) - right


@inner
def is_settled(
    squared_distances: FloatArray,
    labels: IntArray,
    i: int,
    y: int,
    largest: float,
    least: FloatArray,
) -> bool:
    """Return whether row i, of class y, is seen to have no loss where ``largest`` is its top cost.

    ``squared_distances`` and ``labels`` are (m, c) as for ``infer_sets``; ``least`` (2, k + 1) is
    room. Time O(c).
    """
    k = least.shape[1] - 1
    n_own, n_other = k, k - k // 2
    own, others = least[0, :n_own], least[1, :n_other]
    least[:] = np.inf
    for j in range(squared_distances.shape[1]):
        value, r = np.float64(squared_distances[i, j]), labels[i, j]
        if r >= 0 and value < np.inf:
            # Places not yet taken are infinite, so all of them count as taken.
            if r == y:
                insert(own, None, n_own, value, None, None)
            else:
                insert(others, None, n_other, value, None, None)
    return gap(least, k) > largest
