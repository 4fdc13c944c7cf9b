"""The parts of the k-best pass, against sorting and plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from vicinal._kernels._kbest import (
    columns_at_most,
    kth_bound,
    measure,
    new_scratch,
    sum_of_least,
)
from vicinal._kernels._lanes import LANES
from vicinal._kernels._targeted import add_point, new_table


@njit
def run_add_points(table, classes, values):
    n_present = 0
    for i in range(classes.shape[0]):
        n_present = add_point(table, n_present, classes[i], values[i], np.int32(i))
    return n_present


@njit
def run_kth_bound(flat, begin, end, k, lows):
    return kth_bound(flat, begin, end, k, lows)


@njit
def run_columns_at_most(flat, begin, end, limit, first, most, columns):
    return columns_at_most(flat, begin, end, limit, first, most, columns)


@njit
def run_measure(queries, i, points, rows, n, out):
    measure(queries, i, points, rows, n, out)


@njit
def run_sum_of_least(flat, begin, rows, n, first, last, k, out):
    return sum_of_least(flat, begin, rows, n, first, last, k, out)


@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(1, 6))
def test_the_table_holds_the_k_nearest_of_each_class_earlier_points_first(seed, n, k):
    rng = np.random.default_rng(seed)
    classes = rng.integers(4, size=n).astype(np.int32)
    values = rng.integers(0, 5, n).astype(float)
    table = new_table(4, k)
    n_present = run_add_points(table, classes, values)
    assert table.present[:n_present].tolist() == list(dict.fromkeys(classes.tolist()))
    for r in range(4):
        points = np.flatnonzero(classes == r)
        expected = points[np.argsort(values[points], kind="stable")][:k]
        found = table.filled[r]
        assert table.which[r, :found].tolist() == expected.tolist()
        assert table.best[r, :found].tolist() == values[expected].tolist()


@pytest.mark.parametrize("n", [1, 63, 64, 65, 500])
@pytest.mark.parametrize("k", [1, 5, 64, 65])
def test_at_least_k_entries_are_below_the_bound_and_seldom_many_more(n, k):
    flat = np.random.default_rng(n).normal(size=n + 7).astype(np.float32)
    bound = run_kth_bound(flat, 7, n + 7, k, new_scratch(n).lows)
    kth = np.sort(flat[7:])[k - 1] if k <= n else np.inf
    assert bound >= kth
    if k > min(n, LANES):
        assert bound == np.inf
    if k == 1:
        assert bound == kth
    if k == 5 and n == 500:
        assert np.count_nonzero(flat[7:] <= bound) <= 10


@pytest.mark.parametrize("n", [0, 5, 64, 200])
def test_columns_are_all_those_up_to_the_limit_in_order(n):
    flat = np.random.default_rng(n).integers(0, 9, n + 3).astype(np.float32)
    columns = np.empty(n + 4, np.int64)
    found = run_columns_at_most(flat, 3, n + 3, np.float32(4), 100, n, columns)
    assert columns[:found].tolist() == (100 + np.flatnonzero(flat[3:] <= 4)).tolist()


def test_the_search_for_columns_ends_soon_after_there_are_too_many():
    flat, columns = np.zeros(10 * LANES, np.float32), np.empty(10 * LANES, np.int64)
    found = run_columns_at_most(flat, 0, len(flat), np.float32(1), 0, 70, columns)
    assert 70 < found <= 70 + LANES


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 4, 6])
def test_rows_are_measured_in_float64_from_the_first_coordinate_to_the_last(n, dtype):
    rng = np.random.default_rng(n)
    queries, points = rng.normal(size=(3, 5)).astype(dtype), rng.normal(size=(9, 5)).astype(dtype)
    rows, out = rng.permutation(9), np.empty(n + 4)
    run_measure(queries, 2, points, rows, n, out)
    gaps = queries[2].astype(np.float64) - points[rows[:n]].astype(np.float64)
    assert out[:n].tolist() == np.cumsum(gaps * gaps, axis=1)[:, -1].tolist()


@given(st.integers(0, 10**6), st.integers(0, 20), st.integers(0, 6))
def test_sums_are_of_the_k_least_of_a_run_of_columns(seed, n, k):
    rng = np.random.default_rng(seed)
    flat, rows = rng.integers(0, 50, 40).astype(np.float32), rng.permutation(30)[:n]
    found = run_sum_of_least(flat, 10, rows, n, 5, 22, k, np.empty(24))
    inside = rows[(rows >= 5) & (rows < 22)]
    assert found == np.sort(flat[10 + inside])[:k].sum()
