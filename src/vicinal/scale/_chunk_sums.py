"""What a fit needs to know of one chunk, or of points and one chunk; and how that merges.

    chunk ─▶ Census ─────────────────────────────┐ merged: classes, means, how y is read
    points, chunk ─▶ KernelSums or Neighbours ─┐ │
                             merged over chunks ┴─┴─▶ gradients ─▶ GradientSums, merged over points

Plain functions of arrays; the scheduler is elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.gradients import mergeable
from vicinal.metric.gradients.mergeable import Estimate
from vicinal.rows import feature_spread

# Distinct targets that are told apart; more are a quantity.
MOST_DISTINCT = 10_000


def as_rows(chunk: Any) -> FloatArray:
    """Return a chunk (an array or a frame) as floats (n, d), float32 kept."""
    rows = np.asarray(chunk)
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)


def as_vector(chunk: Any) -> AnyArray:
    """Return a chunk of targets as an array (n,)."""
    values = np.asarray(chunk)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y must have one column, got shape {values.shape}.")
    return values


@dataclass(frozen=True)
class Census:
    """Counts, sums and distinct targets of chunks; those of several merge.

    ``sizes`` are the chunks' rows, ``row`` (1, d) one of them; ``sums`` and ``scatter`` (d,) are
    Σ x and Σ (x − mean)² of each feature; ``distinct`` are the sorted distinct targets, at most
    MOST_DISTINCT, with their ``counts``; ``mean`` and ``spread`` (Σ(y − mean)²) are 0 for targets
    that are no numbers.
    """

    sizes: tuple[int, ...]
    row: FloatArray
    sums: FloatArray
    scatter: FloatArray
    distinct: AnyArray
    counts: IntArray
    mean: float
    spread: float

    @property
    def n_rows(self) -> int:
        """Rows of all chunks."""
        return sum(self.sizes)

    @property
    def feature_spread(self) -> FloatArray:
        """The standard deviation of each feature over the rows of all chunks, (d,)."""
        return np.sqrt(self.scatter / max(self.n_rows, 1))

    def merge(self, other: Census) -> Census:
        """Return the facts about both."""
        n, m = self.n_rows, other.n_rows
        both = np.concatenate([self.distinct, other.distinct])
        distinct, places = np.unique(both, return_inverse=True)
        counts = np.bincount(places, np.concatenate([self.counts, other.counts]))
        gap = other.mean - self.mean
        shift = other.sums / max(m, 1) - self.sums / max(n, 1)
        return Census(
            self.sizes + other.sizes,
            self.row if n else other.row,
            self.sums + other.sums,
            self.scatter + other.scatter + shift**2 * n * m / max(n + m, 1),
            distinct[:MOST_DISTINCT],
            counts[:MOST_DISTINCT].astype(np.int64),
            self.mean + gap * m / max(n + m, 1),
            self.spread + other.spread + gap**2 * n * m / max(n + m, 1),
        )


def take_census(X: Any, y: Any, number: int) -> Census:
    """Return the facts about one chunk; refuse what cannot be learned from."""
    rows, values = as_rows(X), as_vector(y)
    if len(rows) != len(values):
        raise ValueError(
            f"chunk {number} of X has {len(rows)} rows and that of y {len(values)}: give both the "
            "same chunks."
        )
    numeric = values.dtype.kind in "biuf"
    if not np.isfinite(rows).all() or (numeric and not np.isfinite(values).all()):
        raise ValueError(f"chunk {number} contains NaN or infinity; remove or fill them first.")
    distinct, counts = np.unique(values, return_counts=True)
    mean = float(values.mean(dtype=np.float64)) if numeric and len(values) else 0.0
    spread = float(np.sum((values.astype(np.float64) - mean) ** 2)) if numeric else 0.0
    sums = rows.sum(axis=0, dtype=np.float64)
    scatter = feature_spread(rows) ** 2 * len(rows) if len(rows) else np.zeros_like(sums)
    first = slice(MOST_DISTINCT)
    facts = (distinct[first], counts[first], mean, spread)
    return Census((len(rows),), rows[:1], sums, scatter, *facts)


@dataclass(frozen=True)
class TargetRule:
    """How every chunk reads its targets: the classes, or mean and deviation of a real one.

    ``labels`` are the sorted classes, None for numbers; with ``is_real`` the second of two is 1.
    ``prior`` (C,) is f where no sample is near.
    """

    is_real: bool
    labels: AnyArray | None
    mean: float
    deviation: float
    prior: FloatArray

    def targets(self, y: AnyArray) -> mergeable.Targets:
        """Return the targets of some rows, as the whole's fit would have them."""
        numbers: AnyArray = y if self.labels is None else np.searchsorted(self.labels, y)
        if self.is_real:
            values = (numbers.astype(np.float64) - self.mean) / self.deviation
            return mergeable.Targets(values, np.zeros(len(y), np.int64), 1, self.deviation)
        return mergeable.Targets(np.ones(len(y)), numbers.astype(np.int64), len(self.prior))


def pair_parts(points: AnyArray, X: Any, y: Any, estimate: Estimate, rule: TargetRule) -> Any:
    """Return what one chunk of samples contributes to the gradients at points (m, d)."""
    contribute = mergeable.parts_that_merge(estimate.smoother)
    return contribute(points, as_rows(X), rule.targets(as_vector(y)), estimate)


def gradients_from_sample(
    points: AnyArray, sample: tuple[FloatArray, AnyArray], estimate: Estimate, rule: TargetRule
) -> FloatArray:
    """Return the gradients (m, C, d) estimated from a drawn sample alone."""
    X, y = sample
    return mergeable.gradients_from_sample(points, X, rule.targets(y), estimate)
