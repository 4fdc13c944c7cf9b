"""LDA as a metric: scikit-learn's map where both are defined, and sense where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import LDA
from vicinal.rivals._lda import discriminant_directions


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


def test_more_features_than_rows_give_the_solution_of_the_full_problem():
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(30, 45)), np.arange(30) % 3
    X[:, 0] += codes
    means = np.array([X[codes == label].mean(axis=0) for label in range(3)])[codes]
    within, between = (X - means).T @ (X - means) / 30, np.cov(means.T, bias=True)
    shrunk = 0.7 * within + 0.3 * np.trace(within) / 30 * np.eye(45)  # 30: the span of the rows
    expected = eigh(between, shrunk)[1].T[:-3:-1]
    components = discriminant_directions(X, codes, 0.3)[0][:2]
    assert_allclose(pdist(X @ components.T), pdist(X @ expected.T), rtol=1e-6)


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 1.0])
def test_constant_and_repeated_columns_are_harmless(shrinkage):
    X, y = load_digits(return_X_y=True)  # has constant columns
    X = np.hstack([X[:300], X[:300, 10:20]])
    Z = LDA(shrinkage=shrinkage).fit(X, y[:300]).transform(X)
    assert Z.shape == (300, 9)
    assert np.isfinite(Z).all()


def test_classes_of_one_member_and_fewer_features_than_classes_are_allowed():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(20, 2)), np.array([*range(10), *range(5), *range(5)])
    learner = LDA().fit(X, y)
    assert learner.components_.shape == (2, 2)


def test_classes_without_spread_keep_the_distance_between_their_means():
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0)
    learner = LDA().fit(X, [0] * 5 + [1] * 5)
    assert_allclose(np.ptp(learner.transform(X)), 5.0, rtol=1e-6)


def test_all_rows_of_a_class_the_same_point_in_many_dimensions():
    X = np.repeat(np.eye(12), 2, axis=0)
    learner = LDA().fit(X, np.repeat(np.arange(12), 2))
    assert np.isfinite(learner.transform(X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 3}, "between 1 and 2"),
        ({"n_components": 0}, "between 1 and 2"),
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
