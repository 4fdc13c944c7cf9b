"""How a start is scaled: so that the margin asks something of about half of the rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp
from vicinal.metric.gerrymander._initialisation import logistic_start, scale_start, vote_gaps


def exhaustive_gap(X, codes, i, k):
    """Nearest wrong vote less nearest right one, over all sets of k other rows."""
    squared_distances = np.square(X - X[i]).sum(axis=1)
    right, wrong = np.inf, np.inf
    for chosen in combinations([j for j in range(len(X)) if j != i], k):
        total = squared_distances[list(chosen)].sum()
        counts = np.bincount(codes[list(chosen)], minlength=codes.max() + 1)
        others = np.delete(counts, codes[i]).max()
        if counts[codes[i]] > others:
            right = min(right, total)
        if others >= counts[codes[i]]:
            wrong = min(wrong, total)
    return wrong - right


@pytest.mark.parametrize("k", [1, 3, 5])
def test_gaps_are_those_of_an_exhaustive_search(k):
    rng = np.random.default_rng(k)
    X, codes = rng.normal(size=(12, 2)), np.arange(12, dtype=np.int32) % 3
    X -= X.mean(axis=0)
    rows = np.arange(12)
    expected = [exhaustive_gap(X, codes, i, k) for i in rows]
    known = np.isfinite(expected)
    assert_allclose(vote_gaps(X, codes, k, rows), np.asarray(expected)[known], atol=1e-10)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_margin_is_the_median_gap_whatever_the_unit(unit):
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 2
    X = unit * (rng.normal(size=(200, 3)) + codes[:, None])
    scaled = scale_start(np.eye(3), X, codes, 3, np.random.default_rng(1))
    mapped = X @ scaled.T
    gaps = vote_gaps(mapped - mapped.mean(axis=0), codes.astype(np.int32), 3, np.arange(200))
    assert np.median(np.abs(gaps)) == pytest.approx(1.0)


def test_a_scaled_start_keeps_its_type():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    start = np.eye(3, dtype=np.float32)
    scaled = scale_start(start, X, np.arange(60) % 2, 3, np.random.default_rng(1))
    assert scaled.dtype == np.float32
    assert not np.array_equal(scaled, start)


def test_rows_that_are_all_equal_leave_the_start_as_it_is():
    start = scale_start(np.eye(2), np.ones((20, 2)), np.arange(20) % 2, 3, np.random.default_rng(0))
    assert_allclose(start, np.eye(2))


def minimise_cross_entropy(X, codes, ridge):
    """Weights (R, d) of the logistic regression that a logistic start is defined by."""
    n, d = X.shape
    n_classes = codes.max() + 1

    def objective(flat):
        weights, offsets = flat[: n_classes * d].reshape(n_classes, d), flat[n_classes * d :]
        scores = X @ weights.T + offsets
        losses = logsumexp(scores, axis=1) - scores[np.arange(n), codes]
        return losses.mean() + 0.5 * ridge * (weights**2).sum()

    found = minimize(objective, np.zeros(n_classes * (d + 1)), tol=1e-10)
    return found.x[: n_classes * d].reshape(n_classes, d)


@pytest.mark.parametrize("ridge", [0.02, 0.3])
def test_a_logistic_start_has_the_distances_of_the_regressions_scores(ridge):
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, 90)
    X = rng.normal(size=(90, 4)) + 1.5 * np.eye(3, 4)[codes]
    start = logistic_start(X, codes, 2, ridge)
    weights = minimise_cross_entropy(X, codes, ridge)
    weights -= weights.mean(axis=0)
    assert start.shape == (2, 4)
    assert_allclose(start.T @ start, weights.T @ weights, atol=2e-3 * (weights**2).sum())
    assert_allclose(start @ start.T, np.diag((start**2).sum(axis=1)), atol=1e-10)


def test_two_classes_have_one_logistic_direction():
    rng = np.random.default_rng(5)
    codes = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + np.outer(codes, [3.0, 0.0, 0.0])
    start = logistic_start(X, codes, 3, 0.1)
    assert start.shape == (1, 3)
    assert np.abs(start[0]).argmax() == 0


def test_rows_that_tell_classes_nothing_give_a_logistic_start_all_the_same():
    assert_allclose(logistic_start(np.zeros((6, 3)), np.arange(6) % 3, 2, 0.1), np.eye(2, 3))
