"""The vote that is chosen: k, temperature, and probabilities worth reading."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_wine, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, scale

from vicinal import (
    LDA,
    LSH,
    MLNG,
    AutoMetric,
    KNNClassifier,
    KNNRegressor,
    load_model,
    save_model,
)
from vicinal._types import Fold
from vicinal.metric.maps import PLAIN
from vicinal.predict._held_out import look_at_folds

PREDICTORS = [KNNClassifier, KNNRegressor]


def moons(n=400, noise=0.35, seed=0):
    return make_moons(n, noise=noise, random_state=seed)


def soft_shares(distances, labels, temperature, n_classes, prior, n):
    """By hand: softmax of minus distances, and one row's share for the prior."""
    weights = np.exp(-distances / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    shares = np.stack([(weights * (labels == r)).sum(axis=1) for r in range(n_classes)], axis=1)
    return (n * shares + prior) / (n + 1)


def others_of(X, k):
    distances, near = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    assert_array_equal(near[:, 0], np.arange(len(X)))
    return distances[:, 1:], near[:, 1:]


def test_the_temperature_is_that_of_least_log_loss_of_each_row_among_the_others():
    X, y = moons()
    model = KNNClassifier(weights="learned").fit(X, y)
    distances, near = others_of(X, 64)
    prior = np.bincount(y) / len(y)

    def loss(log_temperature):
        shares = soft_shares(distances, y[near], np.exp(log_temperature), 2, prior, len(y))
        return log_loss(y, shares)

    best = minimize_scalar(loss, bounds=(-6, 3), method="bounded")
    assert loss(np.log(model.temperature_)) < best.fun + 1e-3
    expected = soft_shares(distances, y[near], model.temperature_, 2, prior, len(y))
    assert_allclose(model.held_out_proba_, expected)
    assert_array_equal(model.held_out_rows_, np.arange(len(y)))
    assert model.n_neighbors_ == 64


def test_new_rows_get_the_shares_of_a_slow_loop_and_the_largest_wins():
    X, y = moons()
    model = KNNClassifier(weights="learned").fit(X[::2], y[::2])
    distances, near = NearestNeighbors(n_neighbors=64).fit(X[::2]).kneighbors(X[1::2])
    prior = np.bincount(y[::2]) / len(y[::2])
    expected = soft_shares(distances, y[::2][near], model.temperature_, 2, prior, len(y[::2]))
    proba = model.predict_proba(X[1::2])
    assert_allclose(proba, expected)
    assert_array_equal(model.predict(X[1::2]), proba.argmax(axis=1))
    assert proba.min() > 0


def test_learned_weights_are_surer_than_equal_ones_of_five():
    X, y = moons(1000)
    soft = KNNClassifier(weights="learned").fit(X[::2], y[::2])
    hard = KNNClassifier().fit(X[::2], y[::2])
    losses = [log_loss(y[1::2], model.predict_proba(X[1::2])) for model in (soft, hard)]
    assert losses[0] < 0.6 * losses[1]


def test_many_neighbours_are_taken_where_labels_are_noise_and_few_where_they_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    noisy = (rng.random(500) < np.where(X[:, 0] > 0, 0.75, 0.25)).astype(int)
    assert KNNClassifier("auto").fit(X, noisy).n_neighbors_ >= 17
    checks = (np.floor(2.5 * X).sum(axis=1) % 2).astype(int)
    assert KNNClassifier("auto").fit(X, checks).n_neighbors_ <= 3


def test_the_largest_number_within_a_standard_error_of_the_best_is_taken():
    X, y = moons(300)
    model = KNNClassifier("auto").fit(X, y)
    _, near = others_of(X, 64)
    losses = {}
    for k in (1, 2, 3, 5, 7, 9, 13, 17, 25, 35, 49, 64):
        own = (y[near[:, :k]] == y[:, None]).mean(axis=1)
        wrong = (own < 0.5) | ((own == 0.5) & (y[near[:, 0]] != y))
        losses[k] = wrong + 0.25 * (1 - own)
    best = min(losses, key=lambda k: losses[k].mean())
    gaps = {k: loss - losses[best] for k, loss in losses.items()}
    level = [k for k, gap in gaps.items() if gap.mean() <= gap.std() / np.sqrt(len(gap))]
    assert model.n_neighbors_ == max(level)


def test_numbers_are_meant_at_the_temperature_of_least_squared_error():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=500)
    model = KNNRegressor(weights="learned").fit(X, y)
    distances, near = others_of(X, 64)

    def error(temperature):
        weights = np.exp(-(distances - distances[:, :1]) / temperature)
        return np.mean(((weights * y[near]).sum(axis=1) / weights.sum(axis=1) - y) ** 2)

    tried = [error(t) for t in np.geomspace(0.01, 10, 200)]
    assert error(model.temperature_) < min(tried) * 1.01
    assert np.mean((model.held_out_predictions_ - y) ** 2) == pytest.approx(
        error(model.temperature_)
    )
    assert KNNRegressor("auto").fit(X, y).n_neighbors_ > 1


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_a_metric_that_saw_the_rows_is_judged_without_them(predictor):
    """A metric that looks labels up is perfect on its own rows, and held-out votes know better."""

    class Cheat(TransformerMixin, BaseEstimator):
        def fit(self, X, y):
            self.known_ = {tuple(row): value for row, value in zip(X.tolist(), y, strict=True)}
            return self

        def transform(self, X):
            return np.array([[self.known_.get(tuple(row), 0)] for row in X.tolist()], float)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    model = predictor(metric=Cheat(), weights="learned").fit(X, y)
    held = vars(model).get("held_out_proba_")
    held = held[:, 1] if held is not None else model.held_out_predictions_
    assert np.mean((held > 0.5) == y[model.held_out_rows_]) < 0.65


def test_a_frozen_metric_and_one_that_sees_no_labels_are_not_fitted_again():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    frozen = FrozenEstimator(LDA().fit(X[::2], y[::2]))
    model = KNNClassifier("auto", frozen, weights="learned").fit(X[1::2], y[1::2])
    assert_array_equal(model.held_out_rows_, np.arange(len(X[1::2])))
    codes = KNNClassifier(3, LSH(64, random_state=0), weights="learned").fit(X, y)
    assert np.mean(codes.held_out_proba_.argmax(axis=1) == y) > 0.8


def test_the_fitted_metric_is_that_of_a_fit_with_a_vote_of_equals():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    for metric in (LDA(), make_pipeline(StandardScaler(), LDA())):
        soft = KNNClassifier(3, metric, weights="learned").fit(X, y)
        hard = KNNClassifier(3, metric).fit(X, y)
        assert_array_equal(soft.kneighbors(X, 3)[1], hard.kneighbors(X, 3)[1])


def test_every_row_of_a_small_table_has_a_held_out_vote_under_a_learned_metric():
    X, y = load_wine(return_X_y=True)
    model = KNNClassifier("auto", MLNG(random_state=0, max_iter=2), weights="learned")
    model.fit(scale(X), np.array(["a", "b", "c"])[y])
    assert_array_equal(model.held_out_rows_, np.arange(len(y)))
    assert model.held_out_proba_.shape == (len(y), 3)
    assert np.mean(model.held_out_proba_.argmax(axis=1) == y) > 0.9


def test_groups_are_held_out_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 8)
    X = np.repeat(rng.normal(size=(30, 3)), 8, axis=0) + 0.01 * rng.normal(size=(240, 3))
    y = rng.integers(2, size=30)[groups]
    metric = AutoMetric([LDA()], random_state=0)
    apart = KNNClassifier("auto", metric, weights="learned").fit(X, y, groups=groups)
    together = KNNClassifier("auto", metric, weights="learned").fit(X, y)
    hits = [np.mean(m.held_out_proba_.argmax(axis=1) == y) for m in (apart, together)]
    assert hits[0] < 0.7 < 0.85 < hits[1]


def test_rows_without_weight_have_no_vote_and_no_held_out_one():
    X, y = moons()
    weights = np.ones(len(y))
    weights[::3] = 0
    kept = weights > 0
    some = KNNClassifier(weights="learned").fit(X, y, weights)
    alone = KNNClassifier(weights="learned").fit(X[kept], y[kept])
    assert some.temperature_ == alone.temperature_
    assert_allclose(some.predict_proba(X), alone.predict_proba(X))
    assert_array_equal(some.held_out_rows_, np.flatnonzero(kept))


def test_equal_distances_leave_the_temperature_at_one():
    y = np.arange(12) % 3
    model = KNNClassifier(weights="learned").fit(np.zeros((12, 2)), y)
    assert model.temperature_ == 1.0
    assert_allclose(model.predict_proba(np.zeros((1, 2))).sum(), 1)
    assert np.isfinite(KNNRegressor(1, weights="learned").fit(np.eye(3), [0.0, 1, 2]).temperature_)


@pytest.mark.parametrize("predictor", PREDICTORS)
@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_few_rows_are_no_obstacle(predictor, n_rows):
    X, y = np.arange(float(n_rows))[:, None], np.arange(n_rows)
    for model in (
        predictor("auto"),
        predictor(1, weights="learned"),
        predictor("auto", weights="learned"),
    ):
        assert model.fit(X, y).predict([[0.2]])[0] <= n_rows


def test_a_class_of_one_row_keeps_a_share():
    X, y = moons(100)
    y[17] = 2
    model = KNNClassifier("auto", LDA(), weights="learned").fit(X, y)
    proba = model.predict_proba(X + 0.01)
    assert proba.shape == (100, 3)
    assert proba.min() > 0


def test_a_head_that_never_saw_a_class_leaves_it_a_share_too():
    """Without the fold of its one row the kernel knows two classes of three."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    y[0] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a logarithm of zero
        model = KNNClassifier("auto", weights="auto").fit(X, y)
    assert model.heads_ == ("kernel",)
    assert model.held_out_proba_.min() > 0
    assert_allclose(model.held_out_proba_.sum(axis=1), 1)
    assert np.isfinite(model.add_rows(X[:5] + 0.1, y[:5]).drift_)


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_a_direction_that_a_metric_has_all_but_forgotten_is_no_obstacle(predictor):
    """Its column of mapped rows is so small that its powers leave the range of floats."""
    X, y = moons(200)
    wide, forgotten = np.hstack([X, X[:, :1]]), np.hstack([X, np.zeros((200, 1))])
    metric = FunctionTransformer(lambda X: X * np.array([1.0, 1.0, 1e-98]))
    models = [predictor("auto", metric, weights="auto").fit(rows, y) for rows in (wide, forgotten)]
    assert "kernel" in models[0].head_losses_
    assert_allclose(models[0].predict(wide[:50]), models[1].predict(forgotten[:50]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": "many"}, "n_neighbors must be a whole number or 'auto', got 'many'"),
        ({"weights": "learnt"}, "weights must be one of .*'learned'"),
        ({"n_neighbors": 1000, "weights": "learned"}, "n_neighbors=1000 is more than"),
    ],
)
def test_a_vote_that_cannot_be_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(**parameters).fit(*moons(50))


def test_a_chosen_vote_is_saved_and_loaded(tmp_path):
    X, y = moons(120)
    for model in (
        KNNClassifier("auto", LDA(), weights="learned").fit(X, y),
        KNNRegressor("auto").fit(X, y.astype(float)),
    ):
        save_model(model, tmp_path / "model.vicinal")
        again = load_model(tmp_path / "model.vicinal")
        assert_array_equal(again.predict(X + 0.1), model.predict(X + 0.1))
        assert again.n_neighbors_ == model.n_neighbors_


def test_the_same_fit_gives_the_same_vote():
    X, y = moons(300)
    fits = [KNNClassifier("auto", LDA(), weights="learned").fit(X, y) for _ in range(2)]
    assert fits[0].temperature_ == fits[1].temperature_
    assert_array_equal(fits[0].held_out_proba_, fits[1].held_out_proba_)


def test_whole_numbers_are_a_quantity_to_the_metric_of_a_regressor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.rint(2 * X[:, 0])
    model = KNNRegressor("auto", AutoMetric(random_state=0), weights="learned").fit(X, y)
    names = {row["name"] for row in model.metric_.leaderboard_}
    assert "mlkr" in names
    assert "lda" not in names


def test_held_out_rows_ask_all_that_are_not_held_out_with_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    test = np.array([4, 11, 20])
    held = look_at_folds([(Fold(np.arange(21, 30), test), PLAIN)], X, 5, 1)
    assert_array_equal(held.rows, test)
    for row, near in zip(held.rows, held.near, strict=True):
        distances = np.linalg.norm(X - X[row], axis=1)
        distances[test] = np.inf
        assert_array_equal(near, np.argsort(distances)[:5])
