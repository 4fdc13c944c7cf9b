"""Parts of data sets: classes made two, columns, rows cut to a size with groups kept whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal._types import Dataset
from vicinal.comparison._rows import load_rows, make_setting_folds
from vicinal.comparison._views import first_features, two_sides
from vicinal.runs._cells import Setting, Source

ANIMALS = Dataset(
    name="animals",
    X=np.arange(24.0).reshape(6, 4),
    y=np.array([0, 1, 2, 0, 1, 2]),
    task="classification",
    feature_names=("a", "b", "c", "d"),
    classes=("cat", "dog", "cow"),
    groups=np.arange(6),
    extras={"weight": np.arange(6) * 10},
)


def test_the_rest_is_every_class_not_named() -> None:
    two = two_sides(ANIMALS, "cat | rest")
    assert_array_equal(two.y, [0, 1, 1, 0, 1, 1])
    assert two.classes == ("cat", "rest")
    assert_array_equal(two.X, ANIMALS.X)


def test_rows_of_neither_side_are_left_out_with_all_that_belongs_to_them() -> None:
    two = two_sides(ANIMALS, "cow | cat")
    assert_array_equal(two.y, [1, 0, 1, 0])
    assert_array_equal(two.groups, [0, 2, 3, 5])
    assert_array_equal(two.extras["weight"], [0, 20, 30, 50])


def test_a_side_may_hold_several_classes() -> None:
    assert_array_equal(two_sides(ANIMALS, "cat, cow | dog").y, [0, 1, 0, 0, 1, 0])


@pytest.mark.parametrize(
    ("sides", "message"),
    [("cat", "'A, B | C'"), ("cat | dog | cow", "'A, B | C'"), ("rat | rest", "no class 'rat'")],
)
def test_sides_that_make_no_sense_are_refused(sides: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        two_sides(ANIMALS, sides)


def test_the_first_columns_keep_their_names() -> None:
    part = first_features(ANIMALS, 2)
    assert_array_equal(part.X, ANIMALS.X[:, :2])
    assert part.feature_names == ("a", "b")
    with pytest.raises(ValueError, match="has 4 features"):
        first_features(ANIMALS, 5)


def test_a_source_says_what_is_taken() -> None:
    whole = load_rows(Source("wine"), 0)
    part = load_rows(Source("wine", sides=f"{whole.classes[0]} | rest", n_features=3), 0)
    assert part.X.shape == (len(whole.y), 3)
    assert_array_equal(part.y, whole.y != 0)


def test_grouped_folds_are_cut_to_a_size_and_part_no_group() -> None:
    groups = np.repeat(np.arange(10), 30)
    dataset = replace(
        ANIMALS,
        X=np.zeros((300, 1)),
        y=np.arange(300.0),
        task="regression",
        groups=groups,
        classes=(),
        extras={},
    )
    setting = Setting(
        Source("animals"),
        protocol="grouped",
        folds={"n_folds": 5, "train_size": 100, "test_size": 50},
    )
    folds = make_setting_folds(dataset, setting)
    whole = make_setting_folds(dataset, replace(setting, folds={"n_folds": 5}))
    assert len(folds) == 5
    for cut, fold in zip(folds, whole, strict=True):
        assert (len(cut.train), len(cut.test)) == (100, 50)
        assert not set(groups[cut.train]) & set(groups[cut.test])
        assert np.isin(cut.train, fold.train).all()
        assert np.isin(cut.test, fold.test).all()
        assert np.all(np.diff(cut.train) > 0)
    assert not np.array_equal(folds[0].train, folds[1].train)
