"""Which rows each member does not see, so that it can be asked about them afterwards."""

from __future__ import annotations

import numpy as np

from vicinal._types import IntArray
from vicinal.rows import Rows, grouped_kfold

# Folds of a single map, of which it is blind to the first.
FOLDS_OF_ONE = 4


def draw_folds(rows: Rows, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Return the fold (n,) of each row; −1 for a class of one row, which none can leave out.

    Classes are spread evenly and groups kept together.
    """
    fold = np.full(rows.n_rows, -1)
    labels = rows.labels
    usual = np.arange(rows.n_rows)
    if labels is not None:
        usual = np.flatnonzero(np.bincount(labels)[labels] > 1)
    groups = rows.groups
    if groups is not None and len(np.unique(groups[usual])) >= n_folds:
        folds = grouped_kfold(
            groups[usual], n_folds, labels=None if labels is None else labels[usual],
            seed=int(rng.integers(2**31)),
        )  # fmt: skip
        for f, each in enumerate(folds):
            fold[usual[each.test]] = f
        return fold
    order = rng.permutation(len(usual))
    if labels is not None:
        order = order[np.argsort(labels[usual][order], kind="stable")]
    fold[usual[order]] = np.arange(len(usual)) % n_folds
    return fold
