"""Inner splits: rows to try a setting on, and rows to judge it by."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from vicinal._types import IntArray
from vicinal.data import inner_split
from vicinal.metric.descent import Rows

R = TypeVar("R", bound=Rows)

# The share of the rows that judges.
HELD_OUT = 0.25
# Votes to judge by: the standard error of an error is then at most a point and a half. Few rows are
# split again and again to come near to it, but not more often than this.
VOTES, MOST_SPLITS = 1250, 4
# Rows to choose on at most: more would not change what is chosen, only how long it takes.
MOST_ROWS = 5000


def inner_splits(rows: R, seed: int) -> list[tuple[R, R]]:
    """Return (training, held-out) parts of some rows: one split of many rows, several of few.

    Classes are kept in proportion and groups together. An empty list means that there are too few
    rows, or groups, to hold any out.
    """
    rng = np.random.default_rng([seed, 0])
    if rows.n_rows > MOST_ROWS:
        rows = rows.take(np.sort(_sample(rows, rng)))
    n_held = int(rows.n_rows * HELD_OUT)
    if n_held < 1 or (rows.groups is not None and len(np.unique(rows.groups)) < 2):
        return []
    splits = []
    for split in range(min(MOST_SPLITS, -(-VOTES // n_held))):
        labels = rows.labels
        fold = inner_split(
            np.zeros(rows.n_rows) if labels is None else labels,
            test_size=HELD_OUT,
            seed=seed + split,
            groups=rows.groups,
            task="regression" if labels is None else "classification",
        )
        splits.append((rows.take(fold.train), rows.take(fold.test)))
    return splits


def _sample(rows: Rows, rng: np.random.Generator) -> IntArray:
    """Return so many rows at random, or whole groups with so many rows."""
    if rows.groups is None:
        return rng.permutation(rows.n_rows)[:MOST_ROWS]
    _, members, counts = np.unique(rows.groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(counts))
    kept = order[: max(2, int(np.searchsorted(np.cumsum(counts[order]), MOST_ROWS, side="right")))]
    return np.flatnonzero(np.isin(members, kept))
