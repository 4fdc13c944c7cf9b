"""What a fit needs to know of one chunk, or of points and one chunk; and how that merges.

    chunk ─▶ Census ─────────────────────────────┐ merged: classes, means, how y is read
    points, chunk ─▶ KernelSums or Neighbours ─┐ │
                             merged over chunks ┴─┴─▶ gradients ─▶ GradientSums, merged over points

Plain functions of arrays; the scheduler is elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import ExactIndex
from vicinal.metric._gradient_estimate import (
    BLOCK_ROWS,
    Setting,
    gradients_at,
    make_reference,
)
from vicinal.metric._gradients import KernelSums, kernel_sums, softmax_gradients
from vicinal.metric._local_linear import slopes_at
from vicinal.metric._smoothing import COMPACT, Coordinates, Targets, make_sample

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

    ``sizes`` are the chunks' rows, ``row`` (1, d) one of them; ``distinct`` the sorted distinct
    targets, at most MOST_DISTINCT, with their ``counts``; ``mean`` and ``spread`` (Σ(y − mean)²)
    are 0 for targets that are no numbers.
    """

    sizes: tuple[int, ...]
    row: FloatArray
    sums: FloatArray
    distinct: AnyArray
    counts: IntArray
    mean: float
    spread: float

    @property
    def n_rows(self) -> int:
        """Rows of all chunks."""
        return sum(self.sizes)

    def merge(self, other: Census) -> Census:
        """Return the facts about both."""
        n, m = self.n_rows, other.n_rows
        both = np.concatenate([self.distinct, other.distinct])
        distinct, places = np.unique(both, return_inverse=True)
        counts = np.bincount(places, np.concatenate([self.counts, other.counts]))
        gap = other.mean - self.mean
        return Census(
            self.sizes + other.sizes,
            self.row if n else other.row,
            self.sums + other.sums,
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
    kept = slice(MOST_DISTINCT)
    return Census((len(rows),), rows[:1], sums, distinct[kept], counts[kept], mean, spread)


def merge_all(parts: Sequence[Any]) -> Any:
    """Return all parts merged, the first with the second and so on."""
    return reduce(lambda first, second: first.merge(second), parts)


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

    def targets(self, y: AnyArray) -> Targets:
        """Return the targets of some rows, as the whole's fit would have them."""
        numbers: AnyArray = y if self.labels is None else np.searchsorted(self.labels, y)
        if self.is_real:
            values = (numbers.astype(np.float64) - self.mean) / self.deviation
            return Targets(values, np.zeros(len(y), np.int64), 1, self.deviation)
        return Targets(np.ones(len(y)), numbers.astype(np.int64), len(self.prior))


@dataclass(frozen=True)
class Plan:
    """How gradients are estimated in one iteration: the same for every chunk."""

    setting: Setting
    components: FloatArray | None
    centre: FloatArray
    rule: TargetRule
    own: bool = True

    @property
    def coordinates(self) -> Coordinates:
        """Where distances are measured."""
        return Coordinates(self.centre, self.components, self.setting.bandwidth)


@dataclass(frozen=True)
class Neighbours:
    """The k nearest samples of each point: those of several chunks merge.

    ``squared`` (m, k) ascending, ``rows`` (m, k, d) in the plan's coordinates, ``values`` and
    ``codes`` (m, k) their targets.
    """

    squared: FloatArray
    rows: FloatArray
    values: FloatArray
    codes: IntArray
    k: int

    def merge(self, other: Neighbours) -> Neighbours:
        """Return the k nearest among both."""
        squared = np.concatenate([self.squared, other.squared], axis=1)
        order = np.argsort(squared, axis=1, kind="stable")[:, : self.k]

        def take(first: AnyArray, second: AnyArray) -> AnyArray:
            both = np.concatenate([first, second], axis=1)
            return both[np.arange(len(both))[:, None], order]

        return Neighbours(
            take(self.squared, other.squared),
            take(self.rows, other.rows),
            take(self.values, other.values),
            take(self.codes, other.codes),
            self.k,
        )


def pair_sums(points: AnyArray, X: Any, y: Any, plan: Plan) -> KernelSums:
    """Return the kernel sums of points (m, d) over the samples of one chunk. O(m n d) time."""
    targets = plan.rule.targets(as_vector(y))
    sample = make_sample(as_rows(X), targets, plan.coordinates)
    rows = plan.coordinates.enter(points, sample.panel.dtype)
    blocks = np.array_split(rows, max(1, -(-len(rows) // BLOCK_ROWS)))
    parts = [kernel_sums(block, sample)[0] for block in blocks]
    products = [part.products for part in parts if part.products is not None]
    return KernelSums(
        np.concatenate([part.moments for part in parts], axis=1),
        np.concatenate(products) if products else None,
    )


def pair_neighbours(points: AnyArray, X: Any, y: Any, plan: Plan) -> Neighbours:
    """Return the nearest samples of points (m, d) in one chunk."""
    targets = plan.rule.targets(as_vector(y))
    sample = make_sample(as_rows(X), targets, plan.coordinates)
    assert plan.setting.n_local is not None
    k = plan.setting.n_local
    rows = plan.coordinates.enter(points, sample.panel.dtype)
    index = ExactIndex(np.ascontiguousarray(sample.rows), n_jobs=1)
    squared, near = index.query(rows, min(k, len(sample.panel)))
    targets = sample.targets
    return Neighbours(squared, sample.rows[near], targets.values[near], targets.codes[near], k)


def gradients_from(found: KernelSums | Neighbours, plan: Plan) -> FloatArray:
    """Return the gradients (m, C, d) in the units of X and y, from what all chunks had."""
    setting, rule = plan.setting, plan.rule
    if isinstance(found, Neighbours):
        gradients = _slopes(found, plan)
    else:
        gradients = found.gradients()
        if setting.temperature is not None and not rule.is_real:
            values = found.values(rule.prior)
            gradients = softmax_gradients(values, gradients, setting.temperature)[1]
    scale = rule.deviation if rule.is_real else 1.0
    return plan.coordinates.leave(gradients) * scale


def _slopes(found: Neighbours, plan: Plan) -> FloatArray:
    m, k = found.squared.shape
    n_columns = len(plan.rule.prior)
    targets = Targets(found.values.ravel(), found.codes.ravel(), n_columns)
    (slopes,) = slopes_at(
        np.arange(m * k).reshape(m, k),
        found.squared,
        found.rows.reshape(m * k, -1),
        targets.columns().astype(found.rows.dtype),
        np.ones(m * k),
        [plan.setting.ridge],
        COMPACT[plan.setting.kernel],
    )
    return slopes


def gradients_from_sample(
    points: AnyArray, sample: tuple[FloatArray, AnyArray], plan: Plan
) -> FloatArray:
    """Return the gradients (m, C, d) estimated from a drawn sample alone."""
    X, y = sample
    reference = make_reference(
        X, plan.rule.targets(y), plan.setting, components=plan.components, centre=plan.centre
    )
    blocks = np.array_split(points, max(1, -(-len(points) // BLOCK_ROWS)))
    return np.concatenate([gradients_at(block, reference, own=plan.own) for block in blocks])
