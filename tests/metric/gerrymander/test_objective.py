"""The loss on signed pairs: gradients by finite differences, regularisers too."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from vicinal.metric.descent._projected import project_to_cone

from vicinal.metric.candidates._exact import all_candidates, order_by_class, squared_distances_to
from vicinal.metric.gerrymander._factored import FactoredObjective
from vicinal.metric.gerrymander._objective import REGULARIZERS, factored_regularizer


def objective(seed=0, **options):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=40)
    classes = order_by_class(codes)
    X = rng.normal(size=(40, 5))
    made = FactoredObjective(X, classes, 3, 1.0 - np.eye(3), 9, 40, **options)
    made.candidates = all_candidates(classes.codes)
    return made


def mean_loss(made, parameters):
    everything = np.arange(made.n_rows)
    sets = made.infer(parameters, everything)
    return made.gradient(parameters, sets, slice(0, made.n_rows))[0] / made.n_rows


@pytest.mark.parametrize("regularizer", [None, "frobenius", "trace", "identity"])
def test_the_gradient_is_that_of_the_loss(regularizer):
    weights = np.linspace(0.5, 1.5, 40)
    made = objective(regularizer=regularizer, regularization=0.1, weights=weights)
    rng = np.random.default_rng(1)
    parameters = rng.normal(size=(4, 5)) / 2
    everything = np.arange(made.n_rows)
    sets = made.infer(parameters, everything)
    _, gradient = made.gradient(parameters, sets, slice(0, made.n_rows))
    step = rng.normal(size=parameters.shape)
    h = 1e-6
    slope = (mean_loss(made, parameters + h * step) - mean_loss(made, parameters - h * step)) / (
        2 * h
    )
    assert_allclose(np.vdot(gradient, step), slope, rtol=1e-5)


def test_the_loss_is_never_negative_and_zero_loss_moves_nothing():
    made = objective()
    sets = made.infer(np.eye(5), np.arange(40))
    assert (sets.loss >= 0).all()
    pairs = np.diff(sets.starts)
    assert (pairs[sets.loss == 0] == 0).all()


@pytest.mark.parametrize("name", sorted(REGULARIZERS))
def test_regularisers_have_their_gradients(name):
    rng = np.random.default_rng(2)
    components, step = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    _, gradient = factored_regularizer(name, components)
    h = 1e-6
    up, down = (factored_regularizer(name, components + s * h * step)[0] for s in (1, -1))
    assert_allclose(np.vdot(gradient, step), (up - down) / (2 * h), rtol=1e-6)


def test_the_projection_is_the_nearest_metric():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(6, 6))
    A = A + A.T
    projected, factor = project_to_cone(A)
    assert_allclose(factor.T @ factor, projected)
    assert np.linalg.eigvalsh(projected).min() > -1e-10
    # Optimality on a cone: what was taken away is orthogonal to what is left, and negative.
    assert_allclose(np.vdot(A - projected, projected), 0, atol=1e-9)
    assert np.linalg.eigvalsh(A - projected).max() < 1e-9


def test_mapping_only_the_rows_that_occur_gives_the_same_sets():
    made = objective()
    made.candidates = made.candidates[:, :6].copy()
    made.candidates[::3, 2] = -1
    some = np.array([3, 17, 31])
    few, labels = made._distances_of_few(np.eye(5), some)
    full, full_labels = squared_distances_to(
        made.X, made.X, some, made.candidates, made.classes.codes
    )
    assert_allclose(few, full)
    assert_array_equal(labels, full_labels)
