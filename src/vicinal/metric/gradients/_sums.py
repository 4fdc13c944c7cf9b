"""Sums over gradients that merge, and the two matrices GW, EGOP and EJOP make of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray


@dataclass(frozen=True)
class GradientSums:
    """Σ_x ω_x and Σ_x ω_x Σ_c g_c(x) g_c(x)ᵀ, Σ_x ω_x Σ_c |g_c(x)| over evaluation points.

    The sums over parts of the evaluation points, all against the same sample, add up to the
    sums over the whole.

    Attributes
    ----------
    count : int
        Evaluation points.
    weight : float
        Their total weight.
    outer : float64 ndarray of shape (d, d)
    absolute : float64 ndarray of shape (d,)
    """

    count: int
    weight: float
    outer: FloatArray
    absolute: FloatArray

    def merge(self, other: GradientSums) -> GradientSums:
        """Return the sums over both sets of evaluation points."""
        if self.outer.shape != other.outer.shape:
            raise ValueError(
                f"sums over {len(self.outer)} and {len(other.outer)} features cannot be merged."
            )
        return GradientSums(
            self.count + other.count,
            self.weight + other.weight,
            self.outer + other.outer,
            self.absolute + other.absolute,
        )


def sum_gradients(gradients: FloatArray, weights: AnyArray) -> GradientSums:
    """Return the sums over gradients (m, C, d) with weights (m,). Time O(m C d²)."""
    m, n_columns, d = gradients.shape
    weighted = gradients * np.sqrt(weights)[:, None, None]
    flat = weighted.reshape(m * n_columns, d).astype(np.float64, copy=False)
    absolute = np.abs(gradients).sum(axis=1, dtype=np.float64)
    return GradientSums(m, float(np.sum(weights)), flat.T @ flat, weights @ absolute)


def mean_outer(sums: GradientSums) -> FloatArray:
    """Return E_n[Σ_c g_c g_cᵀ], the matrix of EGOP and EJOP."""
    return sums.outer / sums.weight


def mean_absolute(sums: GradientSums) -> FloatArray:
    """Return diag E_n[Σ_c |g_c|], the matrix of GW."""
    return np.diag(sums.absolute / sums.weight)


def merge_all(parts: Iterable[Any]) -> Any:
    """Return all parts, whatever has ``merge``, merged: the first with the second and so on."""
    return reduce(lambda first, second: first.merge(second), parts)
