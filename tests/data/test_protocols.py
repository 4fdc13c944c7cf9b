"""Protocols: what every split promises, whatever the labels and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from vicinal.data import Dataset, Fold, inner_split, make_folds
from vicinal.data._protocols import (
    expanding_windows,
    grouped_kfold,
    kfold,
    random_splits,
    split_sizes,
)

labels_of = st.lists(st.integers(0, 5), min_size=8, max_size=80).map(np.array)
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=60, deadline=None)


def dataset(n: int = 20, **fields: Any) -> Dataset:
    X = np.arange(2.0 * n).reshape(n, 2)
    return Dataset(
        **{"name": "toy", "X": X, "y": np.arange(n) % 2, "task": "classification"} | fields
    )


def assert_parts_cover(folds: tuple[Fold, ...], n: int) -> None:
    tested = np.concatenate([fold.test for fold in folds])
    assert sorted(tested) == list(range(n))
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(n))


def same(first: tuple[Fold, ...], second: tuple[Fold, ...]) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(a.train, b.train) and np.array_equal(a.test, b.test)
        for a, b in zip(first, second, strict=True)
    )


@quick
@given(labels=labels_of, n_folds=st.integers(2, 8), seed=seeds)
def test_every_row_is_tested_once_and_never_trains_its_own_fold(labels, n_folds, seed):
    assert_parts_cover(kfold(len(labels), n_folds, labels=labels, seed=seed), len(labels))
    assert_parts_cover(kfold(len(labels), n_folds, seed=seed), len(labels))


@quick
@given(labels=labels_of, n_folds=st.integers(2, 8), seed=seeds)
def test_folds_differ_by_at_most_one_row_and_one_member_of_any_class(labels, n_folds, seed):
    folds = kfold(len(labels), n_folds, labels=labels, seed=seed)
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    if np.bincount(labels).max() < n_folds:
        return  # nothing to spread: no class reaches every fold
    for label in np.unique(labels):
        members = [int(np.sum(labels[fold.test] == label)) for fold in folds]
        assert max(members) - min(members) <= 1


@quick
@given(labels=labels_of, n_folds=st.integers(2, 8), seed=seeds)
def test_the_same_seed_gives_the_same_folds(labels, n_folds, seed):
    first = kfold(len(labels), n_folds, labels=labels, seed=seed)
    assert same(first, kfold(len(labels), n_folds, labels=labels.copy(), seed=seed))


def test_the_folds_are_those_that_scikit_learn_makes():
    labels = np.repeat([0, 1, 2], [40, 31, 9])
    theirs = StratifiedKFold(5, shuffle=True, random_state=3).split(labels, labels)
    for ours, (train, test) in zip(kfold(80, 5, labels=labels, seed=3), theirs, strict=True):
        np.testing.assert_array_equal(ours.train, train)
        np.testing.assert_array_equal(ours.test, test)


def test_another_seed_gives_other_folds():
    labels = np.repeat([0, 1, 2], 40)
    assert not same(kfold(120, 5, labels=labels, seed=0), kfold(120, 5, labels=labels, seed=1))


def test_folds_do_not_follow_the_order_of_the_rows():
    folds = kfold(1000, 5, labels=np.repeat([0, 1], 500), seed=0)
    for fold in folds:
        assert 350 < fold.test.mean() < 650


def test_classes_with_fewer_members_than_folds_are_spread_without_fuss():
    labels = np.array([0] * 20 + [1] * 2 + [2])
    folds = kfold(23, 5, labels=labels)
    assert_parts_cover(folds, 23)
    assert sum(2 in labels[fold.test] for fold in folds) == 1


@pytest.mark.parametrize(("n_folds", "said"), [(1, "at least 2"), (9, "at most 8")])
def test_impossible_numbers_of_folds_are_refused(n_folds, said):
    with pytest.raises(ValueError, match=said):
        kfold(8, n_folds)


@quick
@given(
    groups=st.lists(st.integers(0, 15), min_size=12, max_size=90).map(np.array),
    n_classes=st.integers(1, 4),
    n_folds=st.integers(2, 5),
    seed=seeds,
)
def test_no_group_is_ever_on_both_sides(groups, n_classes, n_folds, seed):
    if len(np.unique(groups)) < n_folds:
        return
    labels = np.random.default_rng(seed).integers(0, n_classes, len(groups))
    for chosen in (None, labels):
        folds = grouped_kfold(groups, n_folds, labels=chosen, seed=seed)
        assert_parts_cover(folds, len(groups))
        assert all(len(fold.test) for fold in folds)
        assert all(not set(groups[f.train]) & set(groups[f.test]) for f in folds)
        assert same(folds, grouped_kfold(groups, n_folds, labels=chosen, seed=seed))


@quick
@given(sizes=st.lists(st.integers(1, 20), min_size=5, max_size=40), seed=seeds)
def test_grouped_folds_are_as_even_as_the_largest_group_allows(sizes, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    tested = [len(fold.test) for fold in grouped_kfold(groups, 4, seed=seed)]
    assert max(tested) - min(tested) <= max(sizes)


def test_grouped_folds_keep_class_shares_when_groups_allow():
    # 20 groups of class 0 and 20 of class 1: every fold can have four of each.
    groups = np.repeat(np.arange(40), 5)
    labels = np.repeat(np.arange(40) % 2, 5)
    for fold in grouped_kfold(groups, 5, labels=labels, seed=3):
        assert np.bincount(labels[fold.test]).tolist() == [20, 20]


def test_more_folds_than_groups_are_refused_with_the_number_there_is():
    with pytest.raises(ValueError, match="3 groups"):
        grouped_kfold(np.repeat([0, 1, 2], 9), 5)


@quick
@given(labels=labels_of, share=st.floats(0.1, 0.9), seed=seeds)
def test_a_random_split_keeps_class_shares_to_within_one_row(labels, share, seed):
    n_train, n_test = split_sizes(len(labels), None, share)
    (fold,) = random_splits(len(labels), 1, n_train, n_test, labels=labels, seed=seed)
    assert sorted([*fold.train, *fold.test]) == list(range(len(labels)))
    for label in np.unique(labels):
        exact = np.sum(labels == label) * n_test / len(labels)
        assert abs(np.sum(labels[fold.test] == label) - exact) < 1


@quick
@given(labels=labels_of, n_train=st.integers(1, 4), n_test=st.integers(1, 4), seed=seeds)
def test_repeated_splits_have_the_sizes_asked_for_and_do_not_overlap(labels, n_train, n_test, seed):
    for fold in random_splits(len(labels), 3, n_train, n_test, labels=labels, seed=seed):
        assert (len(fold.train), len(fold.test)) == (n_train, n_test)
        assert not set(fold.train) & set(fold.test)


def test_asking_for_more_repeats_keeps_the_first_ones():
    few, many = (make_folds(dataset(60), "repeated", n_repeats=n, seed=4) for n in (3, 6))
    assert same(few, many[:3])
    assert not same(few, many[3:])


def test_repeated_splits_take_numbers_and_shares():
    fold = make_folds(dataset(60), "repeated", n_repeats=1, train_size=20, test_size=0.5)[0]
    assert (len(fold.train), len(fold.test)) == (20, 30)
    assert len(make_folds(dataset(60), "repeated", n_repeats=1)[0].test) == 15


@pytest.mark.parametrize(
    "sizes", [{"test_size": 0.0}, {"test_size": 1.5}, {"train_size": 60}, {"train_size": True}]
)
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match=r"rows|share"):
        make_folds(dataset(60), "repeated", **sizes)


def test_the_official_split_is_the_mask():
    mask = np.arange(20) >= 15
    (fold,) = make_folds(dataset(is_test=mask, protocol="official"))
    assert fold.train.tolist() == list(range(15))
    assert fold.test.tolist() == [15, 16, 17, 18, 19]


@pytest.mark.parametrize("protocol", ["official", "grouped"])
def test_a_protocol_the_data_cannot_serve_says_which_one_can(protocol):
    with pytest.raises(ValueError, match=r"toy has no .*'kfold'"):
        make_folds(dataset(), protocol)


def test_an_unknown_protocol_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="official, kfold, repeated, grouped"):
        make_folds(dataset(), "leave-one-out")


def test_regression_targets_are_not_taken_for_classes():
    y = np.linspace(0, 1, 50)
    folds = make_folds(dataset(50, y=y, task="regression"), "kfold")
    assert_parts_cover(folds, 50)
    assert {len(fold.test) for fold in folds} == {10}


@quick
@given(labels=labels_of, seed=seeds)
def test_the_inner_split_validates_on_a_quarter(labels, seed):
    fold = inner_split(labels, seed=seed)
    assert len(fold.test) == int(len(labels) * 0.25 + 0.5)
    assert sorted([*fold.train, *fold.test]) == list(range(len(labels)))


def test_the_inner_split_keeps_groups_whole():
    groups = np.repeat(np.arange(12), 5)
    fold = inner_split(np.arange(60) % 3, groups=groups, seed=1)
    assert not set(groups[fold.train]) & set(groups[fold.test])
    assert len(fold.test) == 15


def test_the_inner_split_serves_regression():
    fold = inner_split(np.linspace(0, 1, 40), task="regression")
    assert (len(fold.train), len(fold.test)) == (30, 10)


# Time -----------------------------------------------------------------------------------------


@given(
    n=st.integers(10, 60),
    n_folds=st.integers(2, 5),
    n_moments=st.integers(8, 60),
    seed=st.integers(0, 99),
)
def test_a_stretch_of_time_is_learned_from_all_that_came_before(n, n_folds, n_moments, seed):
    rng = np.random.default_rng(seed)
    times = rng.permutation(np.r_[rng.integers(0, n_moments, n), np.arange(100, 110)]) * 1.0
    folds, n = expanding_windows(times, n_folds), n + 10
    assert len(folds) == n_folds
    for fold in folds:
        assert len(fold.train)
        assert len(fold.test)
        assert times[fold.train].max() < times[fold.test].min()
        np.testing.assert_array_equal(
            np.sort(fold.train), np.flatnonzero(times < times[fold.test].min())
        )
    tested = np.concatenate([fold.test for fold in folds])
    assert len(tested) == len(set(tested.tolist()))
    assert set(tested.tolist()) | set(folds[0].train.tolist()) == set(range(n))


def test_rows_without_dates_have_no_stretches_of_time():
    dataset = Dataset("plain", np.zeros((20, 1)), np.arange(20) % 2, "classification")
    with pytest.raises(ValueError, match="plain has no column of dates"):
        make_folds(dataset, "time")


def test_the_last_rows_in_time_are_held_out():
    times = np.array([5.0, 1, 2, 3, 4, 6, 7, 8])
    fold = inner_split(np.arange(8) % 2, test_size=0.25, times=times)
    np.testing.assert_array_equal(fold.test, [6, 7])
