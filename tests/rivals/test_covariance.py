"""Covariance: the inverse of NumPy's, and shrunk as scikit-learn's."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_iris

from vicinal import Covariance


def test_unshrunk_it_is_the_inverse_covariance():
    X, _ = load_iris(return_X_y=True)
    metric = Covariance(shrinkage=0).fit(X).get_mahalanobis_matrix()
    assert_allclose(metric, np.linalg.inv(np.cov(X, rowvar=False)), rtol=1e-8)


def test_shrinkage_is_ledoit_and_wolfs():
    X = np.random.default_rng(0).normal(size=(20, 30))
    wanted, gamma = ledoit_wolf(X)
    learner = Covariance().fit(X)
    assert_allclose(learner.shrinkage_, gamma, rtol=1e-8)
    metric = learner.get_mahalanobis_matrix()
    assert_allclose(metric, np.linalg.inv(wanted * 20 / 19), rtol=1e-6, atol=1e-9)


def test_directions_no_row_varies_in_have_no_weight_unshrunk():
    X = np.column_stack([np.arange(6.0), np.arange(6.0), np.ones(6)])
    metric = Covariance(shrinkage=0.0).fit(X).get_mahalanobis_matrix()
    assert_allclose(metric, np.linalg.pinv(np.cov(X, rowvar=False)), atol=1e-10)
