"""What is compared and what was found: the records that tables, plots and the page are made from.

Which row is best is decided here, once, for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from .._types import AnyArray, FloatArray

EUCLIDEAN = "euclidean"


@dataclass(frozen=True)
class Row:
    """One line of a comparison: a method at one k, over all folds.

    ``errors`` holds one value a fold (share of wrong votes, or MSE / variance for regression);
    ``error_sd`` is NaN for a single one. ``gain`` is Euclidean's mean error minus this one's and
    ``p_value`` its paired test, both None for the Euclidean row itself or where it cannot be
    computed. ``status`` is "ok", "failed" (then ``message`` says why) or "partial" (some folds
    failed). A ``reference`` asks no neighbours: its ``k`` is None, and what it gains is counted
    from Euclidean at its best k. ``scores`` holds every loss by name, ``confusion`` how many rows
    of each class were taken for which, over all folds. ``calibration`` says, for each tenth of the
    winner's share of the vote, how many rows had it, what their shares sum to, and how many were
    right.
    """

    dataset: str
    method: str
    title: str
    k: int | None
    errors: tuple[float, ...]
    error_mean: float
    error_sd: float
    gain: float | None
    p_value: float | None
    fit_seconds: float
    fit_cpu_seconds: float
    predict_seconds: float
    predict_cpu_seconds: float
    peak_mb: float
    n_train: int
    n_test: int
    best: bool
    status: str = "ok"
    message: str = ""
    notes: tuple[str, ...] = ()
    reference: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)
    confusion: tuple[tuple[int, ...], ...] = ()
    calibration: tuple[tuple[float, ...], ...] = ()

    @property
    def measured(self) -> bool:
        """Whether there is an error to speak of, of all folds or at least some."""
        return self.status != "failed" and math.isfinite(self.error_mean)


def same_error(first: float, second: float) -> bool:
    """Say whether two errors are equal but for the order in which their folds were summed."""
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def best_row(rows: Iterable[Row]) -> Row | None:
    """Return the measured row of smallest error; ties go to the Euclidean row, then to the first.

    A row that lacks folds is not compared with whole ones, unless there are none.
    """
    measured = [row for row in rows if row.measured]
    whole = [row for row in measured if row.status == "ok"] or measured
    least = min((row.error_mean for row in whole), default=math.nan)
    tied = [row for row in whole if same_error(row.error_mean, least)]
    return min(tied, key=lambda row: row.method != EUCLIDEAN, default=None)


def best_neighbors(rows: Iterable[Row]) -> Row | None:
    """Return the best row of those that ask neighbours: references do not compete."""
    return best_row(row for row in rows if not row.reference)


def mark_best(rows: Iterable[Row]) -> list[Row]:
    """Mark the best of the rows of one k; equal ones are all marked, partial ones never."""
    rows = list(rows)
    best = best_neighbors(rows)
    least = math.nan if best is None else best.error_mean
    return [
        replace(
            row,
            best=row.status == "ok" and not row.reference and same_error(row.error_mean, least),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Duel:
    """The best of the neighbours against a reference: the paired test of their difference.

    The Euclidean distance at its best k is such a reference, too.
    """

    reference: str
    p_value: float | None


@dataclass(frozen=True)
class Neighbor:
    """One neighbour: its training row, distance, label, and whether it votes right.

    ``values`` are its values of the features that its ``Example.values`` names, in that order.
    """

    row: int
    distance: float
    label: str
    right: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Example:
    """A test point with its neighbours under the plain and under the learned distance."""

    row: int
    label: str
    before: tuple[Neighbor, ...]
    after: tuple[Neighbor, ...]
    predicted_before: str
    predicted_after: str
    values: tuple[tuple[str, str], ...] = ()
    images: Mapping[int, AnyArray] = field(default_factory=dict)
    query_image: AnyArray | None = None


@dataclass(frozen=True)
class Exhibit:
    """What one fitted metric learned, kept with its measurement.

    Attributes
    ----------
    method, title : str
    k : int
    map_before, map_after : ndarrays of shape (m, 2)
        Test rows by two components, under the plain and under the learned distance.
    map_targets : ndarray of shape (m,)
        Class names (as shown to the reader), or floats for regression.
    agreement : pair of float, or empty
        Before and after: the share of a test row's neighbours that have its class, or the
        correlation of its target with theirs.
    examples : tuple of Example
    feature_names : tuple of str
    columns : tuple of str
        The column of the table each feature comes from; empty where they are the same.
    image_shape : tuple of int or None
        Set where the features are pixels.
    relevance : ndarray of shape (d,)
        Share of each original feature in the distance; empty, as all below, where the map is
        not linear.
    eigenvalues : ndarray of shape (p,)
        Descending; ``carries`` says in words what their sum is.
    intervals : ndarray of shape (q, 2)
        Bootstrap intervals of the first q of them, over ``n_evaluations`` points; q may be 0.
    places : ndarray of shape (n, r)
        Training rows along the r ≤ 2 leading directions, which ``directions`` name.
    targets : ndarray of shape (n,)
        As ``map_targets``, of those rows.
    """

    method: str
    title: str
    k: int
    map_before: FloatArray
    map_after: FloatArray
    map_targets: AnyArray
    agreement: tuple[float, ...] = ()
    examples: tuple[Example, ...] = ()
    feature_names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    image_shape: tuple[int, ...] | None = None
    relevance: FloatArray = field(default_factory=lambda: np.empty(0))
    eigenvalues: FloatArray = field(default_factory=lambda: np.empty(0))
    carries: str = "the metric"
    intervals: FloatArray = field(default_factory=lambda: np.empty((0, 2)))
    n_evaluations: int = 0
    places: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    targets: AnyArray = field(default_factory=lambda: np.empty(0))
    directions: tuple[str, ...] = ()
