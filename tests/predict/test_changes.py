"""Rows that come and go: the next answer is as if they had always been so."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import scale

from vicinal import (
    EJOP,
    LDA,
    LSH,
    AsymmetricMLNG,
    AutoMetric,
    KNNClassifier,
    KNNRegressor,
    LocalLinearRegressor,
    MeanMetric,
    NearestNeighbors,
    RadiusClassifier,
    RadiusRegressor,
    load_model,
    save_model,
)


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def frozen(metric, X, y):
    return FrozenEstimator(metric.fit(X, y))


METRICS = [
    LDA(),
    LSH(32, random_state=0),
    AsymmetricMLNG(3, init="lda", learning_rate=0.1, max_iter=1, random_state=0),
    None,
]


def rebuilt(model, X, y):
    """A fit of the rows with the same metric, k and temperature."""
    metric = None if model.metric_ is None else FrozenEstimator(model.metric_)
    fresh = type(model)(**{**model.get_params(deep=False), "metric": metric})
    fresh = fresh.set_params(weights="uniform") if "weights" in fresh.get_params() else fresh
    fresh.fit(X, y)
    if hasattr(model, "temperature_"):
        fresh.temperature_ = model.temperature_
        fresh.n_neighbors_ = model.n_neighbors_
        fresh.weights = "learned"
    return fresh


def answers(model, X):
    told = [*model.kneighbors(X, 3), model.predict(X)]
    return [*told, model.predict_proba(X)] if hasattr(model, "predict_proba") else told


def assert_same(model, fresh, X):
    """Where rows are mapped, the last bit of a product depends on how many rows it has."""
    for one, other in zip(answers(model, X), answers(fresh, X), strict=True):
        if model.metric is None or one.dtype.kind != "f":
            assert_array_equal(one, other)
        else:
            assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert model.n_samples_fit_ == fresh.n_samples_fit_


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    "model",
    [KNNClassifier(3), KNNClassifier(3, weights="learned"), RadiusClassifier(2.0), KNNRegressor(3)],
    ids=str,
)
def test_answers_are_those_of_a_rebuilt_database(metric, model):
    X, y = wine()
    model.set_params(metric=metric).fit(X[:120:2], y[:120:2])
    model.add_rows(X[1:120:2], y[1:120:2])
    now = np.concatenate([np.arange(0, 120, 2), np.arange(1, 120, 2)])
    assert_same(model, rebuilt(model, X[now], y[now]), X)
    gone = [0, 5, 119, 60, 61]
    model.remove_rows(gone)
    now = np.delete(now, gone)
    assert_same(model, rebuilt(model, X[now], y[now]), X)
    labels = y[now].copy()
    labels[[3, 4]] = 2
    model.relabel([3, 4], [2, 2])
    assert_same(model, rebuilt(model, X[now], labels), X)


@pytest.mark.parametrize(
    "model", [RadiusRegressor(2.0), LocalLinearRegressor(20, ridge=0.1)], ids=str
)
def test_other_predictors_of_numbers_follow(model):
    X, _ = wine()
    y = X[:, 0] ** 2
    model.fit(X[:100], y[:100]).add_rows(X[100:], y[100:]).remove_rows(np.arange(0, 60, 3))
    now = np.delete(np.arange(len(X)), np.arange(0, 60, 3))
    fresh = type(model)(**model.get_params()).fit(X[now], y[now])
    assert_array_equal(model.predict(X), fresh.predict(X))


def test_rows_without_targets_come_and_go():
    X, _ = wine()
    model = NearestNeighbors(2).fit(X[:50]).add_rows(X[50:]).remove_rows(X[:, 0] > 1)
    expected = NearestNeighbors(2).fit(X[X[:, 0] <= 1])
    for one, other in zip(model.kneighbors(X), expected.kneighbors(X), strict=True):
        assert_array_equal(one, other)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_order_of_changes_ends_at_the_same_rows(data):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    model, now = KNNClassifier(1, weights="learned").fit(X[:10], y[:10]), list(range(10))
    for _ in range(data.draw(st.integers(1, 4))):
        if data.draw(st.booleans()):
            rows = data.draw(st.lists(st.integers(0, 39), min_size=1, max_size=5))
            model.add_rows(X[rows], y[rows])
            now += rows
        else:
            gone = data.draw(st.sets(st.integers(0, len(now) - 1), max_size=min(5, len(now) - 2)))
            model.remove_rows(sorted(gone))
            now = [row for place, row in enumerate(now) if place not in gone]
    assert_same(model, rebuilt(model, X[now], y[now]), X) if len(now) > 3 else None
    assert_array_equal(model.classes_, np.unique(y[now]))


def test_a_new_class_joins_and_one_without_rows_leaves():
    X, y = wine()
    names = np.array(["a", "b", "other"])[y]
    model = KNNClassifier(3, weights="learned").fit(X[y < 2], names[y < 2])
    model.add_rows(X[y == 2], names[y == 2])
    assert model.classes_.tolist() == ["a", "b", "other"]
    assert np.mean(model.predict(X) == names) > 0.9
    assert model.predict_proba(X).shape == (178, 3)
    assert model.held_out_proba_.shape[1] == 3
    model.remove_rows(names[np.argsort(y == 2, kind="stable")] == "a")
    assert model.classes_.tolist() == ["b", "other"]
    assert set(model.predict(X)) == {"b", "other"}
    model.relabel([0], ["z"])
    assert model.classes_.tolist() == ["b", "other", "z"]
    assert model.predict_proba(X[:2]).shape == (2, 3)


def test_rows_of_weight_zero_keep_their_numbers():
    X, y = wine()
    weights = np.ones(100)
    weights[::4] = 0
    weights[1::4] = 2
    model = KNNClassifier(3).fit(X[:100], y[:100], weights)
    model.add_rows(X[100:], y[100:])
    assert model.kneighbors(X[150:151], 1)[1][0, 0] == 150
    model.remove_rows([0, 1, 2])
    assert model.kneighbors(X[150:151], 1)[1][0, 0] == 147
    assert len(model._weights) == model.n_samples_fit_ == 175


def test_removed_rows_are_in_no_file(tmp_path):
    X, y = wine()
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    for metric in (
        EJOP(random_state=0),
        AutoMetric([EJOP(random_state=0)], random_state=0),
        MeanMetric(EJOP("analytic"), n_starts=2, random_state=0),
        None,
    ):
        model = KNNClassifier(3, metric, weights="learned").fit(X, y).remove_rows([17])
        save_model(model, tmp_path / "model.vicinal")
        content = (tmp_path / "model.vicinal").read_bytes()
        for row in (X[17], model.metric_.transform(X[17:18])[0] if metric is not None else X[17]):
            assert row.tobytes() not in content
            assert row.astype(np.float32).tobytes() not in content
        assert_array_equal(load_model(tmp_path / "model.vicinal").predict(X), model.predict(X))


def test_a_local_metric_cannot_forget_a_row():
    X, y = wine()
    model = KNNClassifier(3, EJOP(random_state=0, local=True)).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="fit anew without them"):
        model.remove_rows([3])
    assert_array_equal(model.predict(X), before)


def test_held_out_votes_follow_their_rows():
    X, y = wine()
    model = KNNClassifier("auto", LDA(), weights="learned").fit(X, y)
    own = model.held_out_proba_[10].copy()
    model.remove_rows([2, 4])
    assert model.held_out_rows_.tolist() == list(range(len(X) - 2))
    assert_array_equal(model.held_out_proba_[8], own)


def test_of_few_rows_that_are_left_each_asks_all_others():
    X, y = wine()
    model = KNNClassifier("auto", LDA(), weights="learned").fit(X, y)
    model.remove_rows(np.arange(3, len(X)))
    assert model.kneighbors(None)[1].tolist() == [
        [int(row) for row in model.kneighbors(X[i : i + 1])[1][0] if row != i] for i in range(3)
    ]
    assert model.predict(None).tolist() == [0, 0, 0]
    assert model.doubtful_rows().tolist() == []
    with pytest.raises(ValueError, match="n_neighbors=3 is more than"):
        model.kneighbors(None, 3)


def test_wrong_labels_are_the_most_doubtful():
    X, y = wine()
    wrong = np.array([3, 70, 150])
    labels = y.copy()
    labels[wrong] = (labels[wrong] + 1) % 3
    for model in (KNNClassifier("auto", LDA(), weights="learned"), KNNClassifier(7, LDA())):
        doubtful = model.fit(X, labels).doubtful_rows()
        assert set(wrong) <= set(doubtful[:6].tolist())
    own = model.fit(X, labels).relabel(wrong, y[wrong]).doubtful_rows()
    assert not set(wrong) & set(own.tolist())


def test_drift_tells_rows_of_another_kind_from_more_of_the_same():
    X, y = wine()
    model = KNNClassifier("auto", LDA(), weights="learned").fit(X[::2], y[::2])
    assert model.drift_ == 0
    assert model.add_rows(X[1::4], y[1::4]).drift_ < 0.3
    assert model.add_rows(X[3::4], (y[3::4] + 1) % 3).drift_ > 1
    numbers = KNNRegressor("auto").fit(X[::2], X[::2, 0])
    numbers.add_rows(X[1::2], X[1::2, 0] + 5)
    assert numbers.drift_ > 5
    with pytest.raises(AttributeError, match="n_neighbors='auto'"):
        _ = KNNClassifier().fit(X, y).drift_


def test_a_hundred_rows_join_and_leave_ten_thousand_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_100, 20)), rng.integers(5, size=10_100)
    model = KNNClassifier(5, frozen(LDA(), X, y)).fit(X[:10_000], y[:10_000])
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        model.add_rows(X[10_000:], y[10_000:])
        middle = time.perf_counter()
        model.remove_rows(np.arange(10_000, 10_100))
        best = min(best, max(middle - began, time.perf_counter() - middle))
    assert best < 0.1  # a hundredth of that on an idle machine


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.remove_rows([1, 1]), "holds row 1 twice"),
        (lambda m: m.remove_rows([178]), "the rows are 0 to 177"),
        (lambda m: m.remove_rows([-1]), "holds -1"),
        (lambda m: m.remove_rows([0.5]), "whole numbers or a mask"),
        (lambda m: m.remove_rows([True, False]), "one entry for each of 178 rows"),
        (lambda m: m.remove_rows(np.arange(178)), "names all 178 rows"),
        (lambda m: m.remove_rows(np.arange(176)), "2 rows would be left"),
        (lambda m: m.add_rows(np.ones((2, 4)), [0, 1]), "4 features"),
        (lambda m: m.add_rows(np.ones((2, 13)), [0]), "a target for each of 2 rows"),
        (lambda m: m.add_rows(np.ones((2, 13))), "y is missing"),
        (lambda m: m.add_rows(np.full((1, 13), np.nan), [0]), "NaN"),
        (lambda m: m.add_rows(np.ones((1, 13)), ["a"]), "not of the kind of the classes"),
        (lambda m: m.add_rows(np.ones((1, 13)), [0.5]), "one class a row"),
        (lambda m: m.relabel([0, 0], [1, 1]), "holds row 0 twice"),
        (lambda m: m.relabel([0], [1, 1]), "a target for each of 1 rows"),
    ],
)
def test_a_change_that_cannot_be_is_refused_and_changes_nothing(change, message):
    X, y = wine()
    model = KNNClassifier(3, LDA()).fit(X, y)
    before = answers(model, X)
    with pytest.raises(ValueError, match=message):
        change(model)
    for one, other in zip(before, answers(model, X), strict=True):
        assert_array_equal(one, other)
