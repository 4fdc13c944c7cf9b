"""Two maps: gradients by finite differences, the offset, and the surface of a learner."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine

from vicinal import MLNG, AsymmetricMLNG, ExactIndex, KNNClassifier, load_model, save_model
from vicinal.metric.candidates import SEARCHES, order_by_class
from vicinal.metric.gerrymander._objective import PartedObjective, force_gradient
from vicinal.metric.gerrymander._regularizers import TWO_MAPS


def finite_difference(function, maps, step=1e-6):
    gradient = np.zeros_like(maps)
    for place in np.ndindex(maps.shape):
        moved = maps.copy()
        moved[place] += step
        up = function(moved)
        moved[place] -= 2 * step
        gradient[place] = (up - function(moved)) / (2 * step)
    return gradient


def quick(**parameters):
    return AsymmetricMLNG(
        n_neighbors=3, init="lda", learning_rate=0.05, max_iter=4, random_state=0, **parameters
    )


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def fitted(wine):
    return quick().fit(wine[0], wine[1])


@pytest.mark.parametrize("name", TWO_MAPS)
def test_gradients_of_regularisers_are_those_of_finite_differences(name):
    maps = np.random.default_rng(0).normal(size=(2, 3, 4))
    value, gradient = TWO_MAPS[name](maps)
    assert value > 0
    assert_allclose(gradient, finite_difference(lambda m: TWO_MAPS[name](m)[0], maps), atol=1e-4)


def test_the_joint_regulariser_is_half_the_squared_norm_of_the_large_matrix():
    U, V = np.random.default_rng(1).normal(size=(2, 3, 5))
    W = np.block([[U.T @ U, -U.T @ V], [-V.T @ U, V.T @ V]])
    assert TWO_MAPS["joint"](np.stack([U, V]))[0] == pytest.approx(0.5 * np.sum(W**2))


def test_the_gradient_of_pairs_is_that_of_finite_differences():
    rng = np.random.default_rng(2)
    X, maps = rng.normal(size=(8, 4)), rng.normal(size=(2, 3, 4))
    queries, points = rng.integers(0, 8, (2, 20)).astype(np.int32)
    weights = rng.normal(size=20)

    def total(both):
        gaps = X[queries] @ both[0].T - X[points] @ both[1].T
        return float(weights @ np.sum(gaps**2, axis=1))

    gradient = force_gradient(maps, X, queries, points, weights)
    assert_allclose(gradient, finite_difference(total, maps), atol=1e-5)


class Quadratic:
    """An objective of stacked maps with a known gradient."""

    n_rows = 1

    def look(self, parameters, epoch):
        pass

    def infer(self, parameters, rows):
        return None

    def gradient(self, parameters, sets, part):
        return float(np.sum(parameters**3)), 3 * parameters**2

    def settle(self, parameters):
        return parameters

    def components(self, parameters):
        return parameters


def test_the_gradient_in_mean_and_difference_is_that_of_finite_differences():
    objective = PartedObjective(Quadratic(), spread=0.3)
    parameters = np.random.default_rng(3).normal(size=(2, 2, 3))
    _, gradient = objective.gradient(parameters, None, slice(0, 1))
    expected = finite_difference(lambda p: objective.gradient(p, None, slice(0, 1))[0], parameters)
    assert_allclose(gradient, expected, atol=1e-6)


@pytest.mark.parametrize("previous", [False, True])
def test_candidates_of_queries_are_those_of_all_distances(previous):
    rng = np.random.default_rng(4)
    points, queries = rng.normal(size=(2, 90, 3))
    classes = order_by_class(np.repeat(np.arange(3), 30))
    search = SEARCHES["exact"]
    first = search(points, classes, 4, 6) if previous else None
    found = search(points, classes, 4, 6, queries=queries + 2, previous=first)
    distances = np.sum((queries[:, None] + 2 - points) ** 2, axis=2)
    np.fill_diagonal(distances, np.inf)
    own = classes.codes[:, None] == classes.codes
    for side, count, columns in ((own, 4, slice(0, 4)), (~own, 6, slice(4, 10))):
        nearest = np.argsort(np.where(side, distances, np.inf), axis=1)[:, :count]
        assert_array_equal(np.sort(nearest, axis=1), found[:, columns])


def test_the_offset_makes_the_mean_lie_at_distance_zero_of_itself(wine, fitted):
    mean = wine[0].mean(axis=0, keepdims=True)
    assert_allclose(fitted.transform_queries(mean), fitted.transform(mean), atol=1e-8)
    assert not np.allclose(fitted.query_components_, fitted.components_)


def test_the_large_matrix_gives_the_squared_distances(wine, fitted):
    X = wine[0]
    mean = X.mean(axis=0)
    W = fitted.get_mahalanobis_matrix()
    both = np.concatenate([X[:5] - mean, X[5:10] - mean], axis=1)
    squared = np.einsum("ij,jk,ik->i", both, W, both)
    pairs = np.stack([X[:5], X[5:10]], axis=1)
    assert_allclose(fitted.pair_distance(pairs) ** 2, squared, rtol=1e-8)
    assert fitted.get_metric()(X[0], X[5]) == pytest.approx(fitted.pair_distance(pairs)[0])


def test_a_row_need_not_be_at_distance_zero_of_itself(wine, fitted):
    pairs = np.stack([wine[0], wine[0]], axis=1)
    assert fitted.pair_distance(pairs).max() > 1e-6


def test_any_euclidean_index_answers_its_queries(wine, fitted):
    X, y, Z, _ = wine
    model = KNNClassifier(3, quick()).fit(X, y)
    _, expected = ExactIndex(fitted.transform(X)).query(fitted.transform_queries(Z), 3)
    assert_array_equal(model.kneighbors(Z, return_distance=False), expected)


def test_it_errs_no_more_than_the_features(wine):
    X, y, Z, z = wine
    model = KNNClassifier(3, quick()).fit(X, y)
    assert model.score(Z, z) >= KNNClassifier(3).fit(X, y).score(Z, z)
    assert model.metric_.loss_curve_[-1] < model.metric_.loss_curve_[0]


def test_a_fitted_symmetric_metric_is_a_start(wine):
    X, y = wine[:2]
    start = MLNG(3, init="lda", learning_rate=0.03, max_iter=2, random_state=0).fit(X, y)
    metric = AsymmetricMLNG(3, init=start.components_, learning_rate=1e-9, max_iter=1).fit(X, y)
    assert_allclose(metric.components_, start.components_, rtol=1e-4, atol=1e-5)
    assert_allclose(metric.query_components_, start.components_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("regularizer", TWO_MAPS)
def test_regularisers_hold_the_maps_back(wine, fitted, regularizer):
    X, y = wine[:2]
    held = quick(regularizer=regularizer, regularization=10.0).fit(X, y)
    assert np.linalg.norm(held.components_) < np.linalg.norm(fitted.components_)


def test_a_warm_start_goes_on_from_both_maps(wine):
    X, y = wine[:2]
    metric = quick(warm_start=True).fit(X, y)
    before = metric.query_components_.copy()
    metric.set_params(learning_rate=1e-9, max_iter=1).fit(X, y)
    assert_allclose(metric.query_components_, before, rtol=1e-5, atol=1e-6)


def test_a_model_file_keeps_both_maps_and_the_offset(wine, tmp_path):
    X, y, Z, _ = wine
    model = KNNClassifier(3, quick()).fit(X, y)
    save_model(model, tmp_path / "two.vicinal")
    again = load_model(tmp_path / "two.vicinal")
    assert_array_equal(again.predict(Z), model.predict(Z))
    assert_array_equal(again.metric_.query_offset_, model.metric_.query_offset_)


def test_it_is_deterministic_and_keeps_float32(wine):
    X, y = wine[0].astype(np.float32), wine[1]
    first, second = quick().fit(X, y), quick().fit(X, y)
    assert first.transform_queries(X).dtype == np.float32
    assert_array_equal(first.query_components_, second.query_components_)


def test_bad_input_is_refused_in_words(wine, fitted):
    X, y = wine[:2]
    with pytest.raises(ValueError, match="regularizer must be one of None, 'joint'"):
        quick(regularizer="frobenius").fit(X, y)
    with pytest.raises(ValueError, match="features"):
        fitted.transform_queries(X[:, :5])
    with pytest.raises(ValueError, match="n_neighbors"):
        AsymmetricMLNG(n_neighbors=500).fit(X, y)
