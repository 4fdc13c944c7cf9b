"""Kernel ridge regression by its textbook formulas, dense and slow."""

from __future__ import annotations

import numpy as np


def kernel_matrix(first, second, kind, bandwidth):
    """exp(−d² / 2h²) or exp(−d / h), pair by pair."""
    distances = np.sqrt(((first[:, None] - second[None]) ** 2).sum(axis=2))
    if kind == "gaussian":
        return np.exp(-(distances**2) / (2 * bandwidth**2))
    return np.exp(-distances / bandwidth)


def kernel_ridge(rows, columns, queries, kind, bandwidth, ridge):
    """f at queries: ȳ + k(q)·(K + λI)⁻¹(y − ȳ)."""
    mean = columns.mean(axis=0)
    gram = kernel_matrix(rows, rows, kind, bandwidth) + ridge * np.eye(len(rows))
    solved = np.linalg.solve(gram, columns - mean)
    return mean + kernel_matrix(queries, rows, kind, bandwidth) @ solved
