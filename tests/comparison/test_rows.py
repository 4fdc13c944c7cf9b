"""Rows of a cell: sampled fairly, split once, prepared by the training part alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from vicinal._types import Dataset, Fold
from vicinal.comparison import _rows
from vicinal.comparison._rows import FoldKeeper, load_rows, prepare_fold
from vicinal.comparison._views import sample_dataset
from vicinal.data import sha256_of
from vicinal.runs import Setting, Source


def dataset_of(n=200, n_classes=3, **more) -> Dataset:
    random = np.random.default_rng(0)
    y = np.sort(random.integers(0, n_classes, n))
    return Dataset("made up", random.normal(size=(n, 4)), y, "classification", **more)


@given(st.integers(2, 150), st.integers(0, 5))
def test_a_sample_keeps_classes_and_official_parts_in_proportion(size, seed):
    dataset = dataset_of(is_test=np.arange(200) % 4 == 0)
    sample = sample_dataset(dataset, size, seed)
    assert sample.is_test is not None
    assert len(sample.y) == size or size < 30
    for part in (False, True):
        whole = np.bincount(dataset.y[dataset.is_test == part])
        kept = np.bincount(sample.y[sample.is_test == part], minlength=3)
        assert np.all(np.abs(kept - whole * size / 200) <= 2)
        assert np.all(kept >= 2)


def test_a_sample_takes_groups_and_extras_along():
    dataset = dataset_of(
        groups=np.arange(200), extras={"row": np.arange(200), "shape": np.array([2, 2])}
    )
    sample = sample_dataset(dataset, 50, seed=1)
    assert sample.groups is not None
    assert_array_equal(sample.groups, sample.extras["row"])
    assert_array_equal(dataset.X[sample.groups], sample.X)
    assert_array_equal(sample.extras["shape"], [2, 2])


def test_the_same_seed_samples_the_same_rows_and_a_large_limit_all():
    dataset = dataset_of()
    assert_array_equal(sample_dataset(dataset, 50, 3).X, sample_dataset(dataset, 50, 3).X)
    assert sample_dataset(dataset, 200, 0) is dataset


def test_nothing_of_the_test_part_is_known_to_the_preparation():
    dataset = dataset_of()
    fold = Fold(np.arange(150), np.arange(150, 200))
    prepared = prepare_fold(dataset, fold, {"scale": "zscore"})
    assert_allclose(prepared.X_train.mean(axis=0), 0, atol=1e-12)
    assert_allclose(prepared.X_train.std(axis=0), 1)
    poisoned = dataset.X.copy()
    poisoned[150:] *= 1000
    other = prepare_fold(Dataset("x", poisoned, dataset.y, "classification"), fold, {})
    assert_array_equal(prepared.X_train, other.X_train)


def test_missing_values_are_filled_in_from_the_training_part():
    X = np.array([[0.0, 1.0], [4.0, 2.0], [np.nan, 3.0], [np.nan, np.nan], [100.0, 100.0]])
    dataset = Dataset("x", X, np.array([0, 1, 0, 1, 1]), "classification")
    prepared = prepare_fold(dataset, Fold(np.array([0, 1, 2]), np.array([3, 4])), {"scale": "none"})
    assert np.isfinite(prepared.X_train).all()
    assert_allclose(prepared.X_test[0], [2.0, 2.0])


def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n" + "".join(f"{i * 7 % 41},{i % 7},{'xz'[i % 2]}\n" for i in range(40)))
    return Source(path.name, str(path), "y", digest=sha256_of(path))


def test_a_table_changed_under_way_is_refused(tmp_path):
    source = table(tmp_path)
    assert load_rows(source, 0).X.shape == (40, 2)
    (tmp_path / "table.csv").write_text("a,b,y\n1,2,x\n2,3,z\n")
    with pytest.raises(ValueError, match="changed while it was in use"):
        load_rows(source, 0)


def test_a_fold_asked_for_again_is_not_prepared_again(tmp_path):
    keeper = FoldKeeper()
    setting = Setting(table(tmp_path), {"scale": "zscore"}, "kfold", {"n_folds": 4})
    first = keeper.get(setting, 0)
    assert keeper.get(setting, 0) is first
    other = keeper.get(setting, 1)
    assert other is not first
    assert other.dataset is first.dataset
    assert_array_equal(keeper.get(setting, 0).X_train, first.X_train)


def test_rows_are_read_once_for_all_folds(tmp_path, monkeypatch):
    reads = []
    read = _rows.read_table

    def counted(*arguments, **options):
        reads.append(arguments)
        return read(*arguments, **options)

    monkeypatch.setattr(_rows, "read_table", counted)
    keeper = FoldKeeper()
    setting = Setting(table(tmp_path), {"scale": "zscore"}, "kfold", {"n_folds": 4})
    keeper.folds(setting)
    for fold in (0, 1, 2, 3):
        keeper.get(setting, fold)
    assert len(reads) == 1
