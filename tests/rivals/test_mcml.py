"""MCML: its rule against the formula and finite differences, and its one minimum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from tests.oracles import differences

from vicinal import MCML, KNNClassifier
from vicinal.pairs import soft_loss
from vicinal.rivals._mcml import CollapsedClass


def divergences(X, y, components):
    """Return KL(q_i, p_i) of every row, term by term."""
    mapped = X @ components.T
    losses = []
    for i in range(len(X)):
        squared = ((mapped - mapped[i]) ** 2).sum(axis=1)
        others = [j for j in range(len(X)) if j != i]
        mates = [j for j in others if y[j] == y[i]]
        total = sum(np.exp(-squared[j]) for j in others)
        ideal = 1 / len(mates) if mates else 0.0
        losses.append(sum(ideal * np.log(ideal / (np.exp(-squared[j]) / total)) for j in mates))
    return np.array(losses)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 0])  # class 3 is one row
    return rng.normal(size=(11, 3)), y, 0.7 * rng.normal(size=(2, 3))


def test_the_loss_is_the_divergence_from_the_ideal(rows):
    X, y, components = rows
    everyone = np.arange(11)
    loss, _ = soft_loss(CollapsedClass(y), X, components, everyone, everyone)
    assert loss == pytest.approx(divergences(X, y, components).sum())


def test_the_gradient_is_that_of_finite_differences(rows):
    X, y, components = rows
    everyone = np.arange(11)
    rule = CollapsedClass(y)
    _, gradient = soft_loss(rule, X, components, everyone, everyone)

    def value(point):
        return soft_loss(rule, X, point.reshape(components.shape), everyone, everyone)[0]

    assert_allclose(gradient.ravel(), differences.gradient(value, components.ravel()), atol=1e-5)


def test_every_start_of_full_rank_leads_to_the_one_minimum():
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    ends = []
    for seed in range(3):
        start = np.random.default_rng(seed).normal(size=(3, 3))
        model = MCML(
            init=start, solver="full-batch", max_iter=2000, tol=1e-12, early_stopping=False
        )
        ends.append(model.fit(X, y).get_mahalanobis_matrix())
    assert_allclose(ends[1], ends[0], atol=1e-3)
    assert_allclose(ends[2], ends[0], atol=1e-3)


def test_noise_is_left_out_of_the_distance():
    # Gaussian classes: what is to collapse should be in one piece.
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 6)) + 2.5 * np.eye(3, 6)[y]
    X[:, 3:] *= 3
    plain = KNNClassifier(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    learned = KNNClassifier(3, metric=MCML(random_state=0)).fit(X[::2], y[::2])
    assert learned.score(X[1::2], y[1::2]) > plain
    assert learned.metric_.feature_relevance_[:3].sum() > 0.8


def test_the_loss_falls():
    X, y = load_iris(return_X_y=True)
    model = MCML(max_iter=20, early_stopping=False, random_state=0).fit(X, y)
    assert model.loss_curve_[-1] < model.loss_curve_[0]
