"""ITML: its optimum, its bounds, its pairs, and what becomes of its numeric failures."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from tests.oracles import differences

from vicinal import ITML, KNNClassifier
from vicinal._kernels._bregman import block_size, project_pairs
from vicinal.rivals._itml import PairBounds, bregman_projections, factor


def pairs_of(seed=0, d=3, n=6):
    rng = np.random.default_rng(seed)
    return PairBounds(rng.normal(size=(n, d)), rng.normal(size=(n, d)), 0.5, 4.0)


def objective(M, bounds, gamma):
    """D(M, I) plus the least that slacks can cost, ξ being the distance or the bound."""
    value = np.trace(M) - np.linalg.slogdet(M)[1]
    for gaps, bound, sign in ((bounds.near, bounds.upper, 1), (bounds.far, bounds.lower, -1)):
        distances = np.einsum("ij,jk,ik->i", gaps, M, gaps)
        moved = np.where(sign * (distances - bound) > 0, distances, bound) / bound
        value += gamma * np.sum(moved - np.log(moved) - 1)
    return value


@pytest.mark.parametrize("gamma", [0.1, 1.0, 5.0])
def test_projections_end_where_the_objective_is_least(gamma):
    bounds = pairs_of()
    M, _ = bregman_projections(np.eye(3), bounds, gamma, 5000, 0.0)
    slopes = differences.gradient(lambda at: objective(at, bounds, gamma), M)
    assert_allclose(slopes + slopes.T, 0, atol=1e-3)


def test_blocks_of_pairs_give_what_one_pair_after_another_gives():
    rng = np.random.default_rng(1)
    d, n, gamma = 20, 33, 0.7
    gaps, signs = rng.normal(size=(n, d)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    slacks, multipliers, M = np.full(n, 15.0), np.zeros(n), np.eye(d)
    assert 1 < block_size(d) < n
    wanted = (M.copy(), slacks.copy(), multipliers.copy())
    for _ in range(3):
        project_pairs(M, gaps, signs, slacks, multipliers, gamma)
        project_one_by_one(*wanted, gaps, signs, gamma)
    for found, expected in zip((M, slacks, multipliers), wanted, strict=True):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert (multipliers > 0).any()


def project_one_by_one(M, slacks, multipliers, gaps, signs, gamma):
    for i, v in enumerate(gaps):
        p = v @ M @ v
        alpha = min(multipliers[i], signs[i] * gamma / (gamma + 1) * (1 / p - 1 / slacks[i]))
        beta = signs[i] * alpha / (1 - signs[i] * alpha * p)
        slacks[i] *= gamma / (gamma + signs[i] * alpha * slacks[i])
        multipliers[i] -= alpha
        M += beta * np.outer(M @ v, M @ v)


def test_dear_bounds_are_kept_where_they_can_be():
    bounds = PairBounds(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 0.25, 4.0)
    M, _ = bregman_projections(np.eye(2), bounds, 1e6, 100, 1e-12)
    assert_allclose(M, np.diag([0.25, 4.0]), rtol=1e-4)


def test_cheap_bounds_leave_the_prior():
    M, _ = bregman_projections(2 * np.eye(3), pairs_of(), 1e-9, 50, 0.0)
    assert_allclose(M, 2 * np.eye(3), atol=1e-6)


def test_fewer_votes_are_wrong_than_under_the_plain_distance():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, 2 * np.random.default_rng(0).normal(size=(150, 3))])
    scores = [
        KNNClassifier(3, metric=metric).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        for metric in (None, ITML(random_state=0))
    ]
    assert scores[1] > scores[0] + 0.05


def test_pairs_teach_what_classes_teach():
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(200, 2, 3))
    alike = np.abs(pairs[:, 0, 0] - pairs[:, 1, 0]) < 0.7
    learner = ITML(random_state=0).fit_pairs(pairs, np.where(alike, 1, -1))
    assert learner.feature_relevance_[0] > 0.8
    assert learner.gamma_ == 1


def test_the_same_seed_gives_the_same_map():
    X, y = load_iris(return_X_y=True)
    learner = ITML(gamma=0.1, prior="within", random_state=1)
    assert_array_equal(learner.fit(X, y).components_, learner.fit(X, y).components_)


def test_copies_are_left_out_with_a_warning():
    pairs = np.array([[[0.0, 0], [0, 0]], [[0, 1], [1, 0]], [[2, 0], [0, 1]], [[1, 0], [1, 2]]])
    with pytest.warns(UserWarning, match="1 pairs are of equal rows"):
        ITML().fit_pairs(pairs, [1, 1, -1, -1])


def test_pairs_drawn_from_copies_are_left_out_without_a_word():
    X, y = load_iris(return_X_y=True)
    twice, labels = np.repeat(X[::10], 2, axis=0), np.repeat(y[::10], 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = ITML(gamma=0.1, prior="identity", random_state=0).fit(twice, labels)
    model = KNNClassifier(3).fit(learner.transform(twice), labels)
    assert model.score(learner.transform(X), y) > 0.9


def test_a_matrix_that_is_no_metric_is_projected_with_a_warning():
    with pytest.warns(UserWarning, match="negative eigenvalue"):
        root = factor(np.diag([1.0, -0.5]))
    assert_allclose(root.T @ root, np.diag([1.0, 0.0]), atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prior": "random"}, "prior must be one of 'auto', 'identity'"),
        ({"prior": -np.eye(4)}, "positive definite"),
        ({"prior": np.triu(np.ones((4, 4)))}, "symmetric"),
        ({"prior": np.eye(3)}, "prior is of 3 features"),
        ({"gamma": -1.0}, "gamma must be a number above zero"),
        ({"bounds": (2.0, 1.0)}, "ascending order"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, words):
    with pytest.raises(ValueError, match=words):
        ITML(**settings).fit(*load_iris(return_X_y=True))
