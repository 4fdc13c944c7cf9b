"""MLR: the most violated ranking against all rankings, its cuts, and what it does for votes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from tests.oracles import rankings

from vicinal import MLR, KNNClassifier
from vicinal._kernels._rankings import most_violated
from vicinal.rivals._mlr import solve_dual
from vicinal.rivals._rankings import MEASURES, Cut, rank_losses, violate


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("n_relevant", "n_others"), [(1, 3), (2, 4), (3, 3)])
def test_the_ranking_found_is_the_most_violated_of_all(measure, n_relevant, n_others):
    rng = np.random.default_rng(n_relevant)
    for size in (0.05, 0.5, 3.0):
        relevant = np.sort(size * rng.normal(size=n_relevant))[::-1].copy()
        others = np.sort(size * rng.normal(size=n_others))[::-1].copy()
        above = np.empty(n_relevant, np.int64)
        losses = rank_losses(measure, n_relevant, n_others, 2)
        value = most_violated(relevant, others, losses, above)
        assert_allclose(value, rankings.most_violated(relevant, others, measure, 2), atol=1e-12)
        assert (np.diff(above) >= 0).all()


def test_a_cut_is_the_mean_over_queries_of_what_they_violate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 2)), np.array([0, 0, 0, 1, 1, 1, 1, 1])
    root = rng.normal(size=(2, 2))
    W = root.T @ root
    cut, violation = violate(W, X, y, "map", 3)
    worst = []
    for q in range(8):
        scores = -np.einsum("ij,jk,ik->i", X - X[q], W, X - X[q])
        same = (y == y[q]) & (np.arange(8) != q)
        relevant, others = (np.sort(scores[part])[::-1] for part in (same, y != y[q]))
        right = relevant.mean() - others.mean()
        worst.append(rankings_value(relevant.copy(), others.copy()) - right)
    assert_allclose(violation, np.mean(worst), atol=1e-10)
    assert_allclose(cut.matrix, cut.matrix.T)


def rankings_value(relevant, others):
    above = np.empty(len(relevant), np.int64)
    losses = rank_losses("map", len(relevant), len(others), 3)
    return most_violated(relevant, others, losses, above)


def test_the_dual_has_no_gap():
    rng = np.random.default_rng(0)
    cuts = [Cut((m + m.T) / 2, float(loss)) for m, loss in zip(
        rng.normal(size=(3, 3, 3)), rng.random(3), strict=True)]  # fmt: skip
    W, alpha = solve_dual(cuts, np.zeros(3), 2.0)
    slack = max(0.0, *(c.loss - np.sum(c.matrix * W) for c in cuts))
    primal = 0.5 * np.sum(W**2) + 2.0 * slack
    dual = alpha @ [c.loss for c in cuts] - 0.5 * np.sum(W**2)
    assert np.linalg.eigvalsh(W)[0] > -1e-9
    assert_allclose(primal, dual, rtol=1e-3)


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_leaves_noise_out_of_the_distance(measure):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, 2 * np.random.default_rng(0).normal(size=(150, 3))])
    metric = MLR(measure, C=100.0, random_state=0)
    scores = [
        KNNClassifier(3, metric=m).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
        for m in (None, metric)
    ]
    assert scores[1] > scores[0] + 0.03


def test_of_many_rows_a_sample_is_learned_from_and_a_warning_says_so():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="random 60 of 150 rows"):
        assert MLR(C=1.0, max_samples=60, max_iter=2).fit(X, y).n_samples_fit_ == 60


def test_bad_settings_are_refused_in_words():
    with pytest.raises(ValueError, match="measure must be one of 'auc'"):
        MLR("recall").fit(*load_iris(return_X_y=True))
