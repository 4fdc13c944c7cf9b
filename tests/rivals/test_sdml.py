"""SDML: the optimum of its objective, sparsity, and an indefinite matrix named as such."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from vicinal import SDML
from vicinal.rivals._sdml import largest_balance, solve_lasso


def test_without_sparsity_the_metric_is_an_inverse():
    covariance = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert_allclose(solve_lasso(covariance, 0.0, 10, 1e-4)[0], np.linalg.inv(covariance))


def test_the_lasso_fulfils_its_conditions():
    rng = np.random.default_rng(0)
    sample = rng.normal(size=(50, 4))
    covariance = sample.T @ sample / 50
    metric, _ = solve_lasso(covariance, 0.1, 200, 1e-4)
    gap = np.linalg.inv(metric) - covariance
    off = ~np.eye(4, dtype=bool)
    assert (np.abs(gap[off]) <= 0.1 + 1e-4).all()
    used = off & (np.abs(metric) > 1e-8)
    assert_allclose(gap[used], 0.1 * np.sign(metric[used]), atol=1e-3)


def test_more_sparsity_leaves_fewer_interactions():
    X, y = load_iris(return_X_y=True)
    counts = [
        np.sum(np.abs(SDML(sparsity=s, random_state=0).fit(X, y).get_mahalanobis_matrix()) > 1e-6)
        for s in (0.001, 0.5)
    ]
    assert counts[1] < counts[0]


def test_the_largest_balance_is_where_the_matrix_turns_singular():
    scatter = np.diag([1.0, -0.25])
    assert_allclose(largest_balance(np.eye(2), scatter), 4.0)
    assert largest_balance(np.eye(2), np.eye(2)) == np.inf


def test_a_balance_without_solution_is_refused_with_one_that_has():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"indefinite.*Use balance below"):
        SDML(balance=1e6, random_state=0).fit(X, y)


def test_pairs_teach_which_feature_counts():
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(300, 2, 3))
    alike = np.abs(pairs[:, 0, 0] - pairs[:, 1, 0]) < 0.7
    for prior in ("identity", "covariance"):
        learner = SDML(prior=prior).fit_pairs(pairs, np.where(alike, 1, -1))
        assert learner.feature_relevance_[0] > 0.5


def test_too_many_features_are_refused_at_once():
    with pytest.raises(ValueError, match=r"Project first, for instance with PCA\(100\)"):
        SDML().fit(np.zeros((4, 401)), [0, 1, 0, 1])
