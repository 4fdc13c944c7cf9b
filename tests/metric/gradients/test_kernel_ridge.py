"""Gradients of kernel ridge regression, against scikit-learn's, finite differences and refits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from vicinal import EGOP, EJOP, Smoothing
from vicinal.metric.gradients import _kernel_ridge as kernel_ridge
from vicinal.metric.gradients._candidates import affordable_points, candidates
from vicinal.metric.gradients._choice import two_regressions
from vicinal.metric.gradients._evaluation import fit_smoother, gradients_at
from vicinal.metric.gradients._smoother import Smoother
from vicinal.metric.gradients._spectrum import MetricKind
from vicinal.metric.gradients._targets import class_targets, real_targets
from vicinal.metric.gradients._trials import prediction_errors, split_halves
from vicinal.metric.gradients._yardstick import make_yardstick
from vicinal.rows import as_classes


def data(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n), rng


def halves_of(X, targets, n_neighbors):
    random, rows = np.random.RandomState(0), np.arange(len(X))
    how = {"kind": MetricKind(), "yardstick": make_yardstick(X, rows, random)}
    return split_halves(X, targets, rows, random, n_neighbors=n_neighbors, **how)


def numerical_gradient(function, x, step=1e-5):
    steps = step * np.eye(len(x))
    return np.array([(function(x + s) - function(x - s)) / (2 * step) for s in steps])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_the_derivative_of_scikit_learns_prediction(weighted):
    X, y, rng = data()
    weights = rng.uniform(0.5, 2, len(X)) if weighted else np.ones(len(X))
    mean = np.average(y, weights=weights)
    peer = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5 / 1.3**2)
    peer.fit(X, y - mean, sample_weight=weights / weights.mean())
    smoother = Smoother("kernel-ridge", 1.3, ridge=0.1)
    fitted = fit_smoother(X, real_targets(y), smoother, weights=weights)
    found = gradients_at(X[:10] + 0.1, fitted)[0][:, 0]
    expected = [numerical_gradient(lambda p: peer.predict(p[None])[0], x) for x in X[:10] + 0.1]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_jacobian_is_the_derivative_of_one_regression_a_class():
    X, _, rng = data()
    codes = rng.integers(0, 3, len(X))
    codes[:3] = range(3)
    shares = np.eye(3)[codes]
    peer = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, shares - shares.mean(axis=0))
    smoother = Smoother("kernel-ridge", 1.0, ridge=0.3, temperature=0.5)
    fitted = fit_smoother(X, class_targets(as_classes(codes)), smoother)
    (found,) = gradients_at(X[:5], fitted)
    expected = [numerical_gradient(lambda p: peer.predict(p[None])[0], x).T for x in X[:5]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_with_many_classes_gradients_are_taken_at_fewer_points():
    def points(smoother, n_columns, budget=1e10):
        return affordable_points(smoother, (4000, 600, n_columns), budget, 200)

    solved, analytic = Smoother("kernel-ridge", 1.0), Smoother("analytic", 1.0)
    assert points(solved, 1) == points(analytic, 26, budget=1.0) == 4000
    assert points(solved, 51, 1e11) == pytest.approx(points(solved, 26, 1e11) / 2, rel=0.01)
    assert points(solved, 26, budget=1.0) == 200
    near, far = (Smoother("local-linear", 1.0, n_local=k) for k in (600, 1200))
    assert points(far, 1, 2e11) == pytest.approx(points(near, 1, 2e11) / 2, rel=0.01)


def test_the_default_choice_includes_regressions_for_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=300), [-0.5, 0.5])
    metric = EJOP(random_state=0).fit(X, y)
    assert metric.estimator_ == "kernel-ridge"
    assert set(metric.feature_relevance_.argsort()[-2:]) == {0, 1}


def test_leave_one_out_errors_are_those_of_as_many_refits():
    X, y, _ = data(n=25)
    found = kernel_ridge.leave_one_out_errors(X, y[:, None], [0.7, 2.0], [0.01, 0.5])
    y = y - y.mean()
    for b, bandwidth in enumerate([0.7, 2.0]):
        for r, ridge in enumerate([0.01, 0.5]):
            residuals = []
            for i in range(len(X)):
                rest = np.arange(len(X)) != i
                process = GaussianProcessRegressor(RBF(bandwidth), alpha=ridge, optimizer=None)
                process.fit(X[rest], y[rest])
                residuals.append(y[i] - process.predict(X[i : i + 1])[0])
            np.testing.assert_allclose(found[b, r], np.mean(np.square(residuals)), rtol=1e-4)


def test_of_regressions_the_one_of_least_leave_one_out_error_and_a_less_smooth_one_compete():
    X, y, rng = data(n=200)
    targets = real_targets(y + 2 * rng.normal(size=len(y)))
    smoothers = candidates(Smoother("kernel-ridge", 1.0), 2.0, len(X), 3)
    halves = halves_of(X, targets, 5)
    best, second = two_regressions(halves, smoothers, None)
    assert vars(second) == vars(replace(best, ridge=0.3 * best.ridge))
    rows, _ = halves.folds[0]
    errors = {}
    for smoother in smoothers:
        setting = (smoother.bandwidth, smoother.ridge)
        (errors[setting],) = kernel_ridge.leave_one_out_errors(
            X[rows], targets.values[rows, None], setting[:1], setting[1:]
        )[0]
    assert (best.bandwidth, best.ridge) == min(errors, key=errors.__getitem__)


def test_metrics_with_the_same_neighbours_tie_to_the_last_bit_whatever_their_order():
    X, y, _ = data(n=100)
    halves = halves_of(X, real_targets(y), 50)
    by_first, by_last = (prediction_errors(np.diag(a), halves, 0) for a in ([9, 1, 1], [1, 1, 9]))
    np.testing.assert_array_equal(by_first, by_last)


def test_a_given_ridge_stays_as_it_is():
    X, y, _ = data(n=100)
    smoothers = candidates(Smoother("kernel-ridge", 1.0), 2.0, len(X), 3, 0.2)
    halves = halves_of(X, real_targets(y), 5)
    (kept,) = two_regressions(halves, smoothers, None)
    assert kept.ridge == 0.2


@pytest.mark.parametrize("ridge", [1.0, 1e-3, 1e-7])
def test_the_solve_leaves_hardly_anything_however_small_the_ridge(ridge):
    X, y, _ = data(n=120)
    fitted = fit_smoother(X, real_targets(y), Smoother("kernel-ridge", 3.0, ridge=ridge))
    rows, targets = fitted.sample.rows, fitted.sample.targets.values
    kernel = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2) / 2) + ridge * np.eye(120)
    assert fitted.coefficients is not None
    left = kernel @ fitted.coefficients[:, 0] - (targets - targets.mean())
    assert np.abs(left).max() < 2e-7 * np.abs(targets).max()


def test_rows_without_weight_do_not_count():
    X, y, _ = data()
    smoother, targets = Smoother("kernel-ridge", 1.0), real_targets(y)
    weights = (np.arange(len(X)) < 60).astype(float)
    some = fit_smoother(X[:60], targets.take(np.arange(60)), smoother)
    weighed = fit_smoother(X, targets, smoother, weights=weights)
    np.testing.assert_allclose(gradients_at(X, weighed), gradients_at(X, some), atol=1e-8)


def test_of_very_many_rows_some_are_solved_for(monkeypatch):
    monkeypatch.setattr(kernel_ridge, "MOST_ROWS", 200)
    X, y, _ = data(n=900)
    metric = EGOP("kernel-ridge", random_state=0).fit(X, y)
    assert metric.n_evaluations_ == 900
    assert metric.feature_relevance_[2] < 0.05


def test_a_direction_under_much_noise_is_found_more_exactly_than_by_local_planes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = np.tanh(X[:, 0]) + rng.normal(size=400)
    angles = {}
    for estimator in ("kernel-ridge", "local-linear"):
        leading = EGOP(estimator, diagonal=False, random_state=0).fit(X, y).components_[0]
        angles[estimator] = np.degrees(np.arccos(abs(leading[0]) / np.linalg.norm(leading)))
    assert angles["kernel-ridge"] < 20
    assert angles["kernel-ridge"] < angles["local-linear"]


def test_classes_are_parted_by_the_feature_that_parts_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    metric = EJOP("kernel-ridge", random_state=0).fit(X, np.digitize(X[:, 1], [-0.5, 0.5]))
    assert metric.feature_relevance_.argmax() == 1


def test_another_kernel_is_refused():
    with pytest.raises(ValueError, match=r"'kernel-ridge' differentiates a Gaussian"):
        EGOP("kernel-ridge", smoothing=Smoothing("triangle")).fit(*data()[:2])
