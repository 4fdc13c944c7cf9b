"""Parts of a data set: some rows, the first columns, two classes made of several."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from vicinal._types import AnyArray, BoolArray, Dataset, IntArray
from vicinal.data import OF_FEATURES, random_splits

REST = "rest"


def two_sides(dataset: Dataset, sides: str) -> Dataset:
    """Return a data set of two classes: "A, B | C" makes A and B class 0, C class 1.

    The right side may be "rest": every class that is not on the left. Rows of classes on
    neither side are left out.

    Raises
    ------
    ValueError
        For a class the data set does not have, or a text without exactly one bar.
    """
    names = [str(name) for name in dataset.classes]
    left, bar, right = (part.strip() for part in sides.partition("|"))
    if not bar or "|" in right:
        raise ValueError(f"two sides are written 'A, B | C' or 'A | {REST}', got {sides!r}.")
    first = _members(left, names, dataset)
    second = ~first if right == REST else _members(right, names, dataset)
    rows = np.flatnonzero(first[dataset.y] | second[dataset.y])
    members = take_rows(dataset, rows)
    return replace(members, y=second[members.y].astype(np.int64), classes=(left, right))


def _members(side: str, names: list[str], dataset: Dataset) -> BoolArray:
    """Return which classes a side names, of shape (R,)."""
    classes = [name.strip() for name in side.split(",")]
    missing = [name for name in classes if name not in names]
    if missing:
        raise ValueError(f"{dataset.name} has no class {missing[0]!r}; it has {', '.join(names)}.")
    return np.isin(names, classes)


def first_features(dataset: Dataset, n_features: int) -> Dataset:
    """Return a data set with its first columns only.

    Raises
    ------
    ValueError
        Where it has fewer.
    """
    n = dataset.X.shape[1]
    if not 1 <= n_features <= n:
        raise ValueError(
            f"{dataset.name} has {n} features; n_features={n_features} cannot be kept."
        )
    return replace(
        dataset,
        X=np.ascontiguousarray(dataset.X[:, :n_features]),
        feature_names=dataset.feature_names[:n_features],
        image_shape=None,
        extras={
            name: value[:, :n_features] if name in OF_FEATURES else value
            for name, value in dataset.extras.items()
        },
    )


def take_rows(dataset: Dataset, rows: IntArray) -> Dataset:
    """Return a data set of some rows; extras of one entry a row follow."""
    n = len(dataset.y)

    def take(value: Any) -> Any:
        return value[rows] if isinstance(value, np.ndarray) and len(value) == n else value

    taken = {f.name: take(getattr(dataset, f.name)) for f in fields(dataset) if f.name != "extras"}
    extras = {name: _take_extra(value, rows, n) for name, value in dataset.extras.items()}
    return replace(dataset, **taken, extras=extras)


def _take_extra(value: AnyArray, rows: IntArray, n: int) -> AnyArray:
    return value[rows] if np.ndim(value) and len(value) == n else value


def sample_dataset(dataset: Dataset, size: int, seed: int) -> Dataset:
    """Return ``size`` random rows, with test part and classes in proportion.

    No class that has two rows or more is left with fewer than two, so there may be a few more.
    """
    n = len(dataset.y)
    if size >= n:
        return dataset
    strata = _strata(dataset)
    (fold,) = random_splits(n, 1, size, n - size, labels=strata, seed=seed)
    members = np.split(np.argsort(strata, kind="stable"), np.cumsum(np.bincount(strata))[:-1])
    sample = set(fold.train.tolist())
    for rows in members:  # a single member has no neighbour of its kind
        lacking = 2 - sum(int(row) in sample for row in rows)
        sample.update([int(row) for row in rows if int(row) not in sample][: max(0, lacking)])
    return take_rows(dataset, np.array(sorted(sample)))


def _strata(dataset: Dataset) -> IntArray:
    """Number the combinations of class and official part."""
    labels = dataset.y if dataset.task == "classification" else np.zeros(len(dataset.y), np.int64)
    part = np.zeros(len(labels), np.int64) if dataset.is_test is None else dataset.is_test
    return np.unique(2 * labels.astype(np.int64) + part, return_inverse=True)[1]
