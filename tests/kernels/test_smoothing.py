"""Perturbed kernel sums: the fast ones equal their readable twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import smoothing as slow

from vicinal._kernels import _smoothing as fast

KERNELS = [fast.TRIANGLE, fast.EPANECHNIKOV, fast.BIWEIGHT]


def problem(seed):
    rng = np.random.default_rng(seed)
    m, n, d = rng.integers(1, 8, 3)
    queries, rows = rng.normal(size=(m, d)), rng.normal(size=(n, d))
    squared = ((queries[:, None] - rows) ** 2).sum(axis=2)
    steps = rng.uniform(0.05, 1.5, d)
    return rng, squared, queries, rows, steps


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_is_positive_below_one_and_zero_from_one_on(kernel):
    ratios = np.array([[0.0, 0.3, 1 - 1e-9, 1.0, 4.0]])
    found = fast.profiles(ratios, kernel)
    np.testing.assert_allclose(found, slow.profiles(ratios, kernel))
    assert np.all(found[0, :3] > 0)
    assert np.all(found[0, 3:] == 0)
    assert np.all(np.diff(found[0]) <= 0)


@pytest.mark.parametrize("kernel", KERNELS)
@given(st.integers(0, 10**6))
def test_one_distance_gives_the_sums_of_all_2d_moved_queries(kernel, seed):
    rng, squared, queries, rows, steps = problem(seed)
    values, codes = rng.normal(size=len(rows)), rng.integers(0, 3, len(rows))
    weights = rng.integers(0, 3, len(rows)).astype(float)
    found, expected = np.zeros((2, 2, *queries.shape, 4))
    for module, sums in ((fast, found), (slow, expected)):
        module.add_perturbed_sums(
            squared, queries, rows, values, codes, weights, steps, kernel, sums
        )
    np.testing.assert_allclose(found, expected, atol=1e-7)


@given(st.integers(0, 10**6), st.floats(0.1, 2))
def test_balls_around_moved_queries_hold_what_their_distances_say(seed, radius):
    _, squared, queries, rows, steps = problem(seed)
    found, expected = np.zeros((2, 2, *queries.shape), np.int64)
    fast.add_ball_counts(squared, queries, rows, steps, radius, found)
    slow.add_ball_counts(squared, queries, rows, steps, radius, expected)
    np.testing.assert_array_equal(found, expected)
