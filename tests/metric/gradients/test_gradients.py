"""Gradients of kernel estimates, against the textbook loop, closed forms and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import gradients as oracle

from vicinal.metric.gradients._analytic import analytic_gradients, kernel_sums
from vicinal.metric.gradients._evaluation import (
    Blocks,
    evaluate,
    fit_smoother,
    gradients_at,
)
from vicinal.metric.gradients._sample import Coordinates, Sample, make_sample
from vicinal.metric.gradients._smoother import Smoother
from vicinal.metric.gradients._sums import merge_all
from vicinal.metric.gradients._targets import class_targets, real_targets
from vicinal.rows import as_classes


def real_data(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 5
    return X, np.sin(X[:, 0]) + X[:, 1] + 3, rng


def class_data(n=60, d=3, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    codes = rng.integers(0, n_classes, n)
    codes[:n_classes] = np.arange(n_classes)
    return X, codes, np.eye(n_classes)[codes]


def gradients_of(X, targets, points=None, weights=None, components=None, **told):
    fitted = fit_smoother(X, targets, Smoother(**told), weights=weights, components=components)
    return gradients_at(X if points is None else points, fitted, own=points is None)[0]


def always(point):
    return True


# The smoother ---------------------------------------------------------------------------------


def test_the_blocked_estimate_is_the_textbooks():
    X, y, rng = real_data(n=2500)
    weights = rng.uniform(0, 2, len(X))
    targets = real_targets(y)
    places = Coordinates(X.mean(axis=0), None, 0.8)
    sample = make_sample(X, targets, places, weights)
    points = np.vstack([X[:20], X[:1] + 100])
    ((values, _),) = analytic_gradients(places.enter(points, np.float32), sample)
    expected = [
        oracle.kernel_estimate(x, X, y[:, None] - y.mean(), 0.8, "gaussian", weights)[0]
        for x in points
    ]
    np.testing.assert_allclose(values[:, 0] * targets.scale, expected, rtol=1e-4, atol=1e-4)


# Analytic ----------------------------------------------------------------------------------------


def numerical_gradient(function, x, step=1e-5):
    return np.stack(
        [(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))],
        axis=1,
    )


def test_the_analytic_gradient_is_the_derivative_of_the_estimate():
    X, y, rng = real_data()
    weights = rng.uniform(0, 2, len(X))
    found = gradients_of(X, real_targets(y), weights=weights, estimator="analytic", bandwidth=0.7)
    for x, gradient in zip(X[:10], found, strict=False):
        expected = numerical_gradient(
            lambda z: oracle.kernel_estimate(z, X, y[:, None], 0.7, "gaussian", weights), x
        )
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("temperature", [None, 1.0, 0.2])
def test_the_analytic_jacobian_is_the_derivative_of_the_softmax(temperature):
    X, codes, Y = class_data()

    def function(z):
        values = oracle.kernel_estimate(z, X, Y, 0.9, "gaussian")
        return values if temperature is None else oracle.softmax(values, temperature)

    found = gradients_of(
        X,
        class_targets(as_classes(codes)),
        estimator="analytic",
        bandwidth=0.9,
        temperature=temperature,
    )
    for x, jacobian in zip(X[:10], found, strict=False):
        np.testing.assert_allclose(jacobian, numerical_gradient(function, x), rtol=1e-5, atol=1e-8)


def test_holding_the_weights_gives_what_three_products_give():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 130))
    targets = real_targets(np.sin(X[:, 0]) + X[:, 1] ** 2)
    weights = rng.uniform(0.1, 1, 300)
    fitted = fit_smoother(X, targets, Smoother("analytic", 6.0), weights=weights)
    rows = fitted.coordinates.enter(X[:40], np.float64)
    (sums,) = kernel_sums(rows, fitted.sample)
    expected = sums.gradients() * targets.scale / 6.0
    np.testing.assert_allclose(gradients_at(X[:40], fitted)[0], expected, rtol=1e-8, atol=1e-12)


def test_gradients_in_another_metric_are_those_of_mapped_rows_mapped_back():
    X, y, rng = real_data()
    A = rng.normal(size=(2, 3))
    targets = real_targets(y)
    found = gradients_of(X, targets, components=A, estimator="analytic", bandwidth=0.7)
    mapped = gradients_of(X @ A.T, targets, estimator="analytic", bandwidth=0.7)
    np.testing.assert_allclose(found, mapped @ A, rtol=1e-8, atol=1e-12)


def test_single_precision_is_near_double_precision():
    X, y, _ = real_data(n=4000, d=6)
    targets = real_targets(y)
    found = gradients_of(X, targets, X[:200], estimator="analytic", bandwidth=1.0)
    few = fit_smoother(X, targets, Smoother("analytic", 1.0))
    sample = Sample(
        few.sample.panel.astype(np.float64),
        few.sample.targets,
        few.sample.weights,
        few.sample.starts,
        False,
    )
    sample.panel[:, -1] = -(sample.rows**2).sum(axis=1) / 2
    rows = few.coordinates.enter(X[:200], np.float64)
    (sums,) = kernel_sums(rows, sample)
    np.testing.assert_allclose(found, sums.gradients() * targets.scale, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "smoothers",
    [
        [Smoother("analytic", h, temperature=1.0) for h in (0.3, 0.5, 1.1)],
        [
            Smoother("local-linear", 1.0, "epanechnikov", n_local=k, ridge=r)
            for k, r in ((10, 0.1), (30, 0.1), (10, 1.0))
        ],
        [Smoother("kernel-ridge", 0.7, ridge=r) for r in (0.01, 0.3)],
        [Smoother("difference", 0.7, step=t) for t in (0.1, 0.4)],
    ],
    ids=lambda smoothers: smoothers[0].estimator,
)
def test_smoothers_that_share_their_work_find_what_each_finds_alone(smoothers):
    X, codes, _ = class_data(n=120)
    targets, ones = class_targets(as_classes(codes)), np.ones(len(X))
    together = evaluate(X, ones, fit_smoother(X, targets, *smoothers))
    for smoother, found in zip(smoothers, together, strict=True):
        (alone,) = evaluate(X, ones, fit_smoother(X, targets, smoother))
        np.testing.assert_allclose(found.sums.total, alone.sums.total, rtol=1e-7, atol=1e-12)


def test_sums_over_parts_of_the_sample_add_up():
    X, y, _ = real_data(n=90)
    targets = real_targets(y)
    places = Coordinates(X.mean(axis=0), None, 0.8)
    rows = places.enter(X[:7], np.float64)
    whole = kernel_sums(rows, make_sample(X, targets, places))[0]
    parts = [
        kernel_sums(rows, make_sample(X[p], targets.take(p), places))[0]
        for p in np.array_split(np.arange(90), 4)
    ]
    merged = merge_all(parts)
    np.testing.assert_allclose(merged.gradients(), whole.gradients(), rtol=1e-10, atol=1e-13)


# Differences -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", list(oracle.PROFILES))
@pytest.mark.parametrize("per", ["one step", "a step a feature"])
def test_differences_are_the_textbooks_2d_evaluations(kernel, per):
    X, y, rng = real_data(n=40)
    weights = rng.uniform(0.5, 2, len(X))
    steps = np.full(3, 0.3) if per == "one step" else np.array([0.1, 0.4, 0.9])
    found = gradients_of(
        X,
        real_targets(y),
        weights=weights,
        estimator="difference",
        bandwidth=1.1,
        kernel=kernel,
        step=0.3 if per == "one step" else steps,
    )
    for x, gradient in zip(X, found, strict=True):
        expected = oracle.difference_gradient(
            x,
            X,
            y[:, None],
            1.1,
            steps,
            kernel,
            trusted=lambda p: oracle.practical(p, X, 1.1),
            weights=weights,
        )
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "triangle"])
@pytest.mark.parametrize("temperature", [None, 0.5])
def test_steps_may_differ_by_feature_and_class(kernel, temperature):
    X, codes, Y = class_data(n=40)
    steps = np.random.default_rng(1).uniform(0.1, 0.8, (3, 4))
    found = gradients_of(
        X,
        class_targets(as_classes(codes)),
        estimator="difference",
        bandwidth=1.0,
        kernel=kernel,
        step=steps,
        temperature=temperature,
    )
    for x, jacobian in zip(X, found, strict=True):
        expected = oracle.difference_gradient(
            x, X, Y, 1.0, steps, kernel, trusted=always, temperature=temperature
        )
        np.testing.assert_allclose(jacobian, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "biweight"])
def test_long_steps_are_trusted_only_where_both_balls_hold_a_sample(kernel):
    X, y, _ = real_data(n=40)
    points = X[:10] + 0.5
    found = gradients_of(
        X,
        real_targets(y),
        points,
        estimator="difference",
        bandwidth=0.6,
        kernel=kernel,
        step=1.0,
    )
    assert (found == 0).any()
    assert (found != 0).any()
    for x, gradient in zip(points, found, strict=True):
        expected = oracle.difference_gradient(
            x, X, y[:, None], 0.6, np.ones(3), kernel, trusted=lambda p: oracle.practical(p, X, 0.6)
        )
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)


def test_the_theoretical_indicator_asks_for_many_samples_nearby():
    X, y, _ = real_data(n=400, d=2)
    found = gradients_of(
        X,
        real_targets(y),
        estimator="difference",
        bandwidth=1.6,
        step=0.4,
        indicator="theoretical",
    )
    trusted = [
        [
            all(oracle.theoretical(x + s * 0.4 * np.eye(2)[i], X, 1.6, 0.05) for s in (-1, 1))
            for i in range(2)
        ]
        for x in X
    ]
    assert 0 < np.mean(trusted) < 1
    np.testing.assert_array_equal(found[:, 0] != 0, trusted)


@pytest.mark.parametrize("spread", [1.0, 300.0])
@pytest.mark.parametrize("step", [0.2, 8.0])
def test_factors_that_would_overflow_are_avoided(spread, step):
    X, y, _ = real_data(n=40)
    X[0, 1] += spread
    found = gradients_of(
        X,
        real_targets(y),
        estimator="difference",
        bandwidth=0.5,
        step=step,
        indicator="none",
    )
    for x, gradient in zip(X, found, strict=True):
        expected = oracle.difference_gradient(
            x, X, y[:, None], 0.5, np.full(3, step), "gaussian", trusted=always
        )
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9)


def test_short_differences_approach_the_analytic_gradient():
    X, y, _ = real_data(n=100)
    targets = real_targets(y)
    short = gradients_of(X, targets, estimator="difference", bandwidth=0.7, step=1e-4)
    exact = gradients_of(X, targets, estimator="analytic", bandwidth=0.7)
    np.testing.assert_allclose(short, exact, rtol=1e-5, atol=1e-7)


# Closed forms ------------------------------------------------------------------------------------


def grid(n=15):
    side = np.linspace(-1, 1, n)
    return np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize(
    "setting",
    [
        {"estimator": "analytic", "bandwidth": 0.25},
        {"estimator": "difference", "bandwidth": 0.25, "step": 0.1},
        {"estimator": "difference", "bandwidth": 0.5, "kernel": "biweight", "step": 1 / 7},
    ],
)
def test_a_linear_function_on_a_grid_has_one_gradient_at_the_centre_of_it(setting):
    X = grid()
    y = 2 * X[:, 0] - X[:, 1]
    found = gradients_of(X, real_targets(y), np.zeros((1, 2)), **setting)[0, 0]
    # Weights are symmetric there, so both slopes shrink by one factor.
    np.testing.assert_allclose(found[0] / found[1], -2, rtol=1e-6)
    assert 0.9 < found[0] / 2 < 1.02


def test_the_local_slope_of_a_linear_function_is_exact_even_at_the_border():
    X = grid()
    y = 2 * X[:, 0] - X[:, 1] + 7
    found = gradients_of(
        X,
        real_targets(y),
        estimator="local-linear",
        bandwidth=1.0,
        kernel="epanechnikov",
        n_local=9,
        ridge=1e-9,
    )
    np.testing.assert_allclose(found[:, 0], np.tile([2.0, -1.0], (len(X), 1)), rtol=1e-6)


def test_the_local_slope_of_a_quadratic_is_its_gradient_inside_the_grid():
    X = grid(21)
    inside = np.all(np.abs(X) < 0.75, axis=1)
    y = X[:, 0] ** 2 + X[:, 0] * X[:, 1]
    found = gradients_of(
        X,
        real_targets(y),
        X[inside],
        estimator="local-linear",
        bandwidth=0.15,
        kernel="biweight",
        ridge=1e-9,
    )
    expected = np.stack([2 * X[:, 0] + X[:, 1], X[:, 0]], axis=1)[inside]
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-6)


# Local linear ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_local", [5, 12, 40])
def test_local_slopes_solve_the_normal_equations_primal_and_dual(n_local):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    codes = rng.integers(0, 3, 60)
    found = gradients_of(
        X,
        class_targets(as_classes(codes)),
        estimator="local-linear",
        bandwidth=2.0,
        kernel="epanechnikov",
        n_local=n_local,
        ridge=0.2,
    )
    for x, slopes in zip(X[:10], found, strict=False):
        distance = np.linalg.norm(X - x, axis=1)
        near = np.argsort(distance)[:n_local]
        ratio = distance[near] ** 2 / (distance[near].max() ** 2 * (1 + 0.1 / n_local))
        expected = oracle.local_slope(x, X[near], np.eye(3)[codes[near]], 1 - ratio, 0.2)
        np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-6)  # single precision


def test_rows_far_from_their_middle_are_solved_in_double_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + np.where(np.arange(60) % 2, 1e6, -1e6)[:, None]
    targets = real_targets(X @ [2.0, -1.0, 0.5] - 1.5 * X[:, 0] + rng.normal(size=60))
    told = {"estimator": "local-linear", "kernel": "epanechnikov", "n_local": 12, "ridge": 0.2}
    found = gradients_of(X, targets, bandwidth=1.0, **told)
    y = targets.values * targets.scale
    for x, slope in zip(X, found, strict=True):
        distance = np.linalg.norm(X - x, axis=1)
        near = np.argsort(distance)[:12]
        ratio = distance[near] ** 2 / (distance[near].max() ** 2 * (1 + 0.1 / 12))
        expected = oracle.local_slope(x, X[near], y[near, None], 1 - ratio, 0.2)
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)


def test_a_fixed_bandwidth_takes_all_rows_within_it():
    X, y, _ = real_data(n=80, d=2)
    found = gradients_of(
        X,
        real_targets(y),
        estimator="local-linear",
        bandwidth=0.9,
        kernel="triangle",
        ridge=0.1,
    )
    for x, slope in zip(X, found, strict=True):
        mass = oracle.PROFILES["triangle"](np.linalg.norm(X - x, axis=1) / 0.9)
        near = mass > 0
        if near.sum() > 1:
            expected = oracle.local_slope(x, X[near], y[near, None], mass[near], 0.1)
            np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-9)
        else:
            np.testing.assert_array_equal(slope, 0)


# Agnosticism -----------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["analytic", "difference", "local-linear", "kernel-ridge"])
@given(st.integers(1, 70), st.integers(1, 3))
def test_neither_blocks_nor_threads_change_the_sums(estimator, block_size, n_threads):
    X, codes, _ = class_data()
    kernel = "epanechnikov" if estimator == "local-linear" else "gaussian"
    fitted = fit_smoother(
        X, class_targets(as_classes(codes)), Smoother(estimator, 0.9, kernel, n_local=9)
    )
    ones = np.ones(len(X))
    expected = evaluate(X, ones, fitted)[0].sums
    found = evaluate(X, ones, fitted, Blocks(block_size, n_threads))[0].sums
    np.testing.assert_allclose(found.total, expected.total, rtol=1e-9, atol=1e-12)


@given(st.lists(st.integers(0, 59), min_size=1, max_size=4, unique=True))
def test_sums_over_any_parts_of_the_points_add_up_to_the_whole(cuts):
    X, y, rng = real_data()
    fitted = fit_smoother(X, real_targets(y), Smoother("analytic", 0.8))
    weights = rng.uniform(0, 2, len(X))
    whole = evaluate(X, weights, fitted)[0].sums
    parts = [p for p in np.split(np.arange(60), sorted(cuts)) if len(p)]
    merged = merge_all(evaluate(X[p], weights[p], fitted)[0].sums for p in parts)
    assert merged.count == whole.count
    np.testing.assert_allclose(merged.weight, whole.weight, rtol=1e-12)
    np.testing.assert_allclose(merged.total, whole.total, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_units_of_x_and_y_only_change_the_units_of_the_gradient(scale):
    X, y, _ = real_data()
    expected = gradients_of(X, real_targets(y), estimator="analytic", bandwidth=0.7)
    found = gradients_of(
        X * scale, real_targets(y / scale), estimator="analytic", bandwidth=0.7 * scale
    )
    np.testing.assert_allclose(found * scale**2, expected, rtol=1e-6, atol=1e-9)


def test_an_outlier_far_beyond_single_precision_spoils_no_other_gradient():
    X, y, _ = real_data(n=3000)
    targets = real_targets(y)
    expected = gradients_of(X, targets, X[:50], estimator="analytic", bandwidth=0.7)
    X[-1] += 1e6
    found = gradients_of(X, targets, X[:50], estimator="analytic", bandwidth=0.7)
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)
    lonely = gradients_of(X, targets, X[-1:], estimator="analytic", bandwidth=0.7)
    np.testing.assert_allclose(lonely, 0, atol=1e-6)
