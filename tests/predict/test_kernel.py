"""Kernel machines in a learned metric: as by the textbook, chosen by rows without themselves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine, make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import scale
from tests.oracles.kernels import kernel_matrix, kernel_ridge

from vicinal import (
    LDA,
    LSH,
    KernelClassifier,
    KernelRegressor,
    KNNClassifier,
    KNNRegressor,
    load_model,
    save_model,
)
from vicinal.predict._kernel_ridge import RIDGES, KernelSettings, _errors, solve_kernel


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def wave(n=300, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + noise * rng.normal(size=n)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_the_regression_is_that_of_the_textbook(kernel):
    X, y = wave(80)
    model = KernelRegressor(kernel=kernel, bandwidth=0.7, ridge=0.1).fit(X[:60], y[:60])
    expected = kernel_ridge(X[:60], y[:60, None], X[60:], kernel, 0.7, 0.1)[:, 0]
    assert_allclose(model.predict(X[60:]), expected, atol=1e-5)


def test_the_oracle_is_scikit_learns():
    X, y = wave(60)
    centred = KernelRidge(alpha=0.1, kernel="rbf", gamma=1 / (2 * 0.7**2)).fit(X, y - y.mean())
    found = kernel_ridge(X, y[:, None], X + 0.1, "gaussian", 0.7, 0.1)[:, 0]
    assert_allclose(found, centred.predict(X + 0.1) + y.mean())


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_the_error_without_a_row_is_that_of_a_fit_without_it(kernel):
    X, y = wave(40)
    settings, columns = KernelSettings(kernel, 0.8, 0.1), y[:, None]
    found = _errors(X, columns, np.ones(40), X, settings, RIDGES)
    centred = columns - columns.mean()  # of all rows, which is what one decomposition can tell
    for place, ridge in enumerate(RIDGES):
        errors = []
        for i in range(40):
            others = np.delete(np.arange(40), i)
            inside = kernel_matrix(X[others], X[others], kernel, 0.8) + ridge * np.eye(39)
            own = kernel_matrix(X[[i]], X[others], kernel, 0.8)
            errors.append(own @ np.linalg.solve(inside, centred[others]) - centred[i])
        assert found[place] == pytest.approx(np.mean(np.square(errors)), rel=1e-3)


def test_landmarks_come_near_the_whole_regression():
    X, y = wave(600)
    whole = KernelRegressor(bandwidth=0.7, ridge=0.3, kernel="gaussian").fit(X, y)
    part = KernelRegressor(bandwidth=0.7, ridge=0.3, kernel="gaussian", n_landmarks=100).fit(X, y)
    assert_allclose(part.predict(X[:50]), whole.predict(X[:50]), atol=0.05)


def test_weights_are_copies_of_rows():
    X, y = wave(50)
    counts = np.arange(50) % 3 + 1
    settings, rng = KernelSettings("gaussian", 0.7, 0.5), np.random.default_rng(0)
    order = np.repeat(np.arange(50), counts)
    weighed = solve_kernel(X, y[:, None], counts.astype(float), settings, 1000, rng)
    copied = solve_kernel(X[order], y[order, None], None, settings, 1000, rng)
    assert_allclose(weighed.predict(X), copied.predict(X), atol=1e-4)


def test_settings_are_chosen_well_enough_to_beat_five_neighbours():
    X, y = wave(500)
    kernel = KernelRegressor().fit(X[::2], y[::2])
    plain = KNNRegressor().fit(X[::2], y[::2])
    errors = [np.mean((m.predict(X[1::2]) - y[1::2]) ** 2) for m in (kernel, plain)]
    assert errors[0] < errors[1]
    assert errors[0] < 1.5 * 0.2**2


def test_classes_are_told_by_the_largest_regression():
    X, y = wine()
    names = np.array(["a", "b", "c"])[y]
    model = KernelClassifier(LDA(), n_landmarks=40).fit(X[::2], names[::2])
    proba = model.predict_proba(X[1::2])
    assert model.score(X[1::2], names[1::2]) > 0.95
    assert_allclose(proba.sum(axis=1), 1)
    assert proba.min() > 0
    assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[1::2]))


def test_several_targets_are_predicted_at_once():
    X, y = wave(80)
    both = KernelRegressor(bandwidth=1.0, ridge=0.1).fit(X, np.stack([y, -y], axis=1)).predict(X)
    assert_allclose(both[:, 0], -both[:, 1])


def test_rows_that_join_have_their_say():
    X, y = wave(200)
    model = KernelRegressor().fit(X[:100], y[:100])
    model.add_rows(X[100:], y[100:])
    given = {"kernel": model.kernel_, "bandwidth": model.bandwidth_, "ridge": model.ridge_}
    assert_array_equal(model.predict(X), KernelRegressor(**given).fit(X, y).predict(X))


def test_bits_have_no_kernel_and_strange_settings_are_refused():
    X, y = wine()
    with pytest.raises(ValueError, match="has no kernel"):
        KernelClassifier(LSH(16)).fit(X, y)
    for parameters in ({"kernel": "cubic"}, {"bandwidth": 0}, {"ridge": -1}, {"n_landmarks": 0}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            KernelClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_or_equal_rows_are_no_obstacle(n_rows):
    X = np.ones((n_rows, 2))
    assert np.isfinite(KernelRegressor().fit(X, np.arange(n_rows)).predict(X)).all()
    assert KernelClassifier().fit(X, np.arange(n_rows) % 2).predict(X)[0] in (0, 1)


# Heads beside the vote -------------------------------------------------------------------------


def test_a_kernel_predicts_where_it_is_better_and_the_vote_where_that_is():
    X, y = wave(400, noise=0.0)
    model = KNNRegressor("auto", weights="auto").fit(X, y)
    assert "vote" not in model.heads_
    steps = (np.floor(3 * X).sum(axis=1) % 2).astype(int)
    voted = KNNClassifier("auto", weights="auto").fit(X, steps)
    assert voted.heads_[0] in ("vote", "kernel")


def test_what_held_out_rows_cannot_tell_apart_is_averaged():
    X, y = make_moons(300, noise=0.4, random_state=0)
    model = KNNClassifier("auto", weights="auto").fit(X, y)
    assert set(model.heads_) == {"vote", "kernel"}
    kernel = model._fitted_heads[0]
    queries = X + 0.01
    model_shares = model.predict_proba(queries)
    soft = model.predict_proba(queries) * 2 - kernel.predict_proba(queries)
    assert_allclose(soft.sum(axis=1), 1)
    assert_allclose(model_shares.sum(axis=1), 1)
    assert soft.min() > -1e-12


def test_a_model_with_heads_is_saved_and_its_rows_change(tmp_path):
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = KNNClassifier("auto", LDA(), weights="auto").fit(X, np.array(["a", "b"])[y])
    numbers = KNNRegressor("auto", weights="auto").fit(X, X[:, 0] ** 2)
    for each, added in ((model, ["a"]), (numbers, [0.3])):
        save_model(each, tmp_path / "model.vicinal")
        again = load_model(tmp_path / "model.vicinal")
        assert_array_equal(again.predict(X), each.predict(X))
        each.add_rows(X[:1] + 9, added)
        again.add_rows(X[:1] + 9, added)
        assert_array_equal(again.predict(X + 0.1), each.predict(X + 0.1))
        assert each.remove_rows(np.arange(150)).predict(X[:3]).shape == (3,)


def test_bits_have_the_vote_alone():
    X, y = wine()
    assert KNNClassifier("auto", LSH(32), weights="auto").fit(X, y).heads_ == ("vote",)
