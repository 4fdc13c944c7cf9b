"""Sets for a numeric target, against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.oracles import targets as oracle

from vicinal.metric.inference import target_sets


def problem(seed, n, *, tied=False):
    """One query: distances, some of them infinite, the points' targets and its own."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 5, n).astype(float) if tied else rng.exponential(size=n)
    distances[rng.random(n) < 0.1] = np.inf
    known = rng.integers(-2, 3, n).astype(float) if tied else rng.normal(size=n)
    return distances, known, float(rng.normal())


def infer(distances, known, wanted, k, gamma, **options):
    return target_sets(distances[None], np.array([wanted]), known, k, gamma / k, **options)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 11), st.integers(1, 4), st.booleans())
def test_the_sets_of_the_bound_are_those_of_exhaustive_search(seed, n, k, tied):
    distances, known, wanted = problem(seed, n, tied=tied)
    gamma = 1.7
    found = infer(distances, known, wanted, k, gamma)
    near = oracle.least(distances, known, wanted, k, gamma, oracle.error_mean)
    far = oracle.least(distances, known, wanted, k, -gamma, oracle.error_mean)
    if near is None:
        assert (found.star == -1).all()
        assert found.loss[0] == 0
        return
    for chosen, weight, best in ((found.star, gamma, near), (found.hat, -gamma, far)):
        cost = oracle.error_mean(chosen[0], known, wanted)
        assert_allclose(oracle.total(chosen[0], distances) + weight * cost, best, atol=1e-9)
    assert_allclose(found.loss[0], near - far, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4))
def test_the_loss_bounds_the_error_of_the_nearest(seed, n, k):
    distances, known, wanted = problem(seed, n)
    if np.isfinite(distances).sum() < k:
        return
    nearest = np.argsort(distances, kind="stable")[:k]
    for sets in ("bound", "nearest-target", "swaps", "sampled"):
        loss = infer(distances, known, wanted, k, 2.0, sets=sets).loss[0]
        cost = oracle.mean_error(nearest, known, wanted)
        assert loss >= 2.0 * cost - 1e-9
        assert loss >= 0


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 5), st.sampled_from([0.01, 0.2, 0.8])
)
def test_h_star_of_epsilon_is_the_nearest_set_whose_mean_is_within_it(seed, n, k, epsilon):
    distances, known, wanted = problem(seed, n)
    found = infer(distances, known, wanted, k, 1.0, sets="epsilon", epsilon=epsilon)
    best = oracle.least_within(distances, known, wanted, k, epsilon)
    if best is None:
        assert (found.star == -1).all()
        assert found.loss[0] == 0
    else:
        assert_allclose(oracle.total(found.star[0], distances), best)
        assert len(set(found.star[0].tolist())) == k
        far = oracle.least(distances, known, wanted, k, -1.0, oracle.error_mean)
        assert_allclose(found.loss[0], best - far, atol=1e-9)


def test_a_set_may_be_within_epsilon_where_no_row_is():
    found = infer(np.array([1.0, 2.0, 9.0]), np.array([-1.0, 1.0, 0.1]), 0.0, 2, 1.0,
                  sets="epsilon", epsilon=0.005)  # fmt: skip
    assert sorted(found.star[0].tolist()) == [0, 1]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 5), st.booleans())
def test_h_hat_of_the_true_cost_is_that_of_exhaustive_search(seed, n, k, tied):
    distances, known, wanted = problem(seed, n, tied=tied)
    best = oracle.least(distances, known, wanted, k, -3.0, oracle.mean_error)
    found = infer(distances, known, wanted, k, 3.0, sets="swaps")
    if best is None:
        assert (found.hat == -1).all()
        return
    cost = oracle.mean_error(found.hat[0], known, wanted)
    assert_allclose(oracle.total(found.hat[0], distances) - 3.0 * cost, best, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 11), st.integers(1, 3))
def test_the_nearest_targets_ignore_distances_but_for_ties(seed, n, k):
    distances, known, wanted = problem(seed, n, tied=True)
    found = infer(distances, known, wanted, k, 1.0, sets="nearest-target")
    usable = np.flatnonzero(np.isfinite(distances))
    if len(usable) < k:
        return
    order = usable[np.lexsort((usable, distances[usable], (wanted - known[usable]) ** 2))]
    assert_array_equal(found.star[0], order[:k])


@pytest.mark.parametrize("sets", ["swaps", "sampled"])
def test_searches_of_the_true_cost_find_the_best_set_nearly_always(sets):
    found_best = {1: 0, -1: 0}
    n_cases = 120
    for seed in range(n_cases):
        n, k = 6 + seed % 9, 1 + seed % 4
        distances, known, wanted = problem(seed, n)
        if np.isfinite(distances).sum() < k:
            distances = np.abs(np.where(np.isfinite(distances), distances, 1.0))
        gamma = 3.0
        found = infer(distances, known, wanted, k, gamma, sets=sets, seed=seed)
        for sign, chosen in ((1, found.star[0]), (-1, found.hat[0])):
            assert len(set(chosen.tolist())) == k
            best = oracle.least(distances, known, wanted, k, sign * gamma, oracle.mean_error)
            cost = oracle.mean_error(chosen, known, wanted)
            value = oracle.total(chosen, distances) + sign * gamma * cost
            assert value >= best - 1e-9
            found_best[sign] += value <= best + 1e-9
    assert min(found_best.values()) >= 0.9 * n_cases


def test_a_search_of_the_true_cost_is_never_worse_than_its_start():
    distances, known, wanted = problem(3, 40)
    start = infer(distances, known, wanted, 4, 5.0)
    found = infer(distances, known, wanted, 4, 5.0, sets="swaps")

    def cost(chosen):
        error = oracle.mean_error(chosen, known, wanted)
        return oracle.total(chosen, distances) + 5.0 * error

    assert cost(found.star[0]) <= cost(start.star[0])


def test_equal_keys_go_to_the_lower_row():
    found = infer(np.ones(5), np.zeros(5), 0.0, 2, 1.0)
    assert_array_equal(found.star[0], [0, 1])
    assert_array_equal(found.hat[0], [0, 1])


def test_points_may_have_targets_of_their_own_in_each_row():
    distances = np.array([[1.0, 2.0], [1.0, 2.0]])
    known = np.array([[0.0, 9.0], [9.0, 0.0]])
    found = target_sets(distances, np.zeros(2), known, 1, 1.0)
    assert_array_equal(found.star[:, 0], [0, 1])
    assert_array_equal(found.hat[:, 0], [1, 0])
