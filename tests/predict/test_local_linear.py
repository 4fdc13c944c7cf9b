"""Local linear regression under any metric, against its normal equations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from tests.oracles import gradients as oracle

from vicinal import EGOP, KNNRegressor, LocalLinearRegressor, load_model, save_model


def curved_data(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.mark.parametrize("k", [2, 8, 40])
@pytest.mark.parametrize("kernel", ["epanechnikov", "triangle", "biweight"])
def test_a_prediction_is_the_height_of_the_weighted_ridge_plane(k, kernel):
    X, y = curved_data()
    queries = X[:10] + 0.05
    found = LocalLinearRegressor(k, ridge=0.2, kernel=kernel).fit(X, y).predict(queries)
    for x, height in zip(queries, found, strict=True):
        distance = np.linalg.norm(X - x, axis=1)
        near = np.argsort(distance)[:k]
        radius = distance[near].max() * np.sqrt(1 + 0.1 / k)
        mass = oracle.PROFILES[kernel](distance[near] / radius)
        slope = oracle.local_slope(x, X[near], y[near, None], mass, 0.2)[0]
        mass = mass / mass.sum()
        np.testing.assert_allclose(height, mass @ y[near] + slope @ (x - mass @ X[near]))


def test_a_plane_is_predicted_exactly_even_outside_the_rows():
    X, _ = curved_data()
    y = 3 * X[:, 0] - X[:, 2] + 1
    queries = np.array([[2.0, 2.0, -2.0], [0.0, 0.0, 0.0]])
    found = LocalLinearRegressor(20, ridge=1e-9).fit(X, y).predict(queries)
    np.testing.assert_allclose(found, [9.0, 1.0], rtol=1e-6)


def test_a_large_ridge_leaves_the_weighted_mean():
    X, y = curved_data()
    model = LocalLinearRegressor(9, ridge=1e9).fit(X, y)
    distances, indices = model.kneighbors(X[:5] + 0.01)
    mass = 1 - distances**2 / (distances[:, -1:] ** 2 * (1 + 0.1 / 9))
    expected = (mass * y[indices]).sum(axis=1) / mass.sum(axis=1)
    np.testing.assert_allclose(model.predict(X[:5] + 0.01), expected, rtol=1e-6)


def test_slopes_beat_means_on_a_smooth_target():
    X, y = curved_data(600)
    errors = [
        np.mean((model.fit(X[:400], y[:400]).predict(X[400:]) - y[400:]) ** 2)
        for model in (KNNRegressor(5), LocalLinearRegressor())
    ]
    assert errors[1] < 0.5 * errors[0]


def test_leave_one_out_takes_fewer_neighbours_without_noise_than_with_it():
    X, y = curved_data(600)
    noisy = y + 2 * np.random.default_rng(1).normal(size=600)
    clean, noisy = (LocalLinearRegressor().fit(X, z).n_neighbors_ for z in (y, noisy))
    assert clean < noisy


def test_it_works_over_a_learned_metric_and_a_transformer():
    X, y = curved_data(300, d=8)
    learned = LocalLinearRegressor(metric=EGOP(random_state=0)).fit(X[:200], y[:200])
    plain = LocalLinearRegressor().fit(X[:200], y[:200])
    assert learned.score(X[200:], y[200:]) > plain.score(X[200:], y[200:])
    reduced = LocalLinearRegressor(metric=PCA(2)).fit(X, y)
    assert reduced.predict(X).shape == (300,)
    frozen = LocalLinearRegressor(metric=FrozenEstimator(learned.metric_)).fit(X[:200], y[:200])
    np.testing.assert_array_equal(frozen.predict(X), learned.predict(X))


def test_several_outputs_are_predicted_as_each_alone():
    X, y = curved_data()
    both = LocalLinearRegressor(15, ridge=0.1).fit(X, np.stack([y, -2 * y], axis=1))
    alone = LocalLinearRegressor(15, ridge=0.1).fit(X, y).predict(X)
    np.testing.assert_allclose(both.predict(X), np.stack([alone, -2 * alone], axis=1), atol=1e-9)


def test_equal_rows_get_their_mean():
    X, y = np.zeros((10, 2)), np.arange(10.0)
    np.testing.assert_allclose(LocalLinearRegressor(10).fit(X, y).predict([[0.0, 0.0]]), [4.5])


def test_a_saved_model_predicts_the_same(tmp_path):
    X, y = curved_data(100)
    model = LocalLinearRegressor(metric=EGOP(random_state=0)).fit(X, y)
    save_model(model, tmp_path / "model.vicinal")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.vicinal").predict(X), model.predict(X)
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": -1.0}, "ridge must be a number zero or more, got -1.0"),
        ({"ridge": "auto"}, "ridge must be a number"),
        ({"kernel": "gaussian"}, "kernel must be one of"),
        ({"n_neighbors": 0}, "n_neighbors must be at least 1"),
        ({"n_neighbors": 301}, "n_neighbors=301 is more than"),
    ],
)
def test_nonsense_is_refused_with_its_value(parameters, message):
    X, y = curved_data()
    with pytest.raises(ValueError, match=message):
        LocalLinearRegressor(**parameters).fit(X, y)
