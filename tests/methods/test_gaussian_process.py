"""The Gaussian process against scikit-learn's, its slope against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from vicinal.methods import get_method, make_learner
from vicinal.methods._gaussian_process import MOST_ROWS, GaussianProcess, likelihood


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=90)


def test_the_slope_is_that_of_the_likelihood(rows):
    X, y = rows
    logs = np.array([0.3, -0.2, 0.4, 1.0, -1.5])
    slope = likelihood(logs, X, y)[1]
    assert_allclose(slope, approx_fprime(logs, lambda at: likelihood(at, X, y)[0], 1e-6), rtol=1e-4)


@pytest.mark.filterwarnings("ignore:The optimal value found")
def test_likelihood_and_predictions_are_those_of_scikit_learn(rows):
    X, y = rows
    model = GaussianProcess().fit(X[:60], y[:60])
    z = (y[:60] - model.mean_) / model.scale_
    fixed = ConstantKernel(model.amplitude_) * RBF(model.lengths_) + WhiteKernel(model.noise_)
    theirs = GaussianProcessRegressor(fixed, optimizer=None).fit(X[:60], z)
    logs = np.log([model.amplitude_, *model.lengths_, model.noise_])
    constant = 0.5 * len(z) * np.log(2 * np.pi)
    assert -likelihood(logs, X[:60], z)[0] - constant == pytest.approx(
        theirs.log_marginal_likelihood_value_
    )
    expected = model.mean_ + model.scale_ * theirs.predict(X[60:])
    assert_allclose(model.predict(X[60:]), expected, rtol=1e-6)
    free = ConstantKernel() * RBF(np.ones(3)) + WhiteKernel(0.1)
    learned = GaussianProcessRegressor(free).fit(X[:60], z).log_marginal_likelihood_value_
    assert -likelihood(logs, X[:60], z)[0] - constant > learned - 0.01


def test_a_feature_without_a_say_gets_a_great_length(rows):
    X, y = rows
    model = make_learner(get_method("gp"), "regression").fit(X, y)
    assert model.lengths_[2] > 5 * model.lengths_[0]
    assert model.score(X, y) > 0.9


def test_more_rows_than_a_square_matrix_should_have_are_refused():
    X = np.zeros((MOST_ROWS + 1, 1))
    with pytest.raises(ValueError, match="8,001 rows needs more than 2 GB; take at most 8,000"):
        GaussianProcess().fit(X, X[:, 0])


def test_a_constant_target_is_predicted():
    X = np.arange(6.0)[:, None]
    assert_allclose(GaussianProcess().fit(X, np.full(6, 3.0)).predict(X), 3.0)
