"""MMC: gradients, the conditions of its optimum, and degenerate pairs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from tests.oracles import differences

from vicinal import MMC
from vicinal.rivals._mmc import MeanSeparation, diagonal_metric


def test_the_gradient_is_that_of_differences():
    rng = np.random.default_rng(0)
    objective = MeanSeparation(rng.normal(size=(20, 3)))
    L = rng.normal(size=(3, 3))
    wanted = differences.gradient(lambda at: objective(at)[0], L)
    assert_allclose(objective(L)[1], wanted, rtol=1e-5, atol=1e-8)


def pairs_of(n=200, seed=0):
    rng = np.random.default_rng(seed)
    pairs = rng.normal(size=(n, 2, 3))
    return pairs, np.where(np.abs(pairs[:, 0, 0] - pairs[:, 1, 0]) < 0.7, 1, -1)


def test_the_full_optimum_fulfils_the_conditions_of_the_constrained_problem():
    pairs, y = pairs_of()
    gaps = pairs[:, 0] - pairs[:, 1]
    near, far = gaps[y == 1], gaps[y == -1]
    M = MMC(shrinkage=0, tol=1e-12, max_iter=1000).fit_pairs(pairs, y).get_mahalanobis_matrix()
    budget = near.T @ near / len(near)
    assert_allclose(np.sum(budget * M), 1, rtol=1e-6)
    distances = np.sqrt(np.einsum("ij,jk,ik->i", far, M, far))
    slope = (far / (2 * distances[:, None])).T @ far / len(far)
    price = np.sum(slope * M)
    # ∂/∂M is at most price × budget in every direction, and equal to it where M is.
    rest = price * budget - slope
    assert np.linalg.eigvalsh(rest)[0] > -1e-4
    assert_allclose(rest @ M, 0, atol=1e-3)


def test_the_diagonal_optimum_is_the_best_of_many():
    rng = np.random.default_rng(0)
    far = rng.normal(size=(40, 3)) * [3, 1, 1]
    scatter = np.array([1.0, 2.0, 0.5])
    weights, _, _ = diagonal_metric(scatter, far, 500, 1e-9)
    assert_allclose(scatter @ weights, 1, rtol=1e-6)

    def parted(m):
        return np.sqrt(far**2 @ (m / (scatter @ m))).mean()

    assert parted(weights) >= max(parted(m) for m in rng.random((3000, 3))) - 1e-6


@pytest.mark.parametrize("diagonal", [True, False])
def test_pairs_teach_which_feature_counts(diagonal):
    learner = MMC(diagonal=diagonal).fit_pairs(*pairs_of())
    assert learner.feature_relevance_[0] > 0.6
    if diagonal:
        M = learner.get_mahalanobis_matrix()
        assert_allclose(M, np.diag(np.diag(M)))


def test_pairs_of_copies_leave_the_plain_distance_with_a_warning():
    pairs = np.array([[[0.0, 1], [0, 1]], [[0, 1], [1, 0]]])
    with pytest.warns(UserWarning, match="all pairs alike are of equal rows"):
        learner = MMC().fit_pairs(pairs, [1, -1])
    metric = learner.get_mahalanobis_matrix()
    assert_allclose(metric, metric[0, 0] * np.eye(2))
    assert metric[0, 0] > 0


def test_bad_settings_are_refused_in_words():
    with pytest.raises(ValueError, match="shrinkage must be between 0 and 1"):
        MMC(shrinkage=2.0).fit(*load_iris(return_X_y=True))
