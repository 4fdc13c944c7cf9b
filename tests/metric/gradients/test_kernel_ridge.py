"""Gradients of kernel ridge regression, against scikit-learn's, finite differences and refits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from vicinal import EGOP, EJOP
from vicinal.metric.gradients import _kernel_ridge as kernel_ridge
from vicinal.metric.gradients import _smoothing as smoothing
from vicinal.metric.gradients._bandwidth import (
    affordable_points,
    candidate_settings,
    keep_two_regressions,
    preferred,
    split_halves,
)
from vicinal.metric.gradients._estimate import Setting, gradients_at, make_reference


def data(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n), rng


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
    setting = Setting("kernel-ridge", 1.3, ridge=0.1)
    reference = make_reference(X, smoothing.real_targets(y), setting, weights=weights)
    found = gradients_at(X[:10] + 0.1, reference)[:, 0]
    expected = [numerical_gradient(lambda p: peer.predict(p[None])[0], x) for x in X[:10] + 0.1]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_jacobian_is_the_derivative_of_one_regression_a_class():
    X, _, rng = data()
    codes = rng.integers(0, 3, len(X))
    codes[:3] = range(3)
    shares = np.eye(3)[codes]
    peer = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, shares - shares.mean(axis=0))
    setting = Setting("kernel-ridge", 1.0, ridge=0.3, temperature=0.5)
    reference = make_reference(X, smoothing.class_targets(codes, 3), setting)
    found = gradients_at(X[:5], reference)
    expected = [numerical_gradient(lambda p: peer.predict(p[None])[0], x).T for x in X[:5]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_with_many_classes_gradients_are_taken_at_fewer_points():
    solved, local = Setting("kernel-ridge", 1.0), Setting("local-linear", 1.0, n_local=50)
    assert affordable_points(solved, (4000, 600, 1), 1e10, 200) == 4000
    assert affordable_points(solved, (4000, 600, 26), 2.4e11, 200) == 1000
    assert affordable_points(solved, (4000, 600, 26), 1e9, 200) == 200
    assert affordable_points(local, (4000, 20, 26), 2e7, 200) == 1000
    assert affordable_points(Setting("analytic", 1.0), (4000, 600, 26), 1.0, 200) == 4000


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
            np.testing.assert_allclose(found[b, r], np.mean(np.square(residuals)), rtol=1e-6)


def test_of_regressions_the_one_of_least_leave_one_out_error_and_a_less_smooth_one_compete():
    X, y, rng = data(n=200)
    targets = smoothing.real_targets(y + 2 * rng.normal(size=len(y)))
    base = Setting("auto", 1.0)
    settings = candidate_settings(base, 2.0, len(X), 3)
    halves = split_halves(X, targets, np.arange(200), 5, np.random.RandomState(0))
    kept = keep_two_regressions(halves, settings, [None, None])
    regression, second = (setting for setting in kept if setting.estimator == "kernel-ridge")
    others = [setting for setting in settings if setting.estimator != "kernel-ridge"]
    assert kept == [*others, regression, second]
    assert vars(second) == vars(replace(regression, ridge=0.3 * regression.ridge))
    errors = {}
    for setting in settings:
        if setting.estimator == "kernel-ridge":
            found = [
                kernel_ridge.leave_one_out_errors(
                    X[rows], targets.values[rows, None], [setting.bandwidth], [setting.ridge]
                )
                for rows, _ in halves.folds
            ]
            errors[setting.bandwidth, setting.ridge] = np.sum(found)
    assert (regression.bandwidth, regression.ridge) == min(errors, key=errors.__getitem__)


def test_a_regression_is_preferred_where_others_are_hardly_better():
    settings = [Setting("analytic", 1.0), Setting("local-linear", 1.0), Setting("kernel-ridge", 1)]
    scores = np.array([1.5, 1.4, 1.0, 1.2, 1.3, 1.01])
    assert preferred(scores, settings, 2) == 5
    assert preferred(scores + 0.1 * (scores == 1.01), settings, 2) == 2
    assert preferred(scores[:4], settings[:2], 2) == 2


def test_a_given_ridge_stays_as_it_is():
    X, y, _ = data(n=100)
    settings = candidate_settings(Setting("kernel-ridge", 1.0), 2.0, len(X), 3, 0.2)
    halves = split_halves(X, smoothing.real_targets(y), np.arange(100), 5, np.random.RandomState(0))
    (kept,) = keep_two_regressions(halves, settings, [None, None])
    assert kept.ridge == 0.2


def test_of_two_regressions_the_less_smooth_one_is_preferred_where_hardly_worse():
    settings = [
        Setting("analytic", 1.0),
        *(Setting("kernel-ridge", 1.0, ridge=r) for r in (1, 0.3)),
    ]
    scores = np.array([1.5, 1.4, 1.0, 1.2, 1.3, 1.005])
    assert preferred(scores, settings, 2) == 5
    assert preferred(scores + 0.1 * (scores == 1.005), settings, 2) == 2


def test_a_row_given_twice_and_a_row_weighed_twice_are_the_same():
    X, y, _ = data()
    counts = np.ones(len(X), int)
    counts[:30] = 2
    setting = Setting("kernel-ridge", 1.0, ridge=0.1)
    rows = np.repeat(np.arange(len(X)), counts)
    mean = np.average(y, weights=counts)
    targets = smoothing.Targets(y - mean, np.zeros(len(y), int), 1)
    once = make_reference(X, targets, setting, weights=counts)
    twice = make_reference(X[rows], targets.take(rows), setting)
    np.testing.assert_allclose(gradients_at(X, once), gradients_at(X, twice), atol=1e-8)


def test_rows_without_weight_do_not_count():
    X, y, _ = data()
    setting, targets = Setting("kernel-ridge", 1.0), smoothing.real_targets(y)
    weights = (np.arange(len(X)) < 60).astype(float)
    some = make_reference(X[:60], targets.take(np.arange(60)), setting)
    weighed = make_reference(X, targets, setting, weights=weights)
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
        leading = EGOP(estimator, random_state=0).fit(X, y).components_[0]
        angles[estimator] = np.degrees(np.arccos(abs(leading[0]) / np.linalg.norm(leading)))
    assert angles["kernel-ridge"] < 20
    assert angles["kernel-ridge"] < angles["local-linear"]


def test_classes_are_solved_for_only_when_asked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    assert EJOP(random_state=0).fit(X, y).estimator_ != "kernel-ridge"
    metric = EJOP("kernel-ridge", random_state=0).fit(X, y)
    assert metric.feature_relevance_.argmax() == 1


def test_another_kernel_is_refused():
    with pytest.raises(ValueError, match=r"'kernel-ridge' differentiates a Gaussian"):
        EGOP("kernel-ridge", kernel="triangle").fit(*data()[:2])
