"""SCML: the objective falls to its least, weights are sparse, triplets teach."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_iris

from vicinal import SCML, KNNClassifier
from vicinal.rivals._progress import Iterations
from vicinal.rivals._scml import Triplets, dual_averaging


def test_steps_come_near_the_least_of_the_objective():
    rng = np.random.default_rng(0)
    basis = np.eye(3)
    near, far = rng.normal(size=(2, 400, 3)) * [[[0.2, 1, 1]], [[1, 1, 1]]]
    points = np.concatenate([np.zeros((1, 3)), near, far])
    numbers = np.column_stack([np.zeros(400, int), np.arange(1, 401), np.arange(401, 801)])
    triplets = Triplets(points, numbers)
    weights = dual_averaging(basis, triplets, 0.01, 4000, rng, Iterations("", 0, 1))
    change = near**2 - far**2
    np.testing.assert_allclose(triplets.change(basis, np.arange(400)), change)
    size = np.mean(np.abs(change))

    def value(w):
        return np.maximum(1 + change @ w, 0).mean() + 0.01 * size * w.sum()

    least = min(value(w) for w in rng.random((2000, 3)) * [20, 1, 1])
    assert value(weights) < least + 0.05


def test_triplets_teach_which_feature_counts():
    rng = np.random.default_rng(0)
    triplets = rng.normal(size=(500, 3, 3))
    near = np.abs(triplets[:, 0, 0] - triplets[:, 1, 0])
    far = np.abs(triplets[:, 0, 0] - triplets[:, 2, 0])
    ordered = np.where((near < far)[:, None, None], triplets, triplets[:, [0, 2, 1]])
    learner = SCML(60, random_state=0).fit_triplets(ordered)
    assert learner.feature_relevance_[0] > 0.7
    assert learner.basis_weights_.min() >= 0


def test_fewer_votes_are_wrong_than_under_the_plain_distance():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, 2 * np.random.default_rng(0).normal(size=(150, 3))])
    scores = [
        KNNClassifier(3, metric=metric).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        for metric in (None, SCML(100, max_iter=500, random_state=0))
    ]
    assert scores[1] > scores[0] + 0.05


def test_bad_input_is_refused_in_words():
    with pytest.raises(ValueError, match=r"triplets must have shape \(n, 3, n_features\)"):
        SCML().fit_triplets(np.zeros((3, 2, 2)))
    with pytest.raises(ValueError, match="n_basis must be at least 1"):
        SCML(0).fit(*load_iris(return_X_y=True))


def test_a_fit_holds_no_differences_of_all_triplets():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 300)), rng.integers(0, 3, 1500)
    tracemalloc.start()
    SCML(10, max_iter=10, regularization=1e-3, random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * X.nbytes  # the triplets' own would be 60 times as large
