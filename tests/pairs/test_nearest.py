"""Nearest rows for judging trials: those of an exhaustive search, and of prediction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal import ExactIndex
from vicinal.metric.candidates import nearest_rows as judging_rows
from vicinal.pairs import nearest_rows


def exhaustive(database, queries, k):
    squared = np.square(queries[:, None] - database[None]).sum(axis=2)
    return np.argsort(squared, axis=1, kind="stable")[:, :k]


@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from([np.float32, np.float64]))
def test_settings_are_judged_by_the_search_that_predicts(seed, d, dtype):
    # Whole numbers from a small range: most neighbours are ties, which rounding would tear apart.
    rng = np.random.default_rng(seed)
    database = rng.integers(0, 16, size=(300, d)).astype(dtype)
    queries = rng.integers(0, 16, size=(40, d)).astype(dtype)
    _, predicting = ExactIndex(database).query(queries, 3)
    assert_array_equal(judging_rows(database, queries, 3), predicting)


@pytest.mark.parametrize("k", [1, 3, 11])
@pytest.mark.parametrize("n", [11, 300, 1100])
def test_the_nearest_are_those_of_an_exhaustive_search(n, k):
    rng = np.random.default_rng(n + k)
    database, queries = rng.normal(size=(n, 4)) + 100, rng.normal(size=(270, 4)) + 100
    assert_array_equal(nearest_rows(database, queries, k), exhaustive(database, queries, k))


def test_of_equally_near_rows_the_lower_comes_first():
    database = np.repeat(np.arange(5.0), 3)[:, None]
    assert_array_equal(nearest_rows(database, np.array([[2.0]]), 4), [[6, 7, 8, 3]])


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    database, queries = rng.normal(size=(6400, 3)), rng.normal(size=(6000, 3)) / 100
    database[::8] *= 1e-3
    alone = nearest_rows(database, queries, 12)
    assert_array_equal(nearest_rows(database, queries, 12, n_threads=2), alone)
    assert_array_equal(alone[:50], exhaustive(database, queries[:50], 12))


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_rows_whose_squares_leave_floats_have_the_same_neighbours(scale):
    rng = np.random.default_rng(2)
    database, queries = rng.normal(size=(200, 3)), rng.normal(size=(20, 3))
    scaled = nearest_rows(scale * database, scale * queries, 5)
    assert_array_equal(scaled, exhaustive(database, queries, 5))


def test_queries_beyond_all_squares_have_neighbours_all_the_same():
    rows = nearest_rows(np.arange(4.0)[:, None], np.array([[1e200], [-1e300]]), 4)
    assert_array_equal(np.sort(rows), [[0, 1, 2, 3]] * 2)
