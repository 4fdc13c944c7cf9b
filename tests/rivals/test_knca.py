"""KNCA: NCA for k = 1, and a vote of k beyond."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_moons

from vicinal import KNCA, NCA, KNNClassifier


def test_for_one_neighbour_the_map_is_ncas():
    X, y = load_iris(return_X_y=True)
    settings = {"init": np.eye(2, 4), "max_iter": 10, "early_stopping": False}
    one, plain = KNCA(1, **settings).fit(X, y), NCA(**settings).fit(X, y)
    assert_allclose(one.components_, plain.components_, rtol=1e-4, atol=1e-6)


def test_noise_is_left_out_of_the_distance():
    X, y = make_moons(300, noise=0.1, random_state=0)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(300, 4))])
    plain = KNNClassifier(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    metric = KNCA(random_state=0, max_iter=20)
    learned = KNNClassifier(3, metric=metric).fit(X[::2], y[::2])
    assert learned.score(X[1::2], y[1::2]) > plain + 0.02
    assert learned.metric_.feature_relevance_[:2].sum() > 0.8


def test_k_must_be_a_whole_number():
    with pytest.raises(ValueError, match="n_neighbors must be at least 1"):
        KNCA(0).fit(*load_iris(return_X_y=True))
