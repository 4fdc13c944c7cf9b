"""What is known of rows in pairs, triplets and quadruplets: checked, or drawn from classes.

fit_pairs(pairs, y)          (n, 2, d)   y = +1 alike, −1 not
fit_triplets(triplets)       (n, 3, d)   the first is nearer to the second than to the third
fit_quadruplets(quadruplets) (n, 4, d)   the first two are nearer than the last two
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import read_numbers
from vicinal.metric.descent import FramedRows, frame_rows
from vicinal.rows import FLOATS, Classes, Rows, refuse_disguises, refuse_extremes, widen

# Numbers in the differences of drawn pairs, of which learners hold several copies.
MOST_FEATURES = 2**23
_WORDS = {2: "pairs", 3: "triplets", 4: "quadruplets"}


@dataclass(frozen=True)
class PairRows:
    """Row numbers of pairs alike (q, 2) and not alike (r, 2)."""

    alike: IntArray
    apart: IntArray


def check_tuples(estimator: Any, tuples: Any, size: int) -> FloatArray:
    """Return tuples as floats (n, size, d), and note the number of features."""
    what = _WORDS[size]
    refuse_disguises(tuples)
    checked: FloatArray = check_array(tuples, allow_nd=True, dtype=list(FLOATS), input_name=what)
    if checked.ndim != 3 or checked.shape[1] != size:
        raise ValueError(
            f"{what} must have shape (n, {size}, n_features), got {checked.shape}; stack the "
            f"{size} rows of each along axis 1."
        )
    estimator.n_features_in_ = checked.shape[2]
    rows = checked.reshape(-1, checked.shape[2])
    refuse_extremes(rows, what)
    wide: FloatArray = widen(rows)
    return wide.reshape(checked.shape)


def check_pair_labels(y: Any, n_pairs: int) -> IntArray:
    """Return +1 and −1 for each pair; both must occur."""
    labels = read_numbers("y", y)
    if labels.shape != (n_pairs,):
        raise ValueError(f"y must have shape ({n_pairs},), one label a pair; got {labels.shape}.")
    if not np.isin(labels, (-1, 1)).all():
        raise ValueError(
            f"pairs are labelled +1 (alike) or -1 (not alike), but y holds {np.unique(labels)[:5]}."
        )
    if not ((labels == 1).any() and (labels == -1).any()):
        raise ValueError("y must label some pairs +1 and some -1: both kinds are needed.")
    return labels.astype(np.int64)


def draw_pairs(codes: IntArray, n_pairs: int, rng: np.random.Generator) -> PairRows:
    """Return up to ``n_pairs`` distinct pairs of one class and as many of two.

    A row is drawn, then another of its class, or of another: rows count alike, whatever the sizes
    of their classes. Duplicates are dropped, and a row alone in its class is in no pair alike.
    """
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(counts)])
    paired = np.flatnonzero(counts[codes] > 1)
    alike: IntArray = np.empty((0, 2), np.int64)
    if len(paired):
        first = rng.choice(paired, n_pairs)
        c, n = codes[first], counts[codes[first]]
        place = np.empty(len(codes), np.int64)
        place[order] = np.arange(len(codes)) - starts[codes[order]]
        step = 1 + (rng.random(n_pairs) * (n - 1)).astype(np.int64)
        alike = _distinct(first, order[starts[c] + (place[first] + step) % n])
    first = rng.integers(0, len(codes), n_pairs)
    c = codes[first]
    others = len(codes) - counts[c]
    skip = (rng.random(n_pairs) * others).astype(np.int64)
    apart = _distinct(first, order[(starts[c + 1] + skip) % len(codes)])
    return PairRows(alike, apart)


def _distinct(first: IntArray, second: IntArray) -> IntArray:
    pairs = np.column_stack([np.minimum(first, second), np.maximum(first, second)])
    kept = np.sort(np.unique(pairs, axis=0, return_index=True)[1])
    return pairs[kept]


def draw_triplets(
    targets: IntArray, impostors: IntArray, n_triplets: int, rng: np.random.Generator
) -> IntArray:
    """Return distinct triplets (t, 3): a row, one of its targets and one of its impostors.

    ``targets`` (n, k) and ``impostors`` (n, m) are rows near each row of its class and of others,
    −1 for none. At most ``n_triplets`` are drawn.
    """
    n, k = targets.shape
    m = impostors.shape[1]
    total = n * k * m
    chosen = (
        np.arange(total) if total <= n_triplets else np.unique(rng.integers(0, total, n_triplets))
    )
    rows, rest = np.divmod(chosen, k * m)
    a, b = np.divmod(rest, m)
    triplets = np.column_stack([rows, targets[rows, a], impostors[rows, b]])
    return triplets[(triplets >= 0).all(axis=1)]


def drop_copies(gaps: FloatArray) -> tuple[FloatArray, int]:
    """Return differences that are not zero, and how many were: copies say nothing of a metric."""
    apart = np.einsum("ij,ij->i", gaps, gaps) > 0
    return gaps[apart], int(np.sum(~apart))


def draw_gaps(
    X: FloatArray, codes: IntArray, n_pairs: int | None, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return differences of rows in drawn pairs alike, and in pairs not alike.

    Where no number is given there are 20 R² pairs of either kind, no more than 20 a row, and no
    more than have 2²³ features together (64 MB).
    """
    usual = 20 * min((int(codes.max()) + 1) ** 2, len(X))
    most = max(1, MOST_FEATURES // X.shape[1])
    pairs = draw_pairs(codes, n_pairs or min(usual, most), rng)
    near, far = (X[p[:, 0]] - X[p[:, 1]] for p in (pairs.alike, pairs.apart))
    return near, far


def tuples_span(tuples: AnyArray) -> FloatArray:
    """Return the distinct rows (m, d) that tuples (n, t, d) are made of."""
    return np.unique(tuples.reshape(-1, tuples.shape[2]), axis=0)


def frame_tuples(tuples: AnyArray) -> tuple[FramedRows, FloatArray]:
    """Return the distinct rows in a frame, of one class, and the tuples (n, t, r) in it."""
    points = tuples_span(tuples)
    together = Classes(np.zeros(1), np.zeros(len(points), np.int64))
    rows = frame_rows(Rows(points, together))
    flat = tuples.reshape(-1, tuples.shape[2]).astype(np.float64)
    return rows, rows.frame.enter(flat).reshape(*tuples.shape[:2], -1)
