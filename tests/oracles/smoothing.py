"""The kernels of ``_smoothing`` in slow, readable NumPy: their explanation and their oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

AnyArray = np.ndarray[Any, Any]
# The kernels' numbers.
TRIANGLE, EPANECHNIKOV, BIWEIGHT = 0, 1, 2


def profiles(squared_ratios: AnyArray, kernel: int) -> AnyArray:
    """Return K(u) for u² = ``squared_ratios``: 1 − u, 1 − u² or (1 − u²)² on [0, 1), else 0."""
    inside = np.clip(squared_ratios, 0, 1)
    heights = {
        TRIANGLE: 1 - np.sqrt(inside),
        EPANECHNIKOV: 1 - inside,
        BIWEIGHT: (1 - inside) ** 2,
    }[kernel]
    return np.where(squared_ratios < 1, heights, 0.0)


def add_perturbed_sums(
    squared_distances: AnyArray,
    queries: AnyArray,
    rows: AnyArray,
    values: AnyArray,
    codes: AnyArray,
    weights: AnyArray,
    steps: AnyArray,
    kernel: int,
    sums: AnyArray,
) -> None:
    """Add Σ_j ω_j K(‖x ± t_i e_i − z_j‖) v_j and Σ_j ω_j K(·) for every query and coordinate.

    Moves every query 2d times and measures anew; ``squared_distances`` is not looked at.
    """
    for side, sign in ((0, -1), (1, 1)):
        for i, step in enumerate(steps):
            moved = queries + sign * step * np.eye(len(steps))[i]
            squared = ((moved[:, None, :] - rows) ** 2).sum(axis=2)
            mass = profiles(squared, kernel) * weights
            for code in np.unique(codes):
                member = codes == code
                sums[side, :, i, code] += mass[:, member] @ values[member]
            sums[side, :, i, -1] += mass.sum(axis=1)


def add_ball_counts(
    squared_distances: AnyArray,
    queries: AnyArray,
    rows: AnyArray,
    steps: AnyArray,
    radius: float,
    counts: AnyArray,
) -> None:
    """Count the samples in B(x − t_i e_i, r) and B(x + t_i e_i, r); ``counts`` (2, m, d)."""
    for side, sign in ((0, -1), (1, 1)):
        for i, step in enumerate(steps):
            moved = queries + sign * step * np.eye(len(steps))[i]
            squared = ((moved[:, None, :] - rows) ** 2).sum(axis=2)
            counts[side, :, i] += (squared <= radius**2).sum(axis=1)
