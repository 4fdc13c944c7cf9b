"""The kernels behind candidate lists, each against sorting or plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from vicinal._kernels._candidates import (
    candidate_squared_distances,
    rank_limits,
    shortlist_block,
    write_candidates,
)
from vicinal._kernels._lanes import LANES


def sides(seed, n_rows=6, n_columns=200):
    """Products, each row's own column and the run of columns of its class."""
    rng = np.random.default_rng(seed)
    products = rng.integers(0, 30, (n_rows, n_columns)).astype(np.float32)
    start = rng.integers(0, n_columns, n_rows).astype(np.int32)
    stop = np.array([rng.integers(a, n_columns + 1) for a in start], np.int32)
    itself = rng.integers(-1, n_columns, n_rows)
    return products, itself, start, stop


def expected_side(products, itself, start, stop, x, side):
    """Return the columns of one side, nearest first, equal ones by column."""
    columns = np.arange(products.shape[1])
    own = (columns >= start[x]) & (columns < stop[x])
    chosen = columns[(own if side == 0 else ~own) & (columns != itself[x])]
    return chosen[np.argsort(products[x, chosen], kind="stable")]


@given(st.integers(0, 10**6), st.integers(0, 9), st.integers(0, 9), st.sampled_from([32, 70, 200]))
def test_shortlists_written_out_are_the_least_of_each_side(seed, n_own, n_other, width):
    products, itself, start, stop = sides(seed)
    m, capacity = len(products), 3 * max(n_own, n_other) + 4
    values, columns = np.empty((m, 2, capacity), np.float32), np.empty((m, 2, capacity), np.int32)
    filled, limits = np.zeros((m, 2), np.int64), np.full((m, 2), np.inf, np.float32)
    for first in range(0, products.shape[1], width):
        block = products[:, first : first + width].copy()
        shortlist_block(
            block, itself, first, start, stop, limits, values, columns, filled, n_own, n_other
        )
    out = np.empty((m, n_own + n_other), np.int32)
    write_candidates(values, columns, filled, n_own, n_other, out)
    for x in range(m):
        for side, part in ((0, out[x, :n_own]), (1, out[x, n_own:])):
            expected = np.sort(expected_side(products, itself, start, stop, x, side)[: len(part)])
            assert part[part >= 0].tolist() == expected.tolist()
            assert (part[part < 0] == -1).all()


def test_a_limit_lets_nothing_farther_pass_and_a_column_at_infinity_is_none():
    products = np.array([[5, 1, 3, 2, np.inf]], np.float32)
    nowhere, nothing = np.array([-1]), np.zeros(1, np.int32)
    for limit, expected in ((3, [1, 2, 3, -1]), (np.inf, [-1, 0, 1, 2])):
        values, columns = np.empty((1, 2, 9), np.float32), np.empty((1, 2, 9), np.int32)
        filled, limits = np.zeros((1, 2), np.int64), np.full((1, 2), limit, np.float32)
        shown = products.copy()
        if limit == np.inf:
            shown[0, 3] = np.inf
        shortlist_block(shown, nowhere, 0, nothing, nothing, limits, values, columns, filled, 0, 4)
        out = np.empty((1, 4), np.int32)
        write_candidates(values, columns, filled, 0, 4, out)
        assert out[0].tolist() == expected


@given(st.integers(0, 10**6))
def test_rank_limits_are_never_below_the_value_of_that_rank(seed):
    products, itself, start, stop = sides(seed)
    ranks, limits = np.array([3, 8]), np.empty((len(products), 2), np.float32)
    rank_limits(products.copy(), itself, start, stop, ranks, np.empty(LANES, np.float32), limits)
    for x in range(len(products)):
        for side, rank in enumerate(ranks):
            near = products[x, expected_side(products, itself, start, stop, x, side)]
            if len(near) < rank:
                assert limits[x, side] == np.inf
            else:
                assert limits[x, side] >= near[rank - 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_and_classes_of_lists_are_those_of_their_rows(dtype):
    rng = np.random.default_rng(0)
    queries, points = rng.normal(size=(2, 20, 6)).astype(dtype)
    lists, codes = rng.integers(-1, 20, (20, 7)).astype(np.int32), rng.integers(3, size=20)
    rows = np.array([4, 4, 19, 0])
    found, labels = np.empty((4, 7), dtype), np.empty((4, 7), np.int32)
    candidate_squared_distances(queries, points, rows, lists, codes, found, labels)
    none = lists[rows] < 0
    expected = np.square(queries[rows, None] - points[lists[rows]]).sum(axis=2)
    assert_allclose(found, np.where(none, np.inf, expected), rtol=1e-5)
    assert_array_equal(labels, np.where(none, -1, codes[lists[rows]]))
