"""LSML: its gradient, its closed form, and quadruplets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from tests.oracles import differences

from vicinal import LSML
from vicinal.rivals._lsml import SquaredResiduals


def test_the_gradient_is_that_of_differences():
    rng = np.random.default_rng(0)
    near, far = rng.normal(size=(2, 30, 3))
    objective = SquaredResiduals(near, far, rng.random(30), 0.3)
    L = rng.normal(size=(3, 3))
    wanted = differences.gradient(lambda at: objective(at)[0], L)
    assert_allclose(objective(L)[1], wanted, rtol=1e-5, atol=1e-7)


def test_without_violated_quadruplets_the_metric_is_the_prior():
    quadruplets = np.zeros((4, 4, 2))
    quadruplets[:, 1] = [0.1, 0.1]
    quadruplets[:, 3] = np.random.default_rng(0).normal(size=(4, 2)) + 5
    learner = LSML(prior=np.diag([2.0, 3.0])).fit_quadruplets(quadruplets)
    assert_allclose(learner.get_mahalanobis_matrix(), np.diag([2.0, 3.0]), rtol=1e-3, atol=1e-3)


def test_quadruplets_teach_which_feature_counts():
    rng = np.random.default_rng(0)
    quadruplets = rng.normal(size=(300, 4, 3))
    near = np.abs(quadruplets[:, 0, 0] - quadruplets[:, 1, 0])
    far = np.abs(quadruplets[:, 2, 0] - quadruplets[:, 3, 0])
    turned = quadruplets[:, [2, 3, 0, 1]]
    ordered = np.where((near < far)[:, None, None], quadruplets, turned)
    learner = LSML().fit_quadruplets(ordered)
    assert learner.feature_relevance_[0] > 0.8
    heavy = LSML().fit_quadruplets(ordered, sample_weight=np.arange(300.0))
    assert heavy.feature_relevance_[0] > 0.8


def test_bad_input_is_refused_in_words():
    with pytest.raises(ValueError, match=r"quadruplets must have shape \(n, 4, n_features\)"):
        LSML().fit_quadruplets(np.zeros((3, 2, 2)))
    with pytest.raises(ValueError, match="regularization must be a number above zero"):
        LSML(regularization=0).fit(*load_iris(return_X_y=True))
