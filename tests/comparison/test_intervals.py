"""How sure eigenvalues are: the estimators' own bootstrap, and what points add to them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes

from vicinal import EGOP, GradientWeights
from vicinal.comparison._intervals import (
    eigenvalue_intervals,
    eigenvalues_by_point,
    resampled_intervals,
)
from vicinal.data import Preparation


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
