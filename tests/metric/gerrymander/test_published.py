"""The source's algorithm against a plain loop over its formula."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.oracles import inference

from vicinal import MLNG
from vicinal.metric.gerrymander import _published


def small_table() -> tuple[np.ndarray, np.ndarray]:
    """Return fourteen standardised rows in order of class: a step an epoch, whatever the order."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [5, 5, 4])
    X = rng.normal(size=(14, 3)) + 3 * np.eye(3)[y]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def subgradient(W: np.ndarray, X: np.ndarray, y: np.ndarray, k: int) -> tuple[float, np.ndarray]:
    """Return Σ L_i and Σ ∂L_i/∂W over all rows, inference over all others."""
    total, gradient = 0.0, np.zeros_like(W)
    for i in range(len(X)):
        gaps = X - X[i]
        distances = np.einsum("ij,jk,ik->i", gaps, W, gaps)
        distances[i] = np.inf
        star = inference.best_voting_set(distances, y, y[i], k)
        hat = inference.most_violating_set(distances, y, y[i], k, costs=1 - np.eye(3))
        assert star is not None
        assert hat is not None
        total += hat.value + star.total
        for sign, members in ((1, star.indices), (-1, hat.indices)):
            gradient += sign * gaps[members].T @ gaps[members]
    return total, gradient


def published(X: np.ndarray, y: np.ndarray, k: int, C: float, n_steps: int) -> tuple:
    """Return W after so many steps of rate 1/(t + 1) from zero, and the losses before each."""
    W, losses = np.zeros((X.shape[1], X.shape[1])), []
    for t in range(1, n_steps + 1):
        loss, slope = subgradient(W, X, y, k)
        losses.append((loss + 0.5 * np.sum(W**2) / C) / len(X))
        values, vectors = np.linalg.eigh(W - (W + C * slope) / (t + 1))
        W = (vectors * np.maximum(values, 0)) @ vectors.T
    return W, losses


@pytest.mark.parametrize("k", [2, 3])
def test_steps_are_those_of_the_source(k, monkeypatch):
    # At zero every distance is equal and the first step only raises the loss: go on all the same.
    monkeypatch.setattr(_published, "PLATEAU", -np.inf)
    X, y = small_table()
    W, losses = published(X, y, k, 0.01, 5)
    model = MLNG.as_published(k, C=0.01, init="zeros", max_iter=5).fit(X, y)
    assert_allclose(model.get_mahalanobis_matrix(), W, atol=1e-9)
    assert_allclose(model.loss_curve_, losses)
    assert model.n_iter_ == 5
    assert pytest.approx(0.01) == model.C_


def test_it_ends_when_the_loss_of_an_epoch_stops_falling():
    X, y = (np.tile(part, (20, 1) if part.ndim > 1 else 20) for part in small_table())
    X = X + np.random.default_rng(0).normal(size=X.shape)
    model = MLNG.as_published(3, C=1e-4, init="zeros", max_iter=50).fit(X, y)
    before, last = model.loss_curve_[-2:]
    assert 2 < model.n_iter_ < 50
    assert last > 0.999 * before
    falls = np.array(model.loss_curve_[:-1])
    assert np.all(falls[1:] <= 0.999 * falls[:-1])


def test_weight_and_start_are_chosen_on_one_split_of_three_quarters_and_a_quarter():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 4)) + 2 * y[:, None] * [1, 0, 0, 0]
    model = MLNG.as_published(3, max_iter=4, random_state=0).fit(X, y)
    assert {row["init"] for row in model.settings_} == {"relieff", "zeros"}
    chosen = [row for row in model.settings_ if row["chosen"]]
    assert len(model.settings_) == 10
    assert len(chosen) == 1
    assert model.init_ == chosen[0]["init"]
    assert pytest.approx(0.5 / (chosen[0]["regularization"] * 80)) == model.C_
    # Twenty rows judge: votes count in twentieths, wrong neighbours in quarters of sixtieths.
    scores = 240 * np.concatenate([row["scores"] for row in model.settings_])
    assert_allclose(scores, np.round(scores), atol=1e-9)
