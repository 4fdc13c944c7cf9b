"""NCA is scikit-learn's, and says when it has not looked at every row."""

from __future__ import annotations

import warnings

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris, make_classification
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import NCA


@parametrize_with_checks([NCA(max_iter=5)])
def test_nca_passes_the_estimator_checks(estimator, check):
    check(estimator)


def test_below_the_limit_the_map_is_scikit_learns():
    X, y = load_iris(return_X_y=True)
    ours = NCA(random_state=0, max_iter=10).fit(X, y)
    theirs = NeighborhoodComponentsAnalysis(random_state=0, max_iter=10, tol=1e-5, n_components=4)
    assert_array_equal(ours.components_, theirs.fit(X, y).components_)
    assert ours.n_samples_fit_ == 150


def test_above_the_limit_a_sample_is_fitted_and_a_warning_says_so():
    X, y = make_classification(400, random_state=0)
    with pytest.warns(UserWarning, match=r"random 100 of 400 rows"):
        learner = NCA(max_samples=100, max_iter=3, random_state=0).fit(X, y)
    assert learner.n_samples_fit_ == 100


def test_without_a_limit_every_row_is_fitted():
    X, y = make_classification(200, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NCA(max_samples=None, max_iter=2).fit(X, y).n_samples_fit_ == 200


def test_the_same_seed_gives_the_same_map():
    X, y = make_classification(300, random_state=0)
    learner = NCA(max_samples=50, max_iter=3, random_state=3)
    with pytest.warns(UserWarning, match="random 50"):
        first = learner.fit(X, y).components_
    with pytest.warns(UserWarning, match="random 50"):
        assert_array_equal(first, learner.fit(X, y).components_)


@pytest.mark.parametrize(("n", "kept"), [(200, 100), (60, 59)])
def test_many_features_are_mapped_to_a_hundred_or_as_many_as_the_rows_span(n, kept):
    X, y = make_classification(n, n_features=150, random_state=0)
    assert NCA(max_iter=1).fit(X, y).components_.shape == (kept, 150)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        NCA().fit([[1.0], [2.0]], [1, 1])
