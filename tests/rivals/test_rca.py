"""RCA: whitening within chunklets, by its closed form."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from vicinal import RCA


def within(X, chunks):
    known = chunks >= 0
    centred = np.concatenate([X[chunks == c] - X[chunks == c].mean(0) for c in set(chunks[known])])
    return centred.T @ centred / known.sum()


def test_the_metric_is_the_inverse_scatter_within_chunklets():
    X, _ = load_iris(return_X_y=True)
    chunks = np.random.default_rng(0).integers(-1, 8, len(X))
    metric = RCA(shrinkage=0).fit_chunks(X, chunks).get_mahalanobis_matrix()
    assert_allclose(metric, np.linalg.inv(within(X, chunks)), rtol=1e-8)


def test_classes_are_chunklets():
    X, y = load_iris(return_X_y=True)
    metric = RCA(shrinkage=0).fit(X, y).get_mahalanobis_matrix()
    assert_allclose(metric, np.linalg.inv(within(X, y)), rtol=1e-8)


def test_few_components_keep_the_largest_ratios_of_variances():
    X, y = load_iris(return_X_y=True)
    learner = RCA(2, shrinkage=0).fit(X, y)
    A = learner.components_
    total = np.cov(X, rowvar=False, ddof=0)
    assert_allclose(A @ within(X, y) @ A.T, np.eye(2), atol=1e-9)
    assert_allclose(A @ total @ A.T, np.diag(learner.eigenvalues_), atol=1e-8)
    ratios = np.sort(np.linalg.eigvals(np.linalg.solve(within(X, y), total)).real)[::-1]
    assert_allclose(learner.eigenvalues_, ratios[:2], rtol=1e-8)


@pytest.mark.parametrize(
    ("chunks", "words"),
    [([0, 0], "3 whole numbers"), ([0.5, 0, 0], "whole numbers"), ([-1, 0, 1], "no chunklet")],
)
def test_bad_chunklets_are_refused(chunks, words):
    with pytest.raises(ValueError, match=words):
        RCA().fit_chunks(np.eye(3), chunks)
