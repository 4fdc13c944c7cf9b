"""How sure eigenvalues are: the estimators' own bootstrap, and what points add to them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes

from vicinal import EGOP, GradientWeights
from vicinal.comparison._intervals import (
    describe_sum,
    eigenvalue_intervals,
    eigenvalues_by_point,
    leading_eigenvectors,
    resampled_intervals,
)
from vicinal.data import Preparation
from vicinal.report import eigenvalues_of


def test_the_intervals_of_a_small_set_are_those_of_the_estimators_own_bootstrap():
    X, y = load_diabetes(return_X_y=True)
    X = Preparation().fit_transform(X)
    metric = EGOP(n_neighbors=3, store_gradients=True, random_state=0).fit(X, y)
    intervals, n_points = eigenvalue_intervals(metric, X, y, 0)
    own = metric.spectrum_interval(n_resamples=400)
    assert n_points == len(X)
    assert intervals.shape == (10, 2)
    # Eigenvectors are held fixed here and not there: alike for the leading eigenvalues.
    assert_allclose(intervals[:2], own[:2], rtol=0.06)
    values = metric.eigenvalues_
    assert np.all((intervals[:, 0] <= values * (1 + 1e-6)) & (values <= intervals[:, 1] * 1.000001))


@pytest.mark.parametrize("learner", [EGOP("analytic"), GradientWeights("analytic")])
def test_what_points_add_averages_to_the_eigenvalues(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    learner.set_params(store_gradients=True, random_state=0).fit(X, np.sin(X[:, 0]) + X[:, 1] ** 2)
    by_point = eigenvalues_by_point(learner, learner.gradients_[..., None])
    assert_allclose(by_point.mean(axis=0), learner.eigenvalues_, rtol=1e-8)


def test_intervals_narrow_with_the_points_of_the_fit_not_with_those_at_hand():
    rng = np.random.default_rng(0)
    by_point = rng.exponential(size=(1000, 2))
    few, many = (
        np.ptp(resampled_intervals(np.ones(2), by_point, n, 0), axis=1) for n in (1000, 16_000)
    )
    assert_allclose(few / many, 4, rtol=0.25)
    # Twice 1.96 standard errors of a mean of exponentials.
    assert_allclose(few, 2 * 1.96 / np.sqrt(1000), rtol=0.2)


@pytest.mark.parametrize("shape", [(300, 6), (30, 80)])
@pytest.mark.parametrize("n_components", [None, 2])
def test_leading_eigenvectors_are_those_of_the_matrix(shape, n_components):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    metric = EGOP("analytic", bandwidth="rule", n_components=n_components, random_state=0)
    metric.fit(X, np.sin(X[:, 0]) + X[:, 1] ** 2)
    vectors = leading_eigenvectors(metric)
    assert vectors.shape == (shape[1], min(shape[1], 40))
    expected = np.linalg.eigh(metric.outer_product_)[1][:, ::-1][:, :2]
    assert_allclose(np.abs(np.sum(vectors[:, :2] * expected, axis=0)), 1, rtol=1e-6)
    assert (np.linalg.norm(vectors, axis=0) < 1 + 1e-9).all()


def test_of_wide_rows_no_matrix_of_all_features_is_made(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 600))
    metric = EGOP("analytic", bandwidth="rule", random_state=0).fit(X, X[:, 0])

    def refuse(self):
        raise AssertionError("a matrix of d² entries")

    monkeypatch.setattr(type(metric), "outer_product_", property(refuse))
    intervals, _ = eigenvalue_intervals(metric, X, X[:, 0], 0)
    assert intervals.shape == (40, 2)
    assert describe_sum(metric) == "the mean squared gradient"
    assert len(eigenvalues_of(metric)) == 600
