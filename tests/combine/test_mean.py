"""MeanMetric: the mean of several metrics, whatever learner found them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.preprocessing import scale

from vicinal import EGOP, LDA, LMNN, MLNG, Euclidean, KNNClassifier, MeanMetric
from vicinal.combine import mean_map, near_squared_distance
from vicinal.metric.maps import FunctionMaps


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def test_the_mean_is_that_of_the_mahalanobis_matrices_each_with_near_rows_at_one_distance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * [1, 2, 3, 4]
    maps = [rng.normal(size=(p, 4)) for p in (1, 2, 4)]

    def near(L):
        squared = ((X @ L.T)[:, None] - (X @ L.T)[None]) ** 2
        return np.sort(squared.sum(axis=2), axis=1)[:, 1:6].mean()

    mean = mean_map(maps, np.array([near_squared_distance(X, L) for L in maps]))
    expected = sum(L.T @ L / near(L) for L in maps) / 3
    assert_allclose(mean.T @ mean, expected, rtol=1e-8)


def test_the_units_of_a_learner_do_not_decide_its_share():
    rng = np.random.default_rng(1)
    X, maps = rng.normal(size=(50, 3)), [rng.normal(size=(2, 3)) for _ in range(2)]

    def mean(factor):
        scaled = [maps[0], factor * maps[1]]
        L = mean_map(scaled, np.array([near_squared_distance(X, part) for part in scaled]))
        return L.T @ L

    assert_allclose(mean(1e6), mean(1.0), rtol=1e-8)


def test_few_components_are_the_best_of_that_rank():
    rng = np.random.default_rng(2)
    maps, ones = [rng.normal(size=(4, 4)) for _ in range(3)], np.ones(3)
    full, few = mean_map(maps, ones), mean_map(maps, ones, 2)
    values, vectors = np.linalg.eigh(full.T @ full)
    nearest = (vectors[:, 2:] * values[2:]) @ vectors[:, 2:].T
    assert_allclose(few.T @ few, nearest, atol=1e-10)


def test_equal_fits_have_their_own_metric_as_the_mean():
    X, y = wine()
    mean, alone = MeanMetric(LDA(), n_starts=3).fit(X, y), LDA().fit(X, y)
    M, A = mean.get_mahalanobis_matrix(), alone.get_mahalanobis_matrix()
    assert_allclose(M / np.trace(M), A / np.trace(A), atol=1e-12)


def test_parts_share_out_every_row_once_and_every_class_in_proportion():
    X, y = wine()

    seen = []

    class Recorder(Euclidean):
        def learn(self, rows):
            seen.append((rows.X, rows.codes))
            return super().learn(rows)

    MeanMetric(Recorder(), n_starts=1, n_parts=4, random_state=0).fit(X, y)
    together = np.vstack([rows for rows, _ in seen])
    assert_array_equal(np.sort(together, axis=0), np.sort(X, axis=0))
    for _, labels in seen:
        assert np.ptp(np.bincount(labels) - np.bincount(y) / 4) < 2


def test_the_same_seed_gives_the_same_mean_and_seeds_differ():
    X, y = wine()
    fits = [
        MeanMetric(MLNG(max_iter=2), n_starts=2, random_state=seed).fit(X[::2], y[::2])
        for seed in (0, 0, 1)
    ]
    assert_array_equal(fits[0].components_, fits[1].components_)
    M, N = fits[0].get_mahalanobis_matrix(), fits[2].get_mahalanobis_matrix()
    assert not np.allclose(M, N)
    first, second = (member.get_mahalanobis_matrix() for member in fits[0].estimators_)
    assert not np.allclose(first, second)


def test_an_open_k_of_the_learner_follows_the_mean():
    X, y = wine()
    mean = MeanMetric(LMNN(max_iter=1), n_starts=1, n_neighbors=7).fit(X, y)
    assert mean.estimators_[0].n_neighbors == 7
    told = MeanMetric(LMNN(2, max_iter=1), n_starts=1, n_neighbors=7).fit(X, y)
    assert told.estimators_[0].n_neighbors == 2


def test_weights_reach_learners_that_take_them_and_numbers_are_averaged_too():
    X, y = load_diabetes(return_X_y=True)
    weights = np.where(X[:, 0] > 0, 1.0, 0.01)
    options = {"n_starts": 1, "random_state": 0}
    plain = MeanMetric(EGOP("analytic", random_state=0), **options).fit(X, y)
    heavy = MeanMetric(EGOP("analytic", random_state=0), **options).fit(X, y, weights)
    assert not np.allclose(plain.components_, heavy.components_)
    assert plain.components_.shape == (10, 10)


def test_it_serves_a_classifier_and_its_fits_are_at_hand():
    X, y = wine()
    model = KNNClassifier(3, metric=MeanMetric(LDA(), n_starts=1, n_parts=2, random_state=0))
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95
    assert len(model.metric_.estimators_) == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": LDA}, "estimator must be a metric learner, .* not a class"),
        ({"estimator": LDA(), "n_starts": 0}, "n_starts must be at least 1, got 0"),
        ({"estimator": LDA(), "n_parts": 100}, "n_parts must be at least 1 and at most 89"),
        ({"estimator": LDA(), "n_components": 14}, "n_components=14 is more than the 13 features"),
    ],
)
def test_a_bad_setting_is_refused_with_its_value(parameters, message):
    with pytest.raises(ValueError, match=message):
        MeanMetric(**parameters).fit(*wine())


def test_a_learner_without_a_linear_map_is_refused():
    class Bent(Euclidean):
        def learn(self, rows):
            return FunctionMaps(np.tanh)

        @property
        def maps_(self):
            return FunctionMaps(np.tanh)

    with pytest.raises(ValueError, match="Bent has no single linear map"):
        MeanMetric(Bent(), n_starts=1).fit(*wine())
