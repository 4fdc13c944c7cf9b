"""Sums over gradients that merge: what the matrices of GW, EGOP and EJOP are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray


@dataclass(frozen=True)
class GradientSums:
    """Σ_x ω_x and Σ_x ω_x Σ_c g_c(x) g_c(x)ᵀ, or Σ_x ω_x Σ_c |g_c(x)|, over evaluation points.

    The sums over parts of the evaluation points, all against the same sample, add up to the
    sums over the whole.

    Attributes
    ----------
    count : int
        Evaluation points.
    weight : float
        Their total weight.
    total : float64 ndarray of shape (d, d), or (d,) for absolute values
    """

    count: int
    weight: float
    total: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The matrix of EGOP and EJOP, or the diagonal of GW's."""
        return self.total / self.weight

    def merge(self, other: GradientSums) -> GradientSums:
        """Return the sums over both sets of evaluation points."""
        if self.total.shape != other.total.shape:
            raise ValueError(
                f"sums of shapes {self.total.shape} and {other.total.shape} cannot be merged."
            )
        count, weight = self.count + other.count, self.weight + other.weight
        return GradientSums(count, weight, self.total + other.total)


def sum_gradients(
    gradients: FloatArray, weights: AnyArray, *, diagonal: bool = False
) -> GradientSums:
    """Return the sums over gradients (m, C, d) with weights (m,).

    Time O(m C d²), or O(m C d) for the absolute values a ``diagonal`` matrix is made of.
    """
    if diagonal:
        total = weights @ np.abs(gradients).sum(axis=1, dtype=np.float64)
    else:
        weighted = gradients * np.sqrt(weights)[:, None, None]
        flat = weighted.reshape(-1, gradients.shape[2]).astype(np.float64, copy=False)
        total = flat.T @ flat
    return GradientSums(len(gradients), float(np.sum(weights)), total)


def merge_all(parts: Iterable[Any]) -> Any:
    """Return all parts, whatever has ``merge``, merged: the first with the second and so on."""
    return reduce(lambda first, second: first.merge(second), parts)
