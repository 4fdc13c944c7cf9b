"""The large-margin loss over pairs: which rows of other classes come too near, and the push.

Rows are ordered by class, so the rows of a row's own class are one run of columns. The search sees
blocks of ‖z_j‖² − 2 z_i·z_j in float32 and only names pairs that may matter; the loss and its
gradient are computed from differences in float64, so that a pair named in vain adds nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vicinal._kernels._kbest import ZERO, columns_at_most
from vicinal._types import AnyArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def name_pairs(
    products: FloatArray,
    rows: IntArray,
    first_column: int,
    own_start: IntArray,
    own_stop: IntArray,
    limits: FloatArray,
    pairs: IntArray,
) -> int:
    """Write the pairs (i, l) of a block with l of another class and a product up to i's limit.

    Parameters
    ----------
    products : float32 ndarray of shape (b, t)
    rows : int32 ndarray of shape (b,)
        Which rows i the block holds.
    first_column : int
    own_start, own_stop : int32 ndarrays of shape (b,)
        The run of columns of each row's class.
    limits : float32 ndarray of shape (b,)
    pairs : int32 ndarray of shape (at least b · t, 2)

    Returns
    -------
    int
        How many pairs were written.
    """
    n = 0
    width = products.shape[1]
    for x in range(products.shape[0]):
        start = min(max(own_start[x] - first_column, 0), width)
        stop = min(max(own_stop[x] - first_column, 0), width)
        for first, last in ((ZERO, start), (stop, width)):
            n_hits = columns_at_most(
                products[x], first, last, limits[x], first_column + first, width, pairs[n:, 1]
            )
            pairs[n : n + n_hits, 0] = rows[x]
            n += n_hits
    return n


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def target_squared_distances(mapped: FloatArray, targets: IntArray, out: FloatArray) -> None:
    """Write ‖z_i − z_j‖² of every target j of every row i, (n, k); −inf where there is none."""
    for i in range(targets.shape[0]):
        for a in range(targets.shape[1]):
            j = targets[i, a]
            total = -np.inf
            if j >= 0:
                total = 0.0
                for c in range(mapped.shape[1]):
                    gap = mapped[i, c] - mapped[j, c]
                    total += gap * gap
            out[i, a] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def push(
    mapped: FloatArray,
    pairs: IntArray,
    left_out: AnyArray,
    margins: FloatArray,
    active: FloatArray,
    forces: FloatArray,
) -> float:
    """Return Σ [m_ia − ‖z_i − z_l‖²]₊ over pairs (i, l) and targets a, and add to its derivatives.

    Parameters
    ----------
    mapped : float64 ndarray of shape (n, p)
    pairs : int32 ndarray of shape (q, 2)
    left_out : bool ndarray of shape (n,)
        Rows i whose pairs are passed over.
    margins : float64 ndarray of shape (n, k)
        m_ia = 1 + ‖z_i − z_j‖² for target j in place a; −inf where there is none.
    active : float64 ndarray of shape (n, k)
        Gains the number of terms above zero that target a of row i stands in.
    forces : float64 ndarray of shape (n, p)
        Gains half the derivative by z of the sum, the margins held fixed.
    """
    loss = 0.0
    gap = np.empty(mapped.shape[1])
    for x in range(pairs.shape[0]):
        i, other = pairs[x, 0], pairs[x, 1]
        if left_out[i]:
            continue
        squared_distance = 0.0
        for c in range(gap.shape[0]):
            gap[c] = mapped[i, c] - mapped[other, c]
            squared_distance += gap[c] * gap[c]
        count = 0.0
        for a in range(margins.shape[1]):
            excess = margins[i, a] - squared_distance
            if excess > 0.0:
                loss += excess
                active[i, a] += 1.0
                count += 1.0
        if count > 0.0:
            for c in range(gap.shape[0]):
                forces[i, c] -= count * gap[c]
                forces[other, c] += count * gap[c]
    return loss
