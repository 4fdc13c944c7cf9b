"""Which rows train and which test: every protocol is a pure function to row numbers.

All methods of a comparison get the same folds, because a fold depends only on the targets (or
groups), the numbers asked for and the seed.
"""

from __future__ import annotations

from itertools import chain
from math import floor

import numpy as np

from vicinal._types import AnyArray, BoolArray, Dataset, FloatArray, Fold, IntArray, Task
from vicinal.rows import grouped_kfold, kfold

PROTOCOLS = ("official", "kfold", "repeated", "grouped", "time")

Size = int | float | None


def make_folds(
    dataset: Dataset,
    protocol: str | None = None,
    *,
    n_folds: int = 5,
    n_repeats: int = 10,
    n_rounds: int = 1,
    train_size: Size = None,
    test_size: Size = None,
    seed: int = 0,
) -> tuple[Fold, ...]:
    """Return the training and test rows of each round of a protocol.

    Parameters
    ----------
    dataset : Dataset
    protocol : {"official", "kfold", "repeated", "grouped", "time"} or None
        - "official": the source's own split, one fold.
        - "kfold": `n_folds` folds, stratified for classification.
        - "repeated": `n_repeats` random splits, stratified for classification.
        - "grouped": `n_folds` folds that keep every group (subject, trajectory, molecule) on
          one side, balanced over classes as far as the groups allow.
        - "time": `n_folds` windows, each learned from all that came before it.

        None takes the data set's own default.
    n_folds, n_repeats : int
    n_rounds : int
        For "kfold" and "grouped": cut so many times, the r-th time with ``seed + r``.
    train_size, test_size : int, float or None
        For "repeated": a number of rows (int) or a share of them (float). One of the two is
        enough; with neither, a quarter of the rows test.
    seed : int

    Returns
    -------
    tuple of Fold
    """
    name = dataset.protocol if protocol is None else protocol
    labels = dataset.y if dataset.task == "classification" else None
    if name == "official":
        return (official_split(_required(dataset.is_test, dataset.name, "official split")),)
    if name == "kfold":
        n_rows, seeds = len(dataset.y), range(seed, seed + n_rounds)
        return tuple(chain(*(kfold(n_rows, n_folds, labels=labels, seed=s) for s in seeds)))
    if name == "repeated":
        sizes = split_sizes(len(dataset.y), train_size, test_size)
        return random_splits(len(dataset.y), n_repeats, *sizes, labels=labels, seed=seed)
    if name == "grouped":
        groups = _required(dataset.groups, dataset.name, "groups")
        seeds = range(seed, seed + n_rounds)
        return tuple(chain(*(grouped_kfold(groups, n_folds, labels=labels, seed=s) for s in seeds)))
    if name == "time":
        return expanding_windows(_required(dataset.times, dataset.name, "column of dates"), n_folds)
    raise ValueError(f"unknown protocol {name!r}; choose one of {', '.join(PROTOCOLS)}.")


def _required(array: AnyArray | None, name: str, what: str) -> AnyArray:
    if array is None:
        raise ValueError(
            f"{name} has no {what}; use the protocol 'kfold' or 'repeated' for it instead."
        )
    return array


def official_split(is_test: BoolArray) -> Fold:
    """Return the split of a boolean mask of shape (n,): False trains, True tests."""
    mask = np.asarray(is_test, dtype=bool)
    if mask.all() or not mask.any():
        raise ValueError("the official split leaves one side empty: all rows are on one side.")
    return Fold(np.flatnonzero(~mask), np.flatnonzero(mask))


def expanding_windows(times: FloatArray, n_folds: int) -> tuple[Fold, ...]:
    """Cut rows into stretches of time, each to be predicted from all before it.

    The rows in order of time make ``n_folds + 1`` stretches of like size; the first is only ever
    learned from. Rows of one moment are never parted.

    Parameters
    ----------
    times : array of shape (n,)
    n_folds : int
        At most the number of distinct times minus one.

    Returns
    -------
    tuple of Fold, length n_folds
    """
    moments, moment_of = np.unique(np.asarray(times), return_inverse=True)
    if not 2 <= n_folds < len(moments):
        raise ValueError(
            f"cannot make {n_folds} stretches of time after the first from {len(moments)} moments; "
            f"use 2 to {len(moments) - 1} (n_folds)."
        )
    order = np.argsort(moment_of, kind="stable")
    ends = np.cumsum(np.bincount(moment_of))  # of the rows of each moment
    places = np.arange(1, n_folds + 1) * len(order) / (n_folds + 1)
    cuts = [int(ends[min(np.searchsorted(ends, each), len(ends) - 2)]) for each in places]
    for i in range(1, n_folds):  # crowded moments must not leave a stretch empty
        cuts[i] = max(cuts[i], int(ends[np.searchsorted(ends, cuts[i - 1], side="right")]))
    stops = [*cuts[1:], len(order)]
    if any(stop <= start for start, stop in zip(cuts, stops, strict=True)):
        raise ValueError(
            f"the {len(moments)} moments are too crowded at the end for {n_folds} stretches of "
            "time; use fewer (n_folds)."
        )
    return tuple(
        Fold(np.sort(order[:start]), np.sort(order[start:stop]))
        for start, stop in zip(cuts, stops, strict=True)
    )


def random_splits(
    n_rows: int,
    n_repeats: int,
    n_train: int,
    n_test: int,
    *,
    labels: IntArray | None = None,
    seed: int = 0,
) -> tuple[Fold, ...]:
    """Draw independent splits of fixed sizes; with labels, class shares are kept to one row.

    Repeat r depends on (seed, r) only, so that asking for more repeats keeps the first ones.
    """
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats}.")
    if n_train < 1 or n_test < 1 or n_train + n_test > n_rows:
        raise ValueError(
            f"cannot draw {n_train} training and {n_test} test rows from {n_rows} rows."
        )
    return tuple(
        _random_split(n_rows, n_train, n_test, labels, np.random.default_rng([seed, repeat]))
        for repeat in range(n_repeats)
    )


def _random_split(
    n_rows: int,
    n_train: int,
    n_test: int,
    labels: IntArray | None,
    rng: np.random.Generator,
) -> Fold:
    codes = np.zeros(n_rows, dtype=np.int64)
    if labels is not None:
        codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    test = _draw_stratified(np.arange(n_rows), codes, n_test, rng)
    rest = np.setdiff1d(np.arange(n_rows), test, assume_unique=True)
    train = rest
    if n_train < len(rest):
        train = _draw_stratified(rest, codes[rest], n_train, rng)
    return Fold(train, test)


def _draw_stratified(
    rows: IntArray, codes: IntArray, n_drawn: int, rng: np.random.Generator
) -> IntArray:
    """Draw rows so that each class gets its exact share, rounded up or down."""
    order = rng.permutation(len(rows))
    order = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes)
    taken = _round_shares(counts * (n_drawn / len(rows)), n_drawn, rng)
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(rows)) - np.repeat(starts, counts)
    return np.sort(rows[order[rank < np.repeat(taken, counts)]])


def _round_shares(shares: AnyArray, total: int, rng: np.random.Generator) -> IntArray:
    """Round shares to whole numbers of the given total: largest remainders up, ties by lot."""
    whole = np.floor(shares + 1e-9).astype(np.int64)
    remainder = shares - whole
    by_remainder = np.lexsort((rng.random(len(shares)), -np.round(remainder, 9)))
    whole[by_remainder[: total - whole.sum()]] += 1
    return whole


def inner_split(
    y: AnyArray,
    *,
    test_size: Size = 0.25,
    seed: int = 0,
    groups: IntArray | None = None,
    times: FloatArray | None = None,
    task: Task = "classification",
) -> Fold:
    """Split a training part once more, to choose parameters (75/25 by default).

    Stratified for classification. With `groups` no group is on both sides; the share is then
    met as nearly as whole groups allow. With `times` the last rows validate, those of one moment
    on one side. Row numbers count within `y`.

    Parameters
    ----------
    y : array of shape (n,)
    test_size : int or float
        Rows (int) or share (float) that validate.
    seed : int
    groups : int array of shape (n,) or None
    times : array of shape (n,) or None
    task : {"classification", "regression"}

    Returns
    -------
    Fold
    """
    n_rows = len(y)
    labels = np.asarray(y) if task == "classification" else None
    n_train, n_test = split_sizes(n_rows, None, test_size)
    if times is not None and len(np.unique(times)) > 1:
        late = np.asarray(times) >= min(np.sort(times)[n_train], np.max(times))
        return Fold(np.flatnonzero(~late), np.flatnonzero(late))
    if groups is None:
        return random_splits(n_rows, 1, n_train, n_test, labels=labels, seed=seed)[0]
    n_folds = min(max(2, round(n_rows / n_test)), len(np.unique(groups)))
    return grouped_kfold(groups, n_folds, labels=labels, seed=seed)[0]


def split_sizes(n_rows: int, train_size: Size, test_size: Size) -> tuple[int, int]:
    """Return the numbers of training and test rows; what is not given is the rest."""
    if train_size is None and test_size is None:
        test_size = 0.25
    train = None if train_size is None else _rows_of(train_size, n_rows, "train_size")
    test = None if test_size is None else _rows_of(test_size, n_rows, "test_size")
    if train is None:
        train = n_rows - (test or 0)
    if test is None:
        test = n_rows - train
    if train < 1 or test < 1 or train + test > n_rows:
        raise ValueError(
            f"train_size={train_size!r} and test_size={test_size!r} ask for {train} training and "
            f"{test} test rows; there are {n_rows} rows, and each side needs at least one."
        )
    return train, test


def _rows_of(size: int | float, n_rows: int, name: str) -> int:
    if isinstance(size, (bool, np.bool_)):
        raise ValueError(f"{name} must be a number of rows or a share of them, got {size!r}.")
    if isinstance(size, (int, np.integer)):
        return int(size)
    if not 0.0 < size < 1.0:
        raise ValueError(f"{name} as a share must lie between 0 and 1, got {size!r}.")
    return min(max(1, floor(size * n_rows + 0.5)), n_rows - 1)
