"""The rows of a cell: loaded once, sampled, split and prepared; what the next may need is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from vicinal._types import AnyArray, Dataset, FloatArray, Fold, IntArray, Task
from vicinal.comparison._held import read_held
from vicinal.comparison._synthetic import SYNTHETIC, make_synthetic
from vicinal.comparison._views import first_features, sample_dataset, two_sides
from vicinal.data import (
    Imputer,
    Preparation,
    deviations_for,
    imputer_for,
    load_dataset,
    make_folds,
    read_table,
    sha256_of,
)
from vicinal.runs import Setting, Source


@dataclass(frozen=True)
class PreparedFold:
    """One fold, ready for a learner; ``rows`` are its row numbers in ``dataset``.

    ``imputer`` and ``preparation`` are fitted to its training part; the former is None where
    there was nothing to fill in.
    """

    dataset: Dataset
    rows: Fold
    X_train: AnyArray
    y_train: AnyArray
    X_test: AnyArray
    y_test: AnyArray
    imputer: Imputer | None
    preparation: Preparation

    @property
    def train_weights(self) -> FloatArray | None:
        """What each training row counts, None where all count the same."""
        return None if self.dataset.weights is None else self.dataset.weights[self.rows.train]

    @property
    def test_weights(self) -> FloatArray | None:
        """What each test row counts."""
        return None if self.dataset.weights is None else self.dataset.weights[self.rows.test]


def load_rows(source: Source, seed: int, held: Dataset | None = None) -> Dataset:
    """Return the data set of a source, sampled where the source has a limit.

    ``held`` is a data set at hand, taken where the source is of the user's own arrays.

    Raises
    ------
    ValueError
        Where a table is not the one its digest was taken from.
    """
    dataset = held if held is not None and source.held else _read_rows(source, seed)
    dataset = view_dataset(dataset, source)
    return dataset if source.limit is None else sample_dataset(dataset, source.limit, seed)


def _read_rows(source: Source, seed: int) -> Dataset:
    if source.path is None:
        made_up = source.name in SYNTHETIC
        return make_synthetic(source.name) if made_up else load_dataset(source.name)
    if source.held:
        return read_held(Path(source.path))
    if source.digest and sha256_of(Path(source.path)) != source.digest:
        raise ValueError(f"{source.path} was changed while it was in use; start again.")
    task = cast("Task | None", source.task)
    options: dict[str, Any] = {"task": task, "impute": source.impute, **source.roles}
    return read_table(source.path, source.target, n_rows=source.limit, seed=seed, **options)


def view_dataset(dataset: Dataset, source: Source) -> Dataset:
    """Return the part of a data set that a source asks for."""
    if source.sides is not None:
        dataset = two_sides(dataset, source.sides)
    if source.n_features is not None:
        dataset = first_features(dataset, source.n_features)
    return dataset


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
    scaler = Preparation(**preparation, deviations=deviations_for(dataset)).fit(X_train)
    return PreparedFold(
        dataset,
        fold,
        np.ascontiguousarray(scaler.transform(X_train)),
        dataset.y[fold.train],
        np.ascontiguousarray(scaler.transform(X_test)),
        dataset.y[fold.test],
        imputer,
        scaler,
    )


class FoldKeeper:
    """Prepared folds on demand; the last of each stage is kept, since cells come fold by fold.

    Parameters
    ----------
    held : Dataset, optional
        The user's own rows, where they are in memory already.
    """

    def __init__(self, held: Dataset | None = None) -> None:
        self._held = held
        self._kept: dict[str, tuple[str, Any]] = {}

    def rows(self, setting: Setting) -> Dataset:
        """Return the rows of a setting."""
        key = repr((setting.source, setting.seed))
        return self._keep("rows", key, lambda: load_rows(setting.source, setting.seed, self._held))

    def folds(self, setting: Setting) -> tuple[Fold, ...]:
        """Return the folds of a setting."""
        rows = self.rows(setting)
        return self._keep("folds", repr(setting), lambda: make_setting_folds(rows, setting))

    def get(self, setting: Setting, fold: int) -> PreparedFold:
        """Return a prepared fold."""
        rows, parts = self.rows(setting), self.folds(setting)
        prepare = partial(prepare_fold, rows, parts[fold], setting.preparation)
        return self._keep("fold", repr((setting, fold)), prepare)

    def _keep(self, stage: str, key: str, make: Callable[[], Any]) -> Any:
        if self._kept.get(stage, ("", None))[0] != key:
            self._kept.pop(stage, None)  # let go of the old rows before the new ones are made
            self._kept[stage] = key, make()
        return self._kept[stage][1]
