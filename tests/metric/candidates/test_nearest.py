"""Nearest rows for judging trials: those of an exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.metric.candidates import nearest_rows


def exhaustive(database, queries, k):
    squared = np.square(queries[:, None] - database[None]).sum(axis=2)
    return np.argsort(squared, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("k", [1, 3, 11])
@pytest.mark.parametrize("n", [11, 300, 1100])
def test_the_nearest_are_those_of_an_exhaustive_search(n, k):
    rng = np.random.default_rng(n + k)
    database, queries = rng.normal(size=(n, 4)) + 100, rng.normal(size=(270, 4)) + 100
    assert_array_equal(nearest_rows(database, queries, k), exhaustive(database, queries, k))


def test_of_equally_near_rows_the_lower_comes_first():
    database = np.repeat(np.arange(5.0), 3)[:, None]
    assert_array_equal(nearest_rows(database, np.array([[2.0]]), 4), [[6, 7, 8, 3]])


def test_a_sample_that_misleads_and_threads_change_nothing():
    rng = np.random.default_rng(1)
    database, queries = rng.normal(size=(640, 3)), rng.normal(size=(600, 3)) / 100
    database[::8] *= 1e-3
    found = nearest_rows(database, queries, 120)
    assert_array_equal(found, exhaustive(database, queries, 120))
    assert_array_equal(nearest_rows(database, queries, 120, n_threads=2), found)
