"""Which rows each member does not see, so that it can be asked about them afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vicinal._types import Fold, IntArray
from vicinal.rows import Rows, grouped_kfold

# Folds of a single map, of which it is blind to the first.
FOLDS_OF_ONE = 4


def draw_folds(
    rows: Rows, n_folds: int, rng: np.random.Generator, held: Sequence[Fold] = ()
) -> IntArray:
    """Return the fold (n,) of each row; −1 for a class of one row, which none can leave out.

    Rows held out by the folds of somebody else are in those, and these come first; the others are
    dealt out among the rest, classes spread evenly and groups kept together.
    """
    fold = np.full(rows.n_rows, -1)
    for f, each in enumerate(held):
        fold[each.test] = f
    free = fold < 0
    if rows.labels is not None:
        free &= np.bincount(rows.labels)[rows.labels] > 1
    n_left, some = n_folds - len(held), np.flatnonzero(free)
    if n_left and len(some):
        fold[some] = len(held) + _deal(rows.take(some), n_left, rng)
    return fold


def _deal(rows: Rows, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Return the fold (n,) of each row, 0 to n_folds − 1."""
    dealt = np.zeros(rows.n_rows, np.int64)
    if rows.groups is not None and n_folds > 1 and len(np.unique(rows.groups)) >= n_folds:
        seed = int(rng.integers(2**31))
        for f, each in enumerate(
            grouped_kfold(rows.groups, n_folds, labels=rows.labels, seed=seed)
        ):
            dealt[each.test] = f
        return dealt
    order = rng.permutation(rows.n_rows)
    if rows.labels is not None:
        order = order[np.argsort(rows.labels[order], kind="stable")]
    dealt[order] = np.arange(rows.n_rows) % n_folds
    return dealt
