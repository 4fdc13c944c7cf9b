"""The chance that k neighbours drawn softly vote for a class, by dynamic programmes over counts.

A set s of k rows is drawn with chance ∝ Π_{j∈s} w_j. With e_c(m) the sum over sets of m rows of
class c of the products of their weights (m of the elementary symmetric polynomials), the weight of
all sets is the coefficient of z^k in Π_c Σ_m e_c(m) z^m, and that of the sets in which class y has
more rows than any other is

    Σ_{a ≥ 1} e_y(a) · [z^{k−a}] Π_{c ≠ y} Σ_{m < a} e_c(m) z^m.                       (1)

Both are sums of products of numbers that are not negative, and so are their derivatives, taken
backwards through the same programmes: nothing cancels.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vicinal._kernels._order import insert
from vicinal._types import FloatArray, IntArray

# Weights below exp(−CUT) of the k-th nearest row's add nothing in double precision.
CUT = 44.0


@njit(cache=True, nogil=True)
def _kth_smallest(values: FloatArray, k: int, nearest: FloatArray) -> float:
    """Return the k-th smallest value, or the largest finite one where there are fewer."""
    n = 0
    for x in range(values.shape[0]):
        v = values[x]
        if v < np.inf and (n < k or v < nearest[k - 1]):
            insert(nearest, None, n, v, None, None)
            n = min(n + 1, k)
    return nearest[n - 1] if n > 0 else np.inf


@njit(cache=True, nogil=True)
def _product_coefficient(
    sums: FloatArray,
    left_out: int,
    most: int,
    degree: int,
    factor: float,
    ahead: FloatArray,
    slopes: FloatArray,
) -> float:
    """Return [z^degree] Π_{c ≠ left_out} Σ_{m ≤ most} e_c(m) z^m; add ``factor`` × its slopes.

    ``ahead`` (R + 1, degree + 1 or wider) is scratch; ``slopes`` (R, k + 1) gains the derivatives.
    """
    n_classes = sums.shape[0]
    ahead[0, : degree + 1] = 0.0
    ahead[0, 0] = 1.0
    for c in range(n_classes):
        for a in range(degree + 1):
            total = ahead[c, a]
            if c != left_out:
                for m in range(1, min(most, a) + 1):
                    total += ahead[c, a - m] * sums[c, m]
            ahead[c + 1, a] = total
    value = ahead[n_classes, degree]
    behind = np.zeros(degree + 1)
    behind[degree] = factor
    before = np.empty(degree + 1)
    for c in range(n_classes - 1, -1, -1):
        if c == left_out:
            continue
        for m in range(1, min(most, degree) + 1):
            for a in range(degree + 1 - m):
                slopes[c, m] += ahead[c, a] * behind[a + m]
        for a in range(degree + 1):
            total = behind[a]
            for m in range(1, min(most, degree - a) + 1):
                total += behind[a + m] * sums[c, m]
            before[a] = total
        behind[:] = before
    return value


@njit(cache=True, nogil=True)
def _chance(sums: FloatArray, own: int, k: int, ahead: FloatArray, slopes: FloatArray) -> float:
    """Return the chance of a vote for ``own`` and write its derivatives by e_c(m)."""
    slopes[:] = 0.0
    all_sets = _product_coefficient(sums, -1, k, k, 0.0, ahead, slopes)
    if not all_sets > 0.0:
        return 0.0
    won = 0.0
    for a in range(1, k + 1):
        factor = sums[own, a] / all_sets
        others = _product_coefficient(sums, own, a - 1, k - a, factor, ahead, slopes)
        won += sums[own, a] * others
        slopes[own, a] += others / all_sets
    chance = won / all_sets
    _product_coefficient(sums, -1, k, k, -chance / all_sets, ahead, slopes)
    return chance


@njit(cache=True, nogil=True)
def vote_chances(
    squared_distances: FloatArray,
    order: IntArray,
    starts: IntArray,
    own: IntArray,
    k: int,
    chances: FloatArray,
    weights: FloatArray,
) -> None:
    """Write each query's chance of a right vote, and minus its derivatives by the distances.

    Parameters
    ----------
    squared_distances : float64 ndarray of shape (b, m)
        w_j = exp(−D_j); inf is no neighbour.
    order : int ndarray of shape (m,)
        Columns in order of class.
    starts : int ndarray of shape (R + 1,)
        Where each class begins in ``order``.
    own : int ndarray of shape (b,)
    k : int
    chances : float64 ndarray of shape (b,)
    weights : float64 ndarray of shape (b, m)
        −∂chance/∂D.
    """
    n_classes, m = starts.shape[0] - 1, order.shape[0]
    steepest = 600.0 / k  # or the product of k weights would overflow
    nearest, drawn, column = np.empty(k), np.empty(m), np.empty(m, np.int64)
    prefix = np.empty((m + 1, k + 1))
    sums, slopes = np.empty((n_classes, k + 1)), np.empty((n_classes, k + 1))
    ahead, behind = np.empty((n_classes + 1, k + 1)), np.empty(k + 1)
    begins = np.empty(n_classes + 1, np.int64)
    for q in range(squared_distances.shape[0]):
        weights[q, :] = 0.0
        shift = _kth_smallest(squared_distances[q], k, nearest)
        used = 0
        for c in range(n_classes):
            begins[c] = used
            sums[c, :] = 0.0
            sums[c, 0] = 1.0
            for x in range(starts[c], starts[c + 1]):
                gap = squared_distances[q, order[x]] - shift
                if not gap < CUT:
                    continue
                w = np.exp(min(-gap, steepest))
                drawn[used], column[used] = w, order[x]
                for a in range(k + 1):
                    prefix[used, a] = sums[c, a]
                for a in range(k, 0, -1):
                    sums[c, a] += w * sums[c, a - 1]
                used += 1
        begins[n_classes] = used
        chances[q] = _chance(sums, own[q], k, ahead, slopes)
        for c in range(n_classes):
            behind[:] = slopes[c]
            for t in range(begins[c + 1] - 1, begins[c] - 1, -1):
                w, slope = drawn[t], 0.0
                for a in range(1, k + 1):
                    slope += behind[a] * prefix[t, a - 1]
                for a in range(k):
                    behind[a] += w * behind[a + 1]
                weights[q, column[t]] = w * slope
