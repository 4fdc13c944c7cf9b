"""MLKR: what it does for regression, in blocks and batches, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from vicinal import MLKR, KNNRegressor


def test_features_that_say_nothing_of_the_target_lose_their_weight():
    X, y = make_friedman1(400, random_state=0)
    plain = KNNRegressor(5).fit(X[:250], y[:250]).score(X[250:], y[250:])
    model = KNNRegressor(5, metric=MLKR(random_state=0)).fit(X[:250], y[:250])
    assert model.score(X[250:], y[250:]) > plain + 0.15
    assert model.metric_.feature_relevance_[5:].sum() < 0.1


def test_the_loss_falls_and_the_curve_says_so():
    X, y = make_friedman1(150, random_state=0)
    learner = MLKR(2, early_stopping=False, max_iter=20).fit(X, y)
    curve = np.array(learner.loss_curve_)
    assert len(curve) == learner.n_iter_ + 1
    assert curve[-1] < 0.8 * curve[0]
    assert (np.diff(curve) <= 1e-9).all()


def test_batches_learn_too():
    X, y = make_friedman1(300, random_state=0)
    learner = MLKR(2, solver="mini-batch", n_references=100, max_iter=10, random_state=0)
    curve = learner.fit(X, y).loss_curve_
    assert curve[-1] < 0.8 * curve[0]


def test_units_of_rows_and_targets_do_not_matter():
    X, y = make_friedman1(100, random_state=0)
    settings = {"early_stopping": False, "max_iter": 5}
    plain = MLKR(**settings).fit(X, y).loss_curve_
    moved = MLKR(**settings).fit(1e5 * X + 1e6, 1e-7 * y).loss_curve_
    assert np.allclose(plain, moved, rtol=1e-3)


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="n_samples=1"):
        MLKR().fit([[1.0, 2.0]], [1.0])
