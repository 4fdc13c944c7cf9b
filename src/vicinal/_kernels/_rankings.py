"""The ranking a metric violates most, by one dynamic programme for every measure of rankings.

Relevant rows come in descending order of score s₁ ≥ … ≥ s_P, others likewise t₁ ≥ … ≥ t_N. A
ranking that keeps both orders is n₁ ≤ … ≤ n_P, the number of others above each relevant row.
Every measure here is a sum over relevant rows of a function of their own number and of n, so

    loss + ⟨W, ψ⟩ = Σ_k g_k(n_k),
    g_k(n) = loss_k(n) + (1/PN) [Σ_j (s_k − t_j) − 2 Σ_{j ≤ n} (s_k − t_j)],              (1)

and the best n₁ ≤ … ≤ n_P follows from F_k(n) = g_k(n) + max_{m ≤ n} F_{k−1}(m).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vicinal._types import FloatArray, IntArray


@njit(cache=True, nogil=True)
def most_violated(
    relevant: FloatArray, others: FloatArray, losses: FloatArray, above: IntArray
) -> float:
    """Write n₁ ≤ … ≤ n_P of the ranking of largest (1) and return that value.

    Parameters
    ----------
    relevant : float64 ndarray of shape (P,)
        Scores, descending.
    others : float64 ndarray of shape (N,)
        Scores, descending.
    losses : float64 ndarray of shape (P, N + 1)
        loss_k(n): what relevant row k adds to the loss with n others above it.
    above : int64 ndarray of shape (P,)
        n_k.
    """
    n_relevant, n_others = relevant.shape[0], others.shape[0]
    pairs = n_relevant * n_others
    total = others.sum()
    best = np.zeros(n_others + 1)
    came = np.empty((n_relevant, n_others + 1), np.int32)
    for k in range(n_relevant):
        score = relevant[k]
        value, place = -np.inf, 0
        passed = 0.0
        for n in range(n_others + 1):
            if n > 0:
                passed += score - others[n - 1]
            if k > 0 and best[n] > value:
                value, place = best[n], n
            before = value if k > 0 else 0.0
            came[k, n] = place
            gain = losses[k, n] + (n_others * score - total - 2 * passed) / pairs
            best[n] = before + gain
    n = int(np.argmax(best))
    value = best[n]
    for k in range(n_relevant - 1, -1, -1):
        above[k] = n
        n = came[k, n]
    return value
