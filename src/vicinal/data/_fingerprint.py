"""A few numbers by which to recognise a data set whose source publishes no checksum."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, BoolArray

Fingerprint = tuple[float, float, float, float, float]

TOLERANCE = 1e-4


def fingerprint(X: AnyArray, y: AnyArray, is_test: BoolArray | None) -> Fingerprint:
    r"""Summarise features, targets and split in five numbers.

    With :math:`p_i = \sum_j \tfrac{j}{d} x_{ij}` (so that columns cannot change places):
    the mean of p, its root mean square, the mean of :math:`p_i y_i` (so that targets cannot
    slip), the root mean square of y, and the mean of p over the official test rows (0 without
    a split). The order of rows within a part does not matter. O(n d) time.
    """
    weights = np.arange(1, X.shape[1] + 1) / X.shape[1]
    blocks = np.array_split(X, 1 + len(X) // 50_000)  # never all of X in double precision
    projected = np.concatenate([block.astype(np.float64) @ weights for block in blocks])
    targets = y.astype(np.float64)
    return (
        float(projected.mean()),
        float(np.sqrt(np.mean(projected**2))),
        float(np.mean(projected * targets)),
        float(np.sqrt(np.mean(targets**2))),
        0.0 if is_test is None else float(projected[is_test].mean()),
    )


def same_fingerprint(found: Fingerprint, expected: Fingerprint) -> bool:
    """Compare up to the rounding of texts and single precision."""
    size, target = expected[1], expected[3]
    allowed = TOLERANCE * np.array([size, size, size * target, target, size])
    return bool((np.abs(np.subtract(found, expected)) <= allowed).all())
