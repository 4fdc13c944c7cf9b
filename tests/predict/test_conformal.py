"""Sets and intervals: they hold the truth as often as asked, where rows come as before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal import LDA, KNNClassifier, KNNRegressor
from vicinal.predict._conformal import conformal_radius, conformal_sets


def blobs(n, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    return centres[y] + spread * rng.normal(size=(n, 2)), y


def within_two_errors(covered, alpha):
    rate = np.mean(covered)
    return abs(rate - (1 - alpha)) <= 2 * np.sqrt(alpha * (1 - alpha) / len(covered)) + 0.015


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("spread", [0.2, 1.0])
def test_sets_hold_the_truth_as_often_as_asked(alpha, spread):
    """Where nearly every vote is unanimous, too: there chance alone can miss as few."""
    X, y = blobs(2000, 0, spread)
    test, truth = blobs(3000, 1, spread)
    model = KNNClassifier("auto", LDA(), weights="learned").fit(X, y)
    sets = model.predict_set(test, alpha)
    assert sets.shape == (3000, 3)
    assert sets.dtype == bool
    assert within_two_errors(sets[np.arange(3000), truth], alpha)


def test_sets_of_a_surer_model_are_smaller():
    sizes = []
    for spread in (0.5, 1.5):
        X, y = blobs(800, 0, spread)
        model = KNNClassifier("auto", weights="auto").fit(X, y)
        sizes.append(model.predict_set(blobs(800, 1, spread)[0], 0.1).sum(axis=1).mean())
    assert sizes[0] < 1.05 < 1.3 < sizes[1]


def test_where_other_rows_come_the_promise_does_not_hold():
    X, y = blobs(1000, 0)
    model = KNNClassifier("auto", LDA(), weights="learned").fit(X, y)
    moved, truth = blobs(2000, 1)
    sets = model.predict_set(moved + np.array([1.5, 0.0]), 0.1)
    assert sets[np.arange(2000), truth].mean() < 0.8
    numbers = KNNRegressor("auto").fit(X, X[:, 0])
    ends = numbers.predict_interval(moved, 0.1)
    shifted = moved[:, 0] + 1.0
    assert np.mean((ends[:, 0] <= shifted) & (shifted <= ends[:, 1])) < 0.8


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("weights", ["uniform", "learned", "auto"])
def test_intervals_hold_the_truth_as_often_as_asked(alpha, weights):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(3000, 2))
    y = np.sin(2 * X[:, 0]) + (0.1 + 0.4 * (X[:, 1] > 0)) * rng.normal(size=3000)
    model = KNNRegressor("auto", weights=weights).fit(X[:1000], y[:1000])
    ends = model.predict_interval(X[1000:], alpha)
    inside = (ends[:, 0] <= y[1000:]) & (y[1000:] <= ends[:, 1])
    assert within_two_errors(inside, alpha)
    width = ends[:, 1] - ends[:, 0]
    noisy = X[1000:, 1] > 0
    assert width[noisy].mean() > 1.1 * width[~noisy].mean()


@given(st.integers(1, 200), st.floats(0.01, 0.99), st.integers(0, 5))
def test_the_rank_of_a_new_score_is_uniform(m, alpha, seed):
    scores = np.random.default_rng(seed).random(m)
    radius = conformal_radius(scores, alpha)
    rank = int(np.ceil((m + 1) * (1 - alpha)))
    assert np.isinf(radius) if rank > m else np.sum(scores <= radius) == rank


def test_ties_are_broken_so_that_coverage_is_exact():
    held = np.full(99, 0.9)
    sets = conformal_sets(np.full((20_000, 1), 0.9), held, 0.25, 0)
    assert sets.mean() == pytest.approx(0.75, abs=0.01)


def test_the_same_seed_gives_the_same_sets():
    X, y = blobs(300, 0, 0.2)
    model = KNNClassifier("auto", weights="learned").fit(X, y)
    first, second, other = (model.predict_set(X, 0.2, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, "0.1", np.nan])
def test_an_alpha_that_is_no_share_is_refused(alpha):
    X, y = blobs(60, 0)
    model = KNNClassifier("auto").fit(X, y)
    with pytest.raises(ValueError, match="alpha must be"):
        model.predict_set(X, alpha)
    with pytest.raises(ValueError, match="alpha must be"):
        KNNRegressor("auto").fit(X, X[:, 0]).predict_interval(X, alpha)


def test_a_fit_without_held_out_votes_says_how_to_have_them():
    X, y = blobs(60, 0)
    with pytest.raises(ValueError, match="predict_set goes by held-out votes"):
        KNNClassifier().fit(X, y).predict_set(X)
    with pytest.raises(ValueError, match="predict_interval goes by held-out votes"):
        KNNRegressor().fit(X, X[:, 0]).predict_interval(X)
    with pytest.raises(ValueError, match="several columns"):
        KNNRegressor("auto").fit(X, X).predict_interval(X)
