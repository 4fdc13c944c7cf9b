"""Inner splits: in proportion, groups whole, cost bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.rows import Classes, Rows, inner_splits


def rows_of(n, labels=None, groups=None):
    """Numbered rows."""
    target = None if labels is None else Classes(np.unique(labels), labels)
    return Rows(np.arange(n, dtype=float)[:, None], target, groups=groups)


def numbers_of(rows):
    return rows.X[:, 0].astype(int)


def splits_of(rows, seed=0) -> Any:
    return inner_splits(rows, seed)


def test_a_quarter_is_held_out_and_no_row_is_lost_or_on_both_sides():
    for train, held in splits_of(rows_of(200, np.arange(200) % 2)):
        assert held.n_rows == 50
        assert_array_equal(np.sort(np.append(numbers_of(train), numbers_of(held))), np.arange(200))


def test_classes_are_kept_in_proportion():
    labels = np.repeat([0, 1, 2], [120, 60, 20])
    for _, held in splits_of(rows_of(200, labels)):
        assert_array_equal(np.bincount(held.labels), [30, 15, 5])


def test_groups_are_not_parted():
    groups = np.arange(200) // 10
    for train, held in splits_of(rows_of(200, np.arange(200) % 2, groups)):
        assert not set(train.groups) & set(held.groups)
        assert 40 <= held.n_rows <= 60


def test_names_of_groups_may_be_words():
    groups = np.array(["north", "south", "east", "west"])[np.arange(80) % 4]
    for train, held in splits_of(rows_of(80, np.arange(80) // 4 % 2, groups)):
        assert not set(train.groups) & set(held.groups)


@pytest.mark.parametrize(("n_rows", "n_splits"), [(40, 4), (1660, 4), (2000, 3), (4900, 2)])
def test_few_rows_are_split_more_often(n_rows, n_splits):
    splits = splits_of(rows_of(n_rows, np.arange(n_rows) % 2))
    assert len(splits) == n_splits
    held = [tuple(numbers_of(part)) for _, part in splits]
    assert len(set(held)) == n_splits


def test_many_rows_are_sampled_and_split_once():
    ((train, held),) = splits_of(rows_of(9000, np.arange(9000) % 3))
    assert train.n_rows + held.n_rows == 5000
    assert len(np.unique(np.append(numbers_of(train), numbers_of(held)))) == 5000


def test_a_sample_takes_whole_groups():
    groups = np.repeat(np.arange(90), 100)
    for train, held in splits_of(rows_of(9000, np.arange(9000) % 3, groups)):
        sampled = np.append(train.groups, held.groups)
        assert 4800 <= len(sampled) <= 5000
        assert set(np.bincount(sampled, minlength=90)) == {0, 100}


def test_the_seed_decides():
    rows = rows_of(100, np.arange(100) % 2)
    one, again, other = (numbers_of(splits_of(rows, seed)[0][1]) for seed in (1, 1, 2))
    assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_rows_with_real_targets_are_split_too():
    splits = splits_of(rows_of(100))
    assert [held.n_rows for _, held in splits] == [25] * 4


def test_too_few_rows_or_groups_give_no_split():
    assert splits_of(rows_of(3, np.array([0, 1, 0]))) == []
    assert splits_of(rows_of(100, np.arange(100) % 2, np.zeros(100))) == []
