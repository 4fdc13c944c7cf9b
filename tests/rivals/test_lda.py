"""LDA as a metric: scikit-learn's map where both are defined, and sense where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import cdist, pdist
from sklearn.covariance import ledoit_wolf, oas
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import LDA


@parametrize_with_checks([LDA(), LDA(shrinkage=0.1)])
def test_lda_passes_the_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_without_shrinkage_distances_are_those_of_scikit_learn_up_to_one_factor(load):
    X, y = load(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    ours = pdist(LDA(shrinkage=0.0).fit(X, y).transform(X))
    theirs = pdist(LinearDiscriminantAnalysis(solver="eigen").fit(X, y).transform(X))
    assert_allclose(ours / np.median(ours), theirs / np.median(theirs), rtol=1e-6, atol=1e-6)


def test_the_directions_are_uncorrelated_within_the_classes_with_unit_variance():
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    Z = LDA(shrinkage=0.0).fit(X, y).transform(X)
    for label in np.unique(y):
        Z[y == label] -= Z[y == label].mean(axis=0)
    assert_allclose(Z.T @ Z / len(Z), np.eye(2), atol=1e-6)


def test_the_ratios_are_those_of_the_variances_between_and_within():
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    learner = LDA(shrinkage=0.2).fit(X, y)
    within = np.concatenate([X[y == label] - X[y == label].mean(axis=0) for label in range(3)])
    covariance = within.T @ within / len(X)
    shrunk = 0.8 * covariance + 0.2 * np.trace(covariance) / 13 * np.eye(13)
    between = np.cov(X.T, bias=True) - covariance
    assert_allclose(learner.eigenvalues_, eigh(between, shrunk)[0][:-3:-1], rtol=1e-8)


@pytest.mark.parametrize(
    ("shrinkage", "formula"), [("auto", ledoit_wolf), ("ledoit_wolf", ledoit_wolf), ("oas", oas)]
)
def test_the_shrinkage_is_estimated_as_scikit_learn_does(shrinkage, formula):
    X, y = load_wine(return_X_y=True)
    within = X - np.array([X[y == label].mean(axis=0) for label in range(3)])[y]
    learner = LDA(shrinkage=shrinkage).fit(X, y)
    assert learner.shrinkage_ == pytest.approx(formula(within, assume_centered=True)[1])


def test_few_rows_of_many_features_are_told_apart():
    random = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = random.normal(size=(120, 5000)) + 0.4 * random.normal(size=(3, 5000))[y]
    learner = LDA().fit(X[:60], y[:60])
    Z, means = learner.transform(X), learner.transform(X[:60])
    means = np.array([means[y[:60] == label].mean(axis=0) for label in range(3)])
    assert (cdist(Z[60:], means).argmin(axis=1) == y[60:]).mean() > 0.9


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 1.0])
def test_constant_and_repeated_columns_are_harmless(shrinkage):
    X, y = load_digits(return_X_y=True)  # has constant columns
    X = np.hstack([X[:300], X[:300, 10:20]])
    Z = LDA(shrinkage=shrinkage).fit(X, y[:300]).transform(X)
    assert Z.shape == (300, 9)
    # The classes stay apart: nearly every row is nearest to the mean of its own.
    means = np.stack([Z[y[:300] == label].mean(axis=0) for label in range(10)])
    assert np.mean(cdist(Z, means).argmin(axis=1) == y[:300]) > 0.85


def test_classes_of_one_member_and_fewer_features_than_classes_are_allowed():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(20, 2)), np.array([*range(10), *range(5), *range(5)])
    learner = LDA().fit(X, y)
    assert learner.components_.shape == (2, 2)
    assert np.linalg.matrix_rank(learner.components_) == 2


def test_classes_without_spread_keep_the_distance_between_their_means():
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0)
    learner = LDA().fit(X, [0] * 5 + [1] * 5)
    assert_allclose(np.ptp(learner.transform(X)), 5.0, rtol=1e-6)


def test_all_rows_of_a_class_the_same_point_in_many_dimensions():
    X = np.repeat(np.eye(12), 2, axis=0)
    learner = LDA().fit(X, np.repeat(np.arange(12), 2))
    Z = learner.transform(X)
    assert_allclose(Z[::2], Z[1::2])
    assert pdist(Z[::2]).min() > 0.1 * pdist(Z[::2]).max()  # and no two classes fall together


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 3}, "n_components=3 .* at most 2"),
        ({"n_components": 0}, "at least 1, got 0"),
        ({"shrinkage": 1.5}, "between 0 and 1"),
        ({"shrinkage": "some"}, "'some'"),
    ],
)
def test_values_out_of_range_are_refused_by_name(parameters, message):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        LDA(**parameters).fit(X, y)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        LDA().fit([[1.0], [2.0]], [1, 1])
