"""Nearest neighbours by computing everything and sorting it."""

from __future__ import annotations

import numpy as np


def all_squared_distances(queries, vectors):
    """Return Σ_j (q_j − y_j)² in float64, added one j after the other, of shape (m, n)."""
    queries, vectors = np.asarray(queries, np.float64), np.asarray(vectors, np.float64)
    totals = np.zeros((len(queries), len(vectors)))
    for q, y in zip(queries.T, vectors.T, strict=True):
        totals += (q[:, None] - y[None, :]) ** 2
    return totals


def nearest(distances, k):
    """Return the k smallest of each row and where they stand; equal ones by lower index."""
    indices = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, indices, axis=1), indices


def within(distances, limit):
    """Return (values, indices, indptr) of all entries at most ``limit``, ascending in each row."""
    rows = [[(value, i) for i, value in enumerate(row) if value <= limit] for row in distances]
    rows = [sorted(row) for row in rows]
    values = np.array([value for row in rows for value, _ in row], dtype=float)
    indices = np.array([i for row in rows for _, i in row], dtype=np.int64)
    return values, indices, np.cumsum([0] + [len(row) for row in rows])


def all_hamming_distances(codes, others):
    """Return how many bits differ between packed codes, of shape (m, n)."""
    bits, other_bits = np.unpackbits(codes, axis=1), np.unpackbits(others, axis=1)
    return (bits[:, None, :] != other_bits[None, :, :]).sum(axis=2)
