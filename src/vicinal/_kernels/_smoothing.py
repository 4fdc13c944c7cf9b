"""Kernel weights of all 2d perturbations of a query, from one block of squared distances.

‖x ± t_i e_i − z_j‖² = ‖x − z_j‖² ± 2 t_i (x_i − z_ji) + t_i², so each pair of a query and a sample
costs O(1) a coordinate, and only pairs within h + t contribute.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from vicinal._types import AnyArray

TRIANGLE, EPANECHNIKOV, BIWEIGHT = 0, 1, 2


@njit(cache=True, nogil=True)
def profile(squared_ratio: float, kernel: int) -> float:
    """Return K(u) for u² = ``squared_ratio``: 1 − u, 1 − u² or (1 − u²)² on [0, 1), else 0."""
    if squared_ratio >= 1.0:
        return 0.0
    if kernel == TRIANGLE:
        return 1.0 - math.sqrt(max(squared_ratio, 0.0))
    if kernel == EPANECHNIKOV:
        return 1.0 - squared_ratio
    return (1.0 - squared_ratio) ** 2


@njit(cache=True, nogil=True)
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

    Distances are in units of the bandwidth. ``sums`` (2, m, d, C + 1): the sign (first minus), the
    query, the coordinate, then one numerator for each code 0..C-1 and last the denominator.
    O(d) for each pair nearer than 1 + max t.
    """
    reach = (1.0 + steps.max()) ** 2
    last = sums.shape[3] - 1
    for a in range(queries.shape[0]):
        for j in range(rows.shape[0]):
            if squared_distances[a, j] >= reach or weights[j] == 0.0:
                continue
            for i in range(rows.shape[1]):
                moved = squared_distances[a, j] + steps[i] * steps[i]
                shift = 2.0 * steps[i] * (queries[a, i] - rows[j, i])
                for side in range(2):
                    weight = profile(moved + shift if side else moved - shift, kernel) * weights[j]
                    if weight > 0.0:
                        sums[side, a, i, codes[j]] += weight * values[j]
                        sums[side, a, i, last] += weight


@njit(cache=True, nogil=True)
def add_ball_counts(
    squared_distances: AnyArray,
    queries: AnyArray,
    rows: AnyArray,
    steps: AnyArray,
    radius: float,
    counts: AnyArray,
) -> None:
    """Count the samples in B(x − t_i e_i, r) and B(x + t_i e_i, r); ``counts`` (2, m, d)."""
    reach, squared_radius = (radius + steps.max()) ** 2, radius * radius
    for a in range(queries.shape[0]):
        for j in range(rows.shape[0]):
            if squared_distances[a, j] > reach:
                continue
            for i in range(rows.shape[1]):
                moved = squared_distances[a, j] + steps[i] * steps[i]
                shift = 2.0 * steps[i] * (queries[a, i] - rows[j, i])
                counts[0, a, i] += moved - shift <= squared_radius
                counts[1, a, i] += moved + shift <= squared_radius


@njit(cache=True, nogil=True)
def profiles(squared_ratios: AnyArray, kernel: int) -> Any:
    """Return :func:`profile` of every entry of a matrix."""
    weights = np.empty_like(squared_ratios)
    for a in range(squared_ratios.shape[0]):
        for j in range(squared_ratios.shape[1]):
            weights[a, j] = profile(squared_ratios[a, j], kernel)
    return weights
