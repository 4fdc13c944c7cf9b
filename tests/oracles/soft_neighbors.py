"""Soft neighbours as sums over all sets of rows, straight from the papers."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def vote_chance(A, X, y, k):
    """Return the mean chance that k rows drawn together vote for a row's class."""
    mapped = X @ A.T
    total = 0.0
    for i in range(len(X)):
        won = all_sets = 0.0
        for chosen in combinations([j for j in range(len(X)) if j != i], k):
            weight = np.exp(-sum(np.sum((mapped[i] - mapped[j]) ** 2) for j in chosen))
            counts = np.bincount(y[list(chosen)], minlength=y.max() + 1)
            all_sets += weight
            if counts[y[i]] > np.delete(counts, y[i]).max():
                won += weight
        total += won / all_sets
    return total / len(X)


def regression_error(A, X, y):
    """Return the mean squared error of kernel regression of every row by the others."""
    mapped = X @ A.T
    total = 0.0
    for i in range(len(X)):
        kernel = [np.exp(-np.sum((mapped[i] - mapped[j]) ** 2)) for j in range(len(X))]
        kernel[i] = 0.0
        total += (np.dot(kernel, y) / np.sum(kernel) - y[i]) ** 2
    return total / len(X)


def soft_vote_of_row(query, references, targets, temperature, bias):
    """Return the mean target of references by exp(bias - distance / temperature)."""
    total, mass = np.zeros(targets.shape[1]), 0.0
    for reference, target, more in zip(references, targets, bias, strict=True):
        distance = np.sqrt(np.sum((query - reference) ** 2) + 1e-6)
        weight = np.exp(more - distance / temperature)
        total, mass = total + weight * target, mass + weight
    return total / mass
