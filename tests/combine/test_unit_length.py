"""Mapped rows on the sphere: where held-out rows prefer it, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator

import vicinal
from vicinal import (
    EGOP,
    LDA,
    MLNG,
    AutoMetric,
    Euclidean,
    ExactIndex,
    KNNClassifier,
    KNNRegressor,
    UnitLength,
    load_model,
    save_model,
)
from vicinal.metric.maps import LinearMaps, UnitMaps


def rays(n: int = 300, *, by_length: bool = False) -> tuple[Any, Any]:
    """Return rows in four directions, of lengths that say nothing of them, or everything."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=n)
    directions = np.stack([np.cos(y * np.pi / 2), np.sin(y * np.pi / 2), np.ones(n)], axis=1)
    rows = directions + 0.3 * rng.normal(size=(n, 3))
    lengths = np.exp(1.2 * rng.normal(size=(n, 1)))
    classes = (lengths[:, 0] > 1).astype(int) if by_length else y
    return rows * lengths, classes


def test_rows_are_brought_to_unit_length_where_their_length_says_nothing():
    X, y = rays()
    metric = UnitLength(Euclidean(), random_state=0).fit(X, y)
    assert metric.is_unit_
    assert metric.gain_ > metric.noise_ > 0
    assert_allclose(metric.transform(X), X / np.linalg.norm(X, axis=1, keepdims=True))
    assert not hasattr(metric, "components_")


def test_rows_are_left_alone_where_their_length_says_it_all():
    X, y = rays(by_length=True)
    metric = UnitLength(Euclidean(), random_state=0).fit(X, y)
    assert not metric.is_unit_
    assert metric.gain_ < 0
    assert_array_equal(metric.transform(X), X)


def test_a_map_that_stays_as_it_is_is_the_learners():
    X, y = rays(by_length=True)
    metric = UnitLength(LDA(), random_state=0).fit(X, y)
    assert_array_equal(metric.components_, LDA().fit(X, y).components_)


@pytest.mark.parametrize("normalize", [True, False])
def test_what_is_asked_for_is_done_without_a_look(normalize):
    X, y = rays(by_length=normalize)
    metric = UnitLength(LDA(), normalize=normalize).fit(X, y)
    assert metric.is_unit_ is normalize
    assert not hasattr(metric, "gain_")


def test_the_nearest_after_normalisation_have_the_largest_cosine():
    X, y = rays()
    metric = UnitLength(LDA(), normalize=True).fit(X[:200], y[:200])
    mapped = LDA().fit(X[:200], y[:200]).transform(X)
    right = ExactIndex(mapped[:200], metric="cosine").query(mapped[200:], 7)[1]
    model = KNNClassifier(7, FrozenEstimator(metric)).fit(X[:200], y[:200])
    assert_array_equal(model.kneighbors(X[200:])[1], right)


def test_the_vote_that_chooses_k_sees_the_same_maps():
    X, y = rays()
    model = KNNClassifier("auto", UnitLength(MLNG(max_iter=3), random_state=0)).fit(X, y)
    assert model.metric_.is_unit_
    assert np.mean(model.predict(X) == y) > 0.8


def test_numbers_are_predicted_on_the_sphere_too():
    X, _ = rays()
    target = X[:, 0] / np.linalg.norm(X, axis=1)
    plain, unit = (
        KNNRegressor(5, metric).fit(X[:200], target[:200]).score(X[200:], target[200:])
        for metric in (EGOP(random_state=0), UnitLength(EGOP(random_state=0), random_state=0))
    )
    assert unit > plain


def test_learners_and_their_places_on_the_sphere_run_one_race():
    X, y = rays()
    candidates = {"plain": Euclidean(), "sphere": UnitLength(Euclidean())}
    auto = AutoMetric(candidates, random_state=0).fit(X, y)
    assert "sphere" in auto.best_
    assert auto.leaderboard_[0]["score"] < auto.leaderboard_[-1]["score"]


def test_a_file_holds_it(tmp_path):
    X, y = rays()
    model = KNNClassifier(5, UnitLength(LDA(), random_state=0)).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.metric_.is_unit_ == model.metric_.is_unit_


def test_of_rows_of_unit_length_compare_and_fit_look_at_both():
    X, y = rays()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    compared = vicinal.compare(X, y, methods=["lda"], k=5, n_folds=3)
    assert any("back to unit length" in note for note in compared.notes)
    scaled = vicinal.compare(X, y, methods=["lda"], k=5, n_folds=3, scale="zscore")
    assert not any("back to unit length" in note for note in scaled.notes)


finite = st.floats(-1e150, 1e150, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-150)


@given(arrays(np.float64, (4, 3), elements=finite))
def test_mapped_rows_have_length_one_or_none_at_all(X):
    mapped = UnitMaps(LinearMaps(np.eye(3))).database(X)
    lengths = np.linalg.norm(mapped, axis=1)
    assert_allclose(lengths[X.any(axis=1)], 1, rtol=1e-12)
    assert not lengths[~X.any(axis=1)].any()


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (UnitLength(LDA), "estimator must be a metric learner"),
        (UnitLength(LDA(), normalize="yes"), "normalize"),
        (UnitLength(LDA(), n_neighbors=0), "n_neighbors"),
    ],
)
def test_wrong_parameters_are_refused(metric, words):
    with pytest.raises(ValueError, match=words):
        metric.fit(*rays())
