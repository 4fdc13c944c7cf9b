"""Losses of ranked documents, spelled out one query and one document at a time."""

from __future__ import annotations

from itertools import combinations
from math import exp, log, log2


def softmax(scores, weights):
    """Return Σ_j w_j (log Σ_l e^{s_l} − s_j)."""
    total = sum(exp(s) for s in scores)
    return sum(w * (log(total) - s) for s, w in zip(scores, weights, strict=True) if w > 0)


def hinge(scores, weights, margin):
    """Return Σ_j w_j max(0, M − s_j + the largest wrong score) / M."""
    wrong = [s for s, w in zip(scores, weights, strict=True) if w == 0]
    if not wrong:
        return 0.0
    return sum(w * max(0.0, margin - s + max(wrong)) / margin
               for s, w in zip(scores, weights, strict=True) if w > 0)  # fmt: skip


def vote(scores, weights, margin, k):
    """Return the loss of sets of k documents that should hold a majority of relevant ones."""
    right, any_set = [], []
    for chosen in combinations(range(len(scores)), k):
        total = sum(scores[j] for j in chosen)
        n_relevant = sum(weights[j] > 0 for j in chosen)
        if 2 * n_relevant > k:
            right.append(total)
        any_set.append(total + (0.0 if 2 * n_relevant > k else margin))
    return (max(any_set) - max(right)) / margin if right else 0.0


def ndcg(order, relevant, k):
    """Return nDCG of grades by document at the first k places of an order."""
    gain = sum(relevant.get(j, 0) / log2(i + 2) for i, j in enumerate(order[:k]))
    ideal = sorted(relevant.values(), reverse=True)[:k]
    return gain / sum(g / log2(i + 2) for i, g in enumerate(ideal))


def reciprocal(order, relevant, k):
    """Return 1 / the place of the first relevant document among k, or 0."""
    return next((1 / (i + 1) for i, j in enumerate(order[:k]) if j in relevant), 0.0)


def average_precision(order, relevant, k):
    """Return the mean over relevant documents of the precision at their places, among k."""
    hits, total = 0, 0.0
    for i, j in enumerate(order[:k]):
        if j in relevant:
            hits += 1
            total += hits / (i + 1)
    return total / min(len(relevant), k)
