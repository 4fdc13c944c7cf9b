"""The source's algorithms for two maps and for numbers, against plain loops over their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.oracles import published

from vicinal import AsymmetricMLNG, KNNClassifier, KNNRegressor, RegressionMLNG, ReliefF
from vicinal.metric.gerrymander._published_maps import MapDescent
from vicinal.metric.gerrymander._published_variants import MapSetting, plain_rows
from vicinal.rows import Classes, Numbers, Rows

COSTS = 1 - np.eye(3)


def small_table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [5, 4, 4])
    X = rng.normal(size=(13, 3)) + 1.5 * np.eye(3)[y]
    return X - X.mean(axis=0), y


def joint_matrix(U, V):
    both = np.hstack([U, -V])
    return both.T @ both


def regulariser_slopes(U, V, step=1e-6):
    """Return the gradient of ½‖W‖² in both maps, by differences."""

    def value(maps):
        return 0.5 * np.sum(joint_matrix(*maps) ** 2)

    maps, slopes = np.stack([U, V]), np.zeros((2, *U.shape))
    for place in np.ndindex(maps.shape):
        moved = np.zeros_like(maps)
        moved[place] = step
        slopes[place] = (value(maps + moved) - value(maps - moved)) / (2 * step)
    return slopes


@pytest.mark.parametrize("k", [1, 3])
def test_every_step_of_two_maps_is_that_of_the_text(k):
    X, y = small_table()
    framed = plain_rows(Rows(X, Classes(np.unique(y), y)))
    rng = np.random.default_rng(0)
    U, V = (0.5 * np.eye(3) + 0.2 * rng.normal(size=(3, 3)) for _ in range(2))
    C = 0.01
    infer = AsymmetricMLNG.as_published(k)._inference(framed, MapSetting())
    descent = MapDescent(framed.X, infer, np.stack([U, V]), C, 1, rng)
    for t, i in enumerate(rng.permutation(13), 1):
        squared = ((framed.X @ V.T - U @ framed.X[i]) ** 2).sum(axis=1)
        squared[i] = np.inf
        star, hat, loss = published.exhaustive_sets(squared, y, y[i], k, COSTS)
        slopes = regulariser_slopes(U, V)
        for sign, members in ((1, star), (-1, hat)):
            for j in members:
                gap = U @ framed.X[i] - V @ framed.X[j]
                slopes[0] += sign * C * 13 * 2 * np.outer(gap, framed.X[i])
                slopes[1] -= sign * C * 13 * 2 * np.outer(gap, framed.X[j])
        U, V = U - slopes[0] / (t + 1), V - slopes[1] / (t + 1)
        assert descent.walk(np.array([i])) == pytest.approx(loss, abs=1e-7)
        assert_allclose(descent.maps, [U, V], atol=1e-6)
        U, V = descent.maps  # or the differences' rounding would add up


def test_a_step_for_numbers_is_that_of_the_text():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    framed = plain_rows(Rows(X, Numbers(y)))
    gamma, k, C, L = 2.0, 3, 0.02, np.eye(3) * 1.3
    infer = RegressionMLNG.as_published(k)._inference(framed, MapSetting(gamma=gamma))
    descent = MapDescent(framed.X, infer, L[None], C, 1, rng, batch_size=2)
    slope = 2 * L @ (L.T @ L) / np.linalg.norm(L.T @ L)
    for i in (4, 7):
        gaps = framed.X[i] - framed.X
        squared = (gaps @ L.T) ** 2
        near, far = (squared.sum(axis=1) + s * gamma / k * (y[i] - y) ** 2 for s in (1, -1))
        near[i] = far[i] = np.inf
        for sign, keys in ((1, near), (-1, far)):
            for j in np.argsort(keys, kind="stable")[:k]:
                slope = slope + sign * C * 12 / 2 * 2 * L @ np.outer(gaps[j], gaps[j])
    descent.walk(np.array([4, 7]))
    assert_allclose(descent.maps[0], L - slope / 2, atol=1e-9)


def test_both_maps_start_at_the_root_of_the_relieff_diagonal():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4)) + 2 * y[:, None] * [1, 0, 0, 0]
    rows = Rows(X, Classes(np.unique(y), y))
    framed = plain_rows(rows)
    U, V = AsymmetricMLNG.as_published(3)._start(rows, framed)
    weights = np.maximum(ReliefF().fit(X, y).feature_weights_, 0)
    assert_allclose(U, V)
    assert_allclose(U.T @ U, np.diag(weights), atol=1e-12)


def test_two_maps_are_learned_and_help():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 6)) * [1, 4, 4, 4, 4, 4] + 3 * y[:, None] * [1, 0, 0, 0, 0, 0]
    plain = KNNClassifier(3).fit(X[:100], y[:100]).score(X[100:], y[100:])
    metric = AsymmetricMLNG.as_published(3, max_iter=5, random_state=0)
    learned = KNNClassifier(3, metric=metric).fit(X[:100], y[:100])
    assert learned.score(X[100:], y[100:]) > plain
    assert learned.metric_.query_components_.shape == learned.metric_.components_.shape
    assert sum(entry["chosen"] for entry in learned.metric_.settings_) == 1


@pytest.mark.parametrize("asymmetric", [False, True])
def test_numbers_are_learned_and_it_helps(asymmetric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 5))
    y = np.sin(2 * X[:, 0])
    plain = KNNRegressor(5).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    metric = RegressionMLNG.as_published(
        5, asymmetric=asymmetric, gamma=1.0, max_iter=12, random_state=0
    )
    learned = KNNRegressor(5, metric=metric).fit(X[::2], y[::2])
    assert learned.score(X[1::2], y[1::2]) > plain
    assert learned.metric_.gamma_ == 1.0


def test_the_printed_grids_are_tried():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))
    metric = RegressionMLNG.as_published(3, batch_size="auto", max_iter=1, random_state=0)
    metric.fit(X, X[:, 0])
    assert {entry["batch_size"] for entry in metric.settings_} == {1, 3, 5, 11}
    assert {entry["gamma"] for entry in metric.settings_} == {10.0**p for p in range(-5, 3)}


def test_a_c_that_diverges_is_refused_in_words():
    X, y = small_table()
    with pytest.raises(ValueError, match="diverges"):
        AsymmetricMLNG.as_published(3, C=1e9).fit(X, y)
