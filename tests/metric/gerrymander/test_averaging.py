"""Means of metrics, and what a fit takes the mean of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from vicinal import MLNG, KNNClassifier
from vicinal.metric.gerrymander._averaging import mean_map


def random_maps(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def repeated_digits(n=10_200):
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(X), size=n)
    return X[drawn, ::4] + rng.normal(size=(n, 16)), y[drawn]


def test_the_mean_map_has_the_mean_metric():
    maps = random_maps((2, 5), (3, 5), (5, 5))
    size = np.trace(maps[0].T @ maps[0])
    metrics = [part.T @ part for part in maps]
    expected = sum(size / np.trace(metric) * metric for metric in metrics) / 3
    mean = mean_map(maps)
    assert_allclose(mean.T @ mean, expected)


def test_fewer_components_give_the_nearest_metric_of_that_rank():
    maps = random_maps((4, 6), (4, 6), seed=1)
    whole, cut = mean_map(maps), mean_map(maps, 2)
    assert cut.shape == (2, 6)
    values = np.linalg.eigvalsh(whole.T @ whole)[::-1]
    apart = np.linalg.norm(whole.T @ whole - cut.T @ cut)
    assert apart == pytest.approx(np.linalg.norm(values[2:]))


def test_maps_of_one_size_keep_their_unit_and_their_type():
    maps = [part.astype(np.float32) for part in random_maps((3, 3), (3, 3))]
    mean = mean_map([maps[0], 100 * maps[1]])
    assert mean.dtype == np.float32
    assert_allclose(np.linalg.norm(mean), np.linalg.norm(maps[0]), rtol=1e-5)


def test_the_mean_of_one_map_is_that_metric_and_zero_stays_zero():
    (only,) = random_maps((2, 4))
    assert_allclose(mean_map([only]).T @ mean_map([only]), only.T @ only)
    assert_array_equal(mean_map([np.zeros((2, 3))]).T @ np.ones(1), np.zeros(3))


def test_fewer_rows_share_the_metric_among_the_settings_that_do_well():
    X, y = repeated_digits(400)
    seen: list[Any] = []
    MLNG(random_state=0, callback=seen.append).fit(X, y)
    tried = {p.setting for p in seen if p.stage == "settings"}
    assert len(tried) > 4
    fitted = {p.setting for p in seen if p.stage == "fit"}
    assert 1 < len(fitted) <= 4
    assert fitted <= tried


def test_two_settings_at_most_share_where_a_sample_has_chosen_them():
    X, y = repeated_digits(6_600)
    X = X + np.random.default_rng(1).normal(0, 6, X.shape)  # so hard that settings err alike
    seen: list[Any] = []
    MLNG(random_state=0, max_iter=2, callback=seen.append).fit(X, y)
    assert len({p.setting for p in seen if p.stage == "settings"}) > 4
    assert len({p.setting for p in seen if p.stage == "fit"}) == 2


def test_many_rows_go_on_from_what_parts_of_them_taught():
    X, y = repeated_digits()
    seen: list[Any] = []
    options = {"init": "identity", "random_state": 0}
    metric = MLNG(**options, callback=seen.append).fit(X, y)
    fit = [p for p in seen if p.stage == "fit"]
    assert [p.epoch for p in fit] == [1, 2, 3]
    assert metric.n_iter_ == 3
    # The last epochs begin where the parts have come to, not where their starts were.
    first = MLNG(**options, learning_rate=metric.learning_rate_, max_iter=1).fit(X, y)
    assert fit[0].loss < first.loss_curve_[0]


def test_larger_votes_learn_from_all_of_many_rows_from_the_start():
    X, y = repeated_digits()
    seen: list[Any] = []
    options = {"init": "identity", "random_state": 0, "max_iter": 4}
    metric = MLNG(11, **options, callback=seen.append).fit(X, y)
    fit = [p for p in seen if p.stage == "fit"]
    assert [p.epoch for p in fit] == list(range(1, metric.n_iter_ + 1))
    # They begin at the start, with seven neighbours, as a fit of this setting alone does.
    alone = MLNG(11, training_neighbors=7, learning_rate=metric.learning_rate_, **options).fit(X, y)
    assert metric.loss_curve_ == alone.loss_curve_[: metric.n_iter_]
    assert not np.allclose(metric.components_, alone.components_)


def test_stopping_ends_every_fit_that_shares_in_the_metric():
    X, y = repeated_digits(400)
    seen = []

    def stop(progress):
        seen.append(progress.stage)
        return progress.stage == "fit"

    MLNG(random_state=0, callback=stop).fit(X, y)
    assert seen.count("fit") == 1


@pytest.mark.parametrize("n_rows", [400, 10_200])
def test_threads_change_nothing(n_rows):
    X, y = repeated_digits(n_rows)
    options = {"init": "identity", "random_state": 1, "max_iter": 4}
    maps = [MLNG(n_jobs=n_jobs, **options).fit(X, y).components_ for n_jobs in (1, 2)]
    assert_array_equal(*maps)


def test_a_number_of_components_holds_for_the_mean_too():
    X, y = load_digits(return_X_y=True)
    metric = MLNG(n_components=7, random_state=0, max_iter=2).fit(X, y)
    assert metric.components_.shape == (7, 64)
    assert KNNClassifier(3, metric=metric).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
