"""The large-margin loss as loops over rows, targets and impostors, straight from the paper."""

from __future__ import annotations

import numpy as np


def squared_distance(L, x, z):
    """Return ‖L (x − z)‖²."""
    gap = L @ (x - z)
    return float(gap @ gap)


def targets(L, X, y, k):
    """Return for every row its k nearest rows of the same class (fewer where there are none)."""
    found = []
    for i in range(len(X)):
        own = [(squared_distance(L, X[i], X[j]), j) for j in range(len(X)) if j != i]
        found.append([j for _, j in sorted(own) if y[j] == y[i]][:k])
    return found


def impostors(L, X, y, chosen):
    """Return all (i, j, l): l of another class within the margin of row i and its target j."""
    return [
        (i, j, other)
        for i in range(len(X))
        for j in chosen[i]
        for other in range(len(X))
        if y[other] != y[i]
        and 1 + squared_distance(L, X[i], X[j]) > squared_distance(L, X[i], X[other])
    ]


def loss(L, X, y, chosen, mu):
    """Return the mean over rows of (1 − μ) pull + μ push."""
    pull = sum(squared_distance(L, X[i], X[j]) for i in range(len(X)) for j in chosen[i])
    push = sum(
        1 + squared_distance(L, X[i], X[j]) - squared_distance(L, X[i], X[other])
        for i, j, other in impostors(L, X, y, chosen)
    )
    return ((1 - mu) * pull + mu * push) / len(X)


def gradient(L, X, y, chosen, mu):
    """Return the derivative of the loss by L: outer products of differences, one by one."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for i in range(len(X)):
        for j in chosen[i]:
            total += (1 - mu) * np.outer(X[i] - X[j], X[i] - X[j])
    for i, j, other in impostors(L, X, y, chosen):
        total += mu * np.outer(X[i] - X[j], X[i] - X[j])
        total -= mu * np.outer(X[i] - X[other], X[i] - X[other])
    return 2 * L @ total / len(X)
