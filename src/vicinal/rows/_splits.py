"""Rows parted: folds, folds that keep groups together, and the inner splits of a choice."""

from __future__ import annotations

import warnings
from typing import TypeVar

import numpy as np

from vicinal._types import Fold, IntArray
from vicinal.rows._rows import Rows

R = TypeVar("R", bound=Rows)

# Folds of a choice, each of which may judge what the others teach.
FOLDS = 4
# Votes to judge by: the standard error of an error is then at most a point and a half. Fewer rows
# have all their folds judge, more only the first ones.
VOTES = 1250
# Rows to choose on at most: more would not change what is chosen, only how long it takes.
MOST_ROWS = 5000


def kfold(
    n_rows: int, n_folds: int, *, labels: IntArray | None = None, seed: int = 0
) -> tuple[Fold, ...]:
    """Cut rows into folds; with labels, every class is spread evenly.

    The folds are those of scikit-learn's ``StratifiedKFold`` (``KFold`` without labels) with
    ``shuffle=True, random_state=seed``, so that anyone can make them again. The sizes of any two
    folds differ by at most one, and so do the numbers of members of any class. A class with fewer
    members than folds is absent from some folds' test parts, and a class with one member is in no
    training part when its member is tested: that row cannot be classified rightly by any method.
    Where every class has fewer members than there are folds, the rows are cut without regard to
    class.

    Parameters
    ----------
    n_rows, n_folds : int
    labels : int array of shape (n_rows,) or None
    seed : int

    Returns
    -------
    tuple of Fold, length n_folds
    """
    _check_folds(n_folds, n_rows, "rows")
    from sklearn.model_selection import KFold, StratifiedKFold

    codes = np.zeros(n_rows, np.int64) if labels is None else np.asarray(labels)
    largest = np.unique(codes, return_counts=True)[1].max()
    stratified = labels is not None and largest >= n_folds
    cut = (StratifiedKFold if stratified else KFold)(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():  # classes with fewer members than folds: see above
        warnings.simplefilter("ignore", UserWarning)
        return tuple(Fold(train, test) for train, test in cut.split(codes, codes))


def grouped_kfold(
    groups: IntArray, n_folds: int, *, labels: IntArray | None = None, seed: int = 0
) -> tuple[Fold, ...]:
    r"""Cut rows into folds that never part a group.

    Groups are placed one by one, the largest first, each in the fold where it adds least to

    .. math:: \sum_{f} \sum_{c} (n_{fc} / n_c)^2,

    the unevenness of the classes c over the folds f (ties: the fold with fewest rows). Without
    labels all rows count as one class, and only the sizes are evened out.

    Parameters
    ----------
    groups : int array of shape (n,)
    n_folds : int
        At most the number of distinct groups.
    labels : int array of shape (n,) or None
    seed : int
        Breaks ties between groups of equal size.

    Returns
    -------
    tuple of Fold, length n_folds
    """
    names, group_of = np.unique(np.asarray(groups), return_inverse=True)
    _check_folds(n_folds, len(names), "groups")
    counts = _count_classes(group_of, len(names), labels)
    placed = _place_groups(counts, n_folds, np.random.default_rng(seed))
    return _folds_from_assignment(placed[group_of], n_folds)


def _count_classes(group_of: IntArray, n_groups: int, labels: IntArray | None) -> IntArray:
    """Return how many rows of each class each group holds, shape (n_groups, n_classes)."""
    if labels is None:
        return np.bincount(group_of, minlength=n_groups)[:, None]
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    counts = np.zeros((n_groups, len(classes)), dtype=np.int64)
    np.add.at(counts, (group_of, codes), 1)
    return counts


def _place_groups(counts: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    sizes = counts.sum(axis=1)
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    weights = 1.0 / counts.sum(axis=0).astype(np.float64) ** 2
    held = np.zeros((n_folds, counts.shape[1]))
    placed = np.empty(len(sizes), dtype=np.int64)
    for group in order:
        # A group's own square is the same in every fold: only the cross term decides.
        cost = held @ (weights * counts[group])
        fold = np.lexsort((held.sum(axis=1), cost))[0]
        held[fold] += counts[group]
        placed[group] = fold
    return placed


def _check_folds(n_folds: int, n_units: int, what: str) -> None:
    if n_folds < 2:
        raise ValueError(f"n_folds must be at least 2, got {n_folds}.")
    if n_folds > n_units:
        raise ValueError(
            f"cannot make {n_folds} folds from {n_units} {what}; use at most {n_units} folds."
        )


def _folds_from_assignment(fold_of: IntArray, n_folds: int) -> tuple[Fold, ...]:
    return tuple(
        Fold(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
        for fold in range(n_folds)
    )


def inner_folds(rows: Rows, seed: int) -> list[Fold]:
    """Return the folds of a choice, by row number: one of many rows, several of few.

    Classes are kept in proportion and groups together; no row is held out twice. An empty list
    means that there are too few rows, or groups, to hold any out.
    """
    numbers = np.arange(rows.n_rows)
    if rows.n_rows > MOST_ROWS:
        numbers = np.sort(_sample(rows, np.random.default_rng([seed, 0])))
        rows = rows.take(numbers)
    n_groups = FOLDS if rows.groups is None else len(np.unique(rows.groups))
    if rows.n_rows < FOLDS or n_groups < 2:
        return []
    n_splits = -(-VOTES // (rows.n_rows // FOLDS))
    if rows.groups is None:
        folds = kfold(rows.n_rows, FOLDS, labels=rows.labels, seed=seed)
    else:
        folds = grouped_kfold(rows.groups, min(FOLDS, n_groups), labels=rows.labels, seed=seed)
    return [Fold(numbers[fold.train], numbers[fold.test]) for fold in folds[:n_splits]]


def inner_splits(rows: R, seed: int) -> list[tuple[R, R]]:
    """Return the (training, held-out) parts of :func:`inner_folds`."""
    return [(rows.take(fold.train), rows.take(fold.test)) for fold in inner_folds(rows, seed)]


def _sample(rows: Rows, rng: np.random.Generator) -> IntArray:
    """Return so many rows at random, or whole groups with so many rows."""
    if rows.groups is None:
        return rng.permutation(rows.n_rows)[:MOST_ROWS]
    _, members, counts = np.unique(rows.groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(counts))
    n_groups = max(2, int(np.searchsorted(np.cumsum(counts[order]), MOST_ROWS, side="right")))
    return np.flatnonzero(np.isin(members, order[:n_groups]))
