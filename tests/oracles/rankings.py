"""Every ranking of a few rows, and measures of them by their definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def loss(relevant, measure, k):
    """Return 1 − measure of a ranking, given as whether each place is relevant."""
    relevant = np.asarray(relevant, bool)
    places = np.flatnonzero(relevant) + 1
    n, n_others = len(places), int(np.sum(~relevant))
    if measure == "auc":
        wrong = sum(1 for p in places for o in np.flatnonzero(~relevant) + 1 if o < p)
        return wrong / (n * n_others)
    if measure == "precision":
        first = min(k, n)
        return 1 - relevant[:first].sum() / first
    if measure == "map":
        return 1 - np.mean([relevant[:p].mean() for p in places])
    best = sum(1 / np.log2(1 + p) for p in range(1, n + 1))
    return 1 - sum(1 / np.log2(1 + p) for p in places) / best


def most_violated(relevant_scores, other_scores, measure, k):
    """Return the largest loss + ⟨W, ψ⟩ over all rankings of the rows."""
    scores = np.concatenate([relevant_scores, other_scores])
    is_relevant = np.arange(len(scores)) < len(relevant_scores)
    pairs = len(relevant_scores) * len(other_scores)
    best = -np.inf
    for order in permutations(range(len(scores))):
        place = np.argsort(order)
        inner = sum(
            (1 if place[i] < place[j] else -1) * (scores[i] - scores[j])
            for i in np.flatnonzero(is_relevant)
            for j in np.flatnonzero(~is_relevant)
        )
        best = max(best, loss(is_relevant[list(order)], measure, k) + inner / pairs)
    return best
