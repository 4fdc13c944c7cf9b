"""Discriminants: scikit-learn's shrinkage, the generalised eigenproblem, and little memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import eigh
from sklearn.covariance import ledoit_wolf, oas
from sklearn.datasets import load_digits

from vicinal.metric.starts import (
    discriminant_map,
    discriminant_ratios,
    floor_variances,
    shrinkage_of,
    within_scatter,
)

PEERS = {"ledoit_wolf": ledoit_wolf, "oas": oas}


def draw_rows(seed, n, d, n_classes=3):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    mixing = rng.normal(size=(d, d)) * rng.uniform(0.1, 2, d)
    return rng.normal(size=(n, d)) @ mixing + 3 * rng.normal(size=(n_classes, d))[codes] + 5, codes


def residuals_of(X, codes):
    return X - np.array([X[codes == label].mean(axis=0) for label in range(codes.max() + 1)])[codes]


def moments_of(X, codes):
    """S_w and S_b, in full."""
    within = residuals_of(X, codes)
    between = X - within - X.mean(axis=0)
    return within.T @ within / len(X), between.T @ between / len(X)


@pytest.mark.parametrize("formula", PEERS)
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(6, 60), st.integers(2, 30))
def test_the_shrinkage_is_scikit_learns_on_the_residuals(formula, seed, n, d):
    X, codes = draw_rows(seed, n, d)
    expected = PEERS[formula](residuals_of(X, codes), assume_centered=True)[1]
    found = shrinkage_of(within_scatter(X, codes, d), formula)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("formula", PEERS)
def test_the_shrinkage_of_rows_in_their_span_is_that_of_all_features(formula):
    X, codes = draw_rows(1, 20, 50)
    basis = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
    whole = shrinkage_of(within_scatter(X, codes, 50), formula)
    assert shrinkage_of(within_scatter(X @ basis.T, codes, 50), formula) == pytest.approx(whole)


@pytest.mark.parametrize(("n", "d"), [(80, 6), (20, 45)])
@pytest.mark.parametrize("shrinkage", [0.3, "oas", "ledoit_wolf"])
def test_the_map_solves_the_problem_of_all_features(n, d, shrinkage):
    X, codes = draw_rows(n, n, d)
    within, between = moments_of(X, codes)
    scatter = within_scatter(X, codes, d)
    gamma = shrinkage_of(scatter, shrinkage)
    shrunk = (1 - gamma) * within + gamma * np.trace(within) / d * np.eye(d)
    ratios, vectors = eigh(between, shrunk)
    components = discriminant_map(scatter, 2, shrinkage)
    assert_allclose(components.T @ components, vectors[:, -2:] @ vectors[:, -2:].T, rtol=1e-6)
    assert_allclose(components @ shrunk @ components.T, np.eye(2), atol=1e-8)
    assert_allclose(discriminant_ratios(scatter, components), ratios[:-3:-1], rtol=1e-6)


def test_all_rows_of_the_map_are_the_whitening_within_the_classes():
    X, codes = draw_rows(3, 50, 5)
    components = discriminant_map(within_scatter(X, codes, 5), 5, 0.0)
    assert_allclose(components.T @ components, np.linalg.inv(moments_of(X, codes)[0]), rtol=1e-8)


def test_sparse_rows_give_what_dense_ones_give():
    X, y = load_digits(return_X_y=True)
    expected = discriminant_map(within_scatter(X, y, 64), 9, "oas")
    found = discriminant_map(within_scatter(sparse.csr_array(X), y, 64), 9, "oas")
    assert_allclose(found.T @ found, expected.T @ expected, atol=1e-9)


def test_wide_sparse_rows_are_refused_in_words():
    with pytest.raises(ValueError, match="6 sparse rows with 9 features"):
        within_scatter(sparse.csr_array(np.eye(6, 9)), np.arange(6) % 2, 9)


def test_many_rows_are_summed_in_blocks_and_wide_ones_without_a_square_matrix():
    rng = np.random.default_rng(0)
    tall, codes = rng.normal(size=(9000, 5)), np.arange(9000) % 3
    within = moments_of(tall, codes)[0]
    scatter = within_scatter(tall, codes, 5)
    assert_allclose(scatter.directions * scatter.values @ scatter.directions.T, within, atol=1e-12)
    wide, few = rng.normal(size=(60, 5000)), np.arange(60) % 3
    tracemalloc.start()
    components = discriminant_map(within_scatter(wide, few, 5000), 2, "oas")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert components.shape == (2, 5000)
    assert peak < 8 * 60 * 5000 * 8  # the square matrix alone would be 83 times the rows


def test_classes_without_spread_keep_the_distance_between_their_means():
    X = np.repeat([[0.1, 0.7], [3.1, 4.7]], 7, axis=0)
    components = discriminant_map(within_scatter(X, np.arange(14) // 7, 2), 1, "oas")
    assert np.ptp(X @ components.T) == pytest.approx(5.0)


def test_variances_are_lifted_to_a_share_of_the_largest():
    assert floor_variances(np.array([4.0, 0.0])).tolist() == [4.0, 4e-8]
    assert floor_variances(np.zeros(2)).tolist() == [1.0, 1.0]


def test_an_unknown_formula_is_refused():
    X, codes = draw_rows(0, 20, 3)
    with pytest.raises(ValueError, match="'some'"):
        shrinkage_of(within_scatter(X, codes, 3), "some")
