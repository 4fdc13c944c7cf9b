"""Pairs and triplets: drawn from classes, checked when given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal import ITML, MMC, RCA
from vicinal.rivals._constraints import (
    check_pair_labels,
    check_tuples,
    draw_gaps,
    draw_pairs,
    draw_triplets,
    drop_copies,
)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=30), st.integers(0, 5))
def test_pairs_are_distinct_and_of_one_class_or_of_two(classes, seed):
    codes = np.unique(classes, return_inverse=True)[1]
    if codes.max() == 0:
        return
    pairs = draw_pairs(codes, 40, np.random.default_rng(seed))
    for rows, same in ((pairs.alike, True), (pairs.apart, False)):
        assert (rows[:, 0] < rows[:, 1]).all()
        assert len(np.unique(rows, axis=0)) == len(rows)
        assert ((codes[rows[:, 0]] == codes[rows[:, 1]]) == same).all()


def test_all_pairs_are_found_when_many_are_drawn():
    pairs = draw_pairs(np.array([0, 0, 0, 1, 1]), 500, np.random.default_rng(0))
    assert (len(pairs.alike), len(pairs.apart)) == (4, 6)


def test_triplets_hold_a_target_and_an_impostor_of_the_row():
    targets, impostors = np.array([[1, -1], [0, -1], [-1, -1]]), np.array([[2], [2], [0]])
    triplets = draw_triplets(targets, impostors, 100, np.random.default_rng(0))
    assert triplets.tolist() == [[0, 1, 2], [1, 0, 2]]


def test_copies_are_dropped():
    gaps, n = drop_copies(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert (gaps.tolist(), n) == ([[1.0, 0.0]], 1)


@pytest.mark.parametrize(
    ("y", "words"),
    [([1, -1], r"shape \(3,\)"), ([1, 0, -1], "labelled"), ([1, 1, 1], "both kinds")],
)
def test_bad_labels_of_pairs_are_refused(y, words):
    with pytest.raises(ValueError, match=words):
        check_pair_labels(y, 3)


def test_tuples_of_another_size_are_refused():
    with pytest.raises(ValueError, match=r"pairs must have shape \(n, 2, n_features\)"):
        check_tuples(ITML(), np.zeros((4, 3, 2)), 2)


@pytest.mark.parametrize(
    "labels", [[1, None, -1], [1, "x", -1], [1, 1j, -1], np.ma.masked_equal([1, -1, 2], 2)]
)
def test_labels_of_pairs_that_are_no_numbers_are_refused(labels):
    pairs = np.arange(12.0).reshape(3, 2, 2)
    with pytest.raises(ValueError, match=r"y (must be|is masked|holds)"):
        ITML().fit_pairs(pairs, labels)


@pytest.mark.parametrize("pairs", [np.zeros((3, 2, 2), "M8[s]"), np.full((3, 2, 2), 2**60),
                                   np.ma.masked_array(np.ones((3, 2, 2)), mask=True)])  # fmt: skip
def test_pairs_in_disguise_are_refused_when_they_are_asked_for(pairs):
    learner = MMC(max_iter=2).fit_pairs(np.arange(12.0).reshape(3, 2, 2), [1, -1, 1])
    with pytest.raises(ValueError, match=r"dates|2\*\*53|masked"):
        learner.pair_distance(pairs)


def test_chunks_may_have_any_number():
    X = np.random.default_rng(0).normal(size=(30, 3))
    chunks = np.arange(30) % 5
    expected = RCA().fit_chunks(X, chunks).components_
    np.testing.assert_array_equal(RCA().fit_chunks(X, chunks + 2**60).components_, expected)


def test_many_classes_of_wide_rows_draw_no_more_pairs_than_fit(monkeypatch):
    X, codes = np.random.default_rng(0).normal(size=(300, 50)), np.repeat(np.arange(100), 3)
    plenty = draw_gaps(X, codes, None, np.random.default_rng(0))
    monkeypatch.setattr("vicinal.rivals._constraints.MOST_FEATURES", 5_000)
    few = draw_gaps(X, codes, None, np.random.default_rng(0))
    assert max(map(len, few)) <= 100 < min(map(len, plenty))
    asked = draw_gaps(X, codes, 200, np.random.default_rng(0))
    assert len(asked[1]) > 150
