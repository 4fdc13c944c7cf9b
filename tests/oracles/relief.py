"""ReliefF and RReliefF as loops over points, neighbours and features, straight from the papers."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np


def difference(X, feature, i, j, discrete):
    """Return diff(A, x_i, x_j)."""
    column = X[:, feature]
    if feature in discrete:
        return float(column[i] != column[j])
    spread = float(column.max() - column.min())
    return abs(float(column[i]) - float(column[j])) / spread if spread > 0 else 0.0


def nearest(X, i, members, k, discrete):
    """Return the k members nearest to x_i, itself excepted; equal distances by lower index."""
    ordered = [f for f in range(X.shape[1]) if f not in discrete] + sorted(discrete)
    scaled = [
        (round(sum(difference(X, f, i, j, discrete) for f in ordered), 10), j)
        for j in members
        if j != i
    ]
    return [j for _, j in sorted(scaled)[:k]]


def shares(n, sigma):
    """Return what each of n neighbours counts."""
    raw = [1.0 if sigma is None else math.exp(-((j / sigma) ** 2)) for j in range(1, n + 1)]
    return [weight / sum(raw) for weight in raw]


def relieff(X, y, k, *, queries=None, discrete=(), sigma=None):
    """Return the weights for classes y."""
    queries = range(len(X)) if queries is None else queries
    prior = {c: count / len(y) for c, count in Counter(y).items()}
    weights = np.zeros(X.shape[1])
    for i in queries:
        for c in sorted(prior):
            found = nearest(X, i, [j for j in range(len(X)) if y[j] == c], k, discrete)
            factor = -1.0 if c == y[i] else prior[c] / (1.0 - prior[y[i]])
            for j, share in zip(found, shares(len(found), sigma), strict=True):
                for f in range(X.shape[1]):
                    weights[f] += factor * share * difference(X, f, i, j, discrete)
    return weights / len(queries)


def rrelieff(X, y, k, *, queries=None, discrete=(), sigma=None):
    """Return the weights for numbers y."""
    queries = range(len(X)) if queries is None else queries
    target = np.asarray(y, float)[:, None]
    n_c, n_a, n_ca = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for i in queries:
        found = nearest(X, i, range(len(X)), k, discrete)
        for j, share in zip(found, shares(len(found), sigma), strict=True):
            apart = difference(target, 0, i, j, ())
            n_c += share * apart
            for f in range(X.shape[1]):
                step = share * difference(X, f, i, j, discrete)
                n_a[f] += step
                n_ca[f] += step * apart
    return n_ca / n_c - (n_a - n_ca) / (len(queries) - n_c)
