"""Approximate candidate lists: nearly the exact ones, in bounded comparisons a row."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal._kernels._unions import gather_known, reverse_lists
from vicinal.metric.candidates import _approximate, order_by_class, refresh_candidates
from vicinal.metric.candidates._approximate import approximate_candidates

N_OWN, N_OTHER = 9, 20


def rows(n=6000, d=8, n_classes=6, seed=0):
    """Rows of overlapping clusters, each class several of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    centres = rng.normal(size=(n_classes, 3, d))
    X = centres[codes, rng.integers(3, size=n)] + 0.7 * rng.normal(size=(n, d))
    classes = order_by_class(codes)
    return X[classes.order].astype(np.float32), classes


def recall(found, exact):
    """The share of the exact candidates that were found: own class, other classes."""
    shared = np.array([np.isin(f, e).sum() for f, e in zip(found, exact, strict=True)])
    return shared.sum() / (exact >= 0).sum()


def recalls(found, exact):
    return [recall(found[:, s], exact[:, s]) for s in (slice(0, N_OWN), slice(N_OWN, None))]


@pytest.fixture(scope="module")
def searched():
    mapped, classes = rows()
    exact = refresh_candidates(mapped, classes, N_OWN, N_OTHER)
    return mapped, classes, exact, approximate_candidates(mapped, classes, N_OWN, N_OTHER)


def test_nearly_all_exact_candidates_are_found(searched):
    _, _, exact, found = searched
    own, other = recalls(found, exact)
    assert own > 0.93
    assert other > 0.93


def test_what_is_found_belongs_to_its_side_and_is_listed_once(searched):
    _, classes, _, found = searched
    codes = classes.codes
    assert (found >= 0).all()
    assert (codes[found[:, :N_OWN]] == codes[:, None]).all()
    assert (codes[found[:, N_OWN:]] != codes[:, None]).all()
    assert (found != np.arange(len(found))[:, None]).all()
    for side in (found[:, :N_OWN], found[:, N_OWN:]):
        assert (np.diff(side, axis=1) > 0).all()


def test_a_round_on_the_lists_before_follows_a_map_that_moved(searched):
    mapped, classes, _, before = searched
    moved = mapped * np.linspace(0.7, 1.4, mapped.shape[1], dtype=np.float32)
    exact = refresh_candidates(moved, classes, N_OWN, N_OTHER)
    found = approximate_candidates(moved, classes, N_OWN, N_OTHER, previous=before, seed=(0, 4))
    assert min(recalls(found, exact)) > 0.93
    assert recall(found, exact) > recall(before, exact) + 0.05


def test_no_candidate_is_lost_for_a_farther_one(searched):
    mapped, classes, _, before = searched
    after = approximate_candidates(mapped, classes, N_OWN, N_OTHER, previous=before, seed=(1,))
    for side in (slice(0, N_OWN), slice(N_OWN, None)):
        farthest = [
            ((mapped[lists[:, side]] - mapped[:, None]) ** 2).sum(axis=2).max(axis=1)
            for lists in (before, after)
        ]
        assert (farthest[1] <= farthest[0] * (1 + 1e-4)).all()


def test_threads_change_nothing(searched):
    mapped, classes, _, found = searched
    assert_array_equal(approximate_candidates(mapped, classes, N_OWN, N_OTHER, n_threads=2), found)


def test_a_small_class_lists_all_its_rows_and_leaves_places_empty():
    mapped, _ = rows(400)
    classes = order_by_class(np.repeat([0, 1, 2], [3, 1, 396]))
    found = approximate_candidates(mapped, classes, N_OWN, N_OTHER)
    assert [set(found[i, :N_OWN]) for i in range(3)] == [{-1, 1, 2}, {-1, 0, 2}, {-1, 0, 1}]
    assert set(found[3, :N_OWN]) == {-1}
    assert (np.sort(found[10, N_OWN:])[-4:] == [0, 1, 2, 3]).all()


def test_equal_rows_are_no_trouble():
    classes = order_by_class(np.repeat([0, 1], 300))
    found = approximate_candidates(np.ones((600, 3)), classes, N_OWN, N_OTHER)
    assert (found != np.arange(600)[:, None]).all()
    for side, own in ((found[:, :N_OWN], True), (found[:, N_OWN:], False)):
        assert ((classes.codes[side] == classes.codes[:, None]) == own).all()
        assert (side[:, 0] >= 0).all()
        assert (np.diff(side, axis=1) > 0).all()


def test_a_row_is_compared_with_no_more_rows_when_there_are_more(monkeypatch):
    seen = []
    search = _approximate._search_cell

    def counted(rows, members, own, others, limits):
        seen.append(len(members) * (len(own) + len(others)))
        return search(rows, members, own, others, limits)

    monkeypatch.setattr(_approximate, "_search_cell", counted)
    a_row = []
    for n in (8000, 16000):
        seen.clear()
        mapped, classes = rows(n)
        approximate_candidates(mapped, classes, N_OWN, N_OTHER)
        a_row.append(sum(seen) / n)
    assert a_row[1] < 1.1 * a_row[0]


def test_memory_is_a_few_lists_not_all_pairs():
    mapped, classes = rows(20_000)
    tracemalloc.start()
    try:
        approximate_candidates(mapped, classes, N_OWN, N_OTHER)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(mapped) * (N_OWN + N_OTHER) * 4 + 20_000_000


def test_reverse_lists_are_the_lists_read_backwards():
    lists = np.array([[1, 2, 3], [0, 3, -1], [3, 0, 1], [2, 1, 0]], np.int32)
    starts, sources = reverse_lists(lists, 1)
    listed_by = [sources[starts[i] : starts[i + 1]].tolist() for i in range(4)]
    assert listed_by == [[2, 3], [2, 3], [0], [0, 1]]


def test_rows_know_their_candidates_and_who_lists_them_each_once():
    lists = np.array([[1, 2, 3], [0, 3, -1], [3, 0, 1], [2, 1, 0]], np.int32)
    starts, sources = reverse_lists(lists, 1)
    stamps = np.full(4, -1, np.int32)
    own, others = gather_known(np.array([0], np.int32), lists, 1, starts, sources, 5, stamps, 0)
    assert own.tolist() == [0, 1]
    assert sorted(others.tolist()) == [2, 3]
