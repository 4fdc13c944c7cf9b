"""Candidate lists: exact, whatever the start of the search."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.pairs import order_by_class, refresh_candidates


def brute_force(mapped, codes, i, own, n):
    squared = ((mapped - mapped[i]) ** 2).sum(axis=1)
    allowed = (codes == codes[i]) if own else (codes != codes[i])
    allowed[i] = False
    rows = np.flatnonzero(allowed)
    return set(rows[np.argsort(squared[rows], kind="stable")[:n]].tolist())


def rows(n=700, d=6, n_classes=5, seed=0):
    rng = np.random.default_rng(seed)
    classes = order_by_class(rng.integers(n_classes, size=n))
    return rng.normal(size=(n, d)), classes


@pytest.mark.parametrize("n", [30, 511, 700])
def test_the_lists_are_those_of_an_exhaustive_search(n):
    mapped, classes = rows(n)
    found = refresh_candidates(mapped, classes, 7, 20)
    for i in range(0, n, 13):
        for own, part in ((True, found[i, :7]), (False, found[i, 7:])):
            wanted = brute_force(mapped, classes.codes, i, own, len(part))
            assert set(part[part >= 0].tolist()) == wanted


def test_earlier_lists_speed_the_search_and_change_nothing():
    mapped, classes = rows()
    before = refresh_candidates(mapped, classes, 7, 20)
    moved = mapped @ np.diag([3.0, 1, 1, 0.5, 1, 0.1])
    afresh = refresh_candidates(moved, classes, 7, 20)
    assert_array_equal(refresh_candidates(moved, classes, 7, 20, previous=before), afresh)


def test_threads_change_nothing():
    mapped, classes = rows()
    one = refresh_candidates(mapped, classes, 7, 20, n_threads=1)
    assert_array_equal(refresh_candidates(mapped, classes, 7, 20, n_threads=2), one)


def test_a_class_with_too_few_rows_leaves_places_empty():
    classes = order_by_class(np.array([0, 0, 1, 1, 1, 1]))
    found = refresh_candidates(np.arange(6.0)[:, None], classes, 3, 5)
    assert (found[:2, :3] >= 0).sum() == 2
    assert (found[:2, 3:] >= 0).sum() == 8


def test_a_sample_that_misleads_costs_time_only():
    # Every eighth row, the sample, lies together: it promises that many rows are very near.
    rng = np.random.default_rng(5)
    mapped = rng.normal(size=(800, 3))
    mapped[::8] *= 1e-3
    classes = order_by_class(np.arange(800) // 400)
    found = refresh_candidates(mapped, classes, 15, 60)
    for i in range(0, 800, 29):
        for own, part in ((True, found[i, :15]), (False, found[i, 15:])):
            assert set(part.tolist()) == brute_force(mapped, classes.codes, i, own, len(part))
