"""The rows of a cell: loaded, sampled, split and prepared; what the next may need is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from vicinal._types import AnyArray, Dataset, Fold, IntArray, Task
from vicinal.baselines._sampling import sample_rows
from vicinal.comparison._synthetic import SYNTHETIC, make_synthetic
from vicinal.comparison._views import first_features, take_rows, two_sides
from vicinal.data import Preparation, imputer_for, load_dataset, make_folds, read_table
from vicinal.runs._cells import Setting, Source


@dataclass(frozen=True)
class PreparedFold:
    """One fold, ready for a learner; ``rows`` are its row numbers in ``dataset``."""

    dataset: Dataset
    rows: Fold
    X_train: AnyArray
    y_train: AnyArray
    X_test: AnyArray
    y_test: AnyArray
    preparation: Any


def load_rows(source: Source, seed: int) -> Dataset:
    """Return the data set of a source, sampled where the source has a limit.

    Raises
    ------
    ValueError
        Where a table is not the one its digest was taken from.
    """
    if source.name in SYNTHETIC and source.path is None:
        dataset = make_synthetic(source.name)
    elif source.path is None:
        dataset = load_dataset(source.name)
    else:
        if source.digest and file_digest(Path(source.path)) != source.digest:
            raise ValueError(f"{source.path} was changed while it was in use; start again.")
        dataset = read_table(
            source.path,
            source.target,
            task=cast("Task | None", source.task),
            impute=source.impute,
        )
    dataset = view_dataset(dataset, source)
    return dataset if source.limit is None else sample_dataset(dataset, source.limit, seed)


def view_dataset(dataset: Dataset, source: Source) -> Dataset:
    """Return the part of a data set that a source asks for."""
    if source.sides is not None:
        dataset = two_sides(dataset, source.sides)
    if source.n_features is not None:
        dataset = first_features(dataset, source.n_features)
    return dataset


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sample_dataset(dataset: Dataset, size: int, seed: int) -> Dataset:
    """Return ``size`` random rows, with test part and classes in proportion.

    No class that has two rows or more is left with fewer than two, so there may be a few more.
    """
    n = len(dataset.y)
    if size >= n:
        return dataset
    strata = _strata(dataset)
    kept = sample_rows(strata, size, np.random.default_rng(seed))
    return take_rows(dataset, kept)


def _strata(dataset: Dataset) -> IntArray:
    """Number the combinations of class and official part."""
    labels = dataset.y if dataset.task == "classification" else np.zeros(len(dataset.y), np.int64)
    part = np.zeros(len(labels), np.int64) if dataset.is_test is None else dataset.is_test
    return np.unique(2 * labels.astype(np.int64) + part, return_inverse=True)[1]


def make_setting_folds(dataset: Dataset, setting: Setting) -> tuple[Fold, ...]:
    """Return the folds of a setting; sizes cut those that keep groups whole to a random part."""
    options: Mapping[str, Any] = {"seed": setting.seed, **setting.folds}
    folds = make_folds(dataset, setting.protocol, **options)
    if setting.protocol != "grouped" or not options.keys() & {"train_size", "test_size"}:
        return folds
    return tuple(
        Fold(
            _at_most(fold.train, options.get("train_size"), [options["seed"], 2 * number]),
            _at_most(fold.test, options.get("test_size"), [options["seed"], 2 * number + 1]),
        )
        for number, fold in enumerate(folds)
    )


def _at_most(rows: IntArray, size: int | None, seed: list[int]) -> IntArray:
    """Return at most so many of the rows, drawn at random, in their order."""
    if size is None or size >= len(rows):
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))


def prepare_fold(dataset: Dataset, fold: Fold, preparation: Mapping[str, Any]) -> PreparedFold:
    """Return one fold with missing values filled in and features scaled by its training part."""
    X_train, X_test = dataset.X[fold.train], dataset.X[fold.test]
    imputer = imputer_for(dataset)
    if imputer is not None:
        X_train, X_test = imputer.fit(X_train).transform(X_train), imputer.transform(X_test)
    scaler = Preparation(**preparation).fit(X_train)
    return PreparedFold(
        dataset,
        fold,
        np.ascontiguousarray(scaler.transform(X_train)),
        dataset.y[fold.train],
        np.ascontiguousarray(scaler.transform(X_test)),
        dataset.y[fold.test],
        scaler,
    )


class FoldKeeper:
    """Prepared folds on demand; the last of each stage is kept, since cells come fold by fold."""

    def __init__(self) -> None:
        self._load = lru_cache(maxsize=1)(load_rows)
        self._split: tuple[str, tuple[Fold, ...]] = ("", ())
        self._key: Any = None
        self._prepared: PreparedFold | None = None

    def get(self, setting: Setting, fold: int) -> PreparedFold:
        """Return a prepared fold, from memory where the last call asked for the same."""
        key = (repr(setting), fold)
        if key != self._key or self._prepared is None:
            self._prepared = None  # let go of the old rows before the new ones are made
            dataset = self._load(setting.source, setting.seed)
            rows = self._folds_of(dataset, setting)[fold]
            self._prepared = prepare_fold(dataset, rows, setting.preparation)
            self._key = key
        return self._prepared

    def _folds_of(self, dataset: Dataset, setting: Setting) -> tuple[Fold, ...]:
        if self._split[0] != repr(setting):
            self._split = repr(setting), make_setting_folds(dataset, setting)
        return self._split[1]
