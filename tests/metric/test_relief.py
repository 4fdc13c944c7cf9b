"""ReliefF against slow loops, and what its users may rely on."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from tests.oracles import relief

from vicinal import ReliefF
from vicinal.metric._relief import diagonal_map
from vicinal.metric.starts import feature_scale, relieff_weights
from vicinal.rows._disguises import LARGEST_VALUE, SMALLEST_VALUE


@st.composite
def tables(draw):
    """Draw X with ties and a constant column, drawn types of features, k and sigma.

    Tied columns range over 4, so that their differences and equal sums of them are exact.
    """
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(6, 40))
    d, k = draw(st.integers(2, 7)), draw(st.integers(1, 12))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = rng.integers(0, 5, (n, d)).astype(float)
        X[0], X[1] = 0, 4
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    X[:, 0] = 3.5
    discrete = tuple(np.flatnonzero(rng.random(d) < 0.3).tolist())
    sigma = draw(st.sampled_from([None, 0.05, 2.0, 20.0]))
    return rng, X, k, discrete, sigma


@settings(max_examples=40)
@given(tables(), st.integers(2, 4))
def test_weights_for_classes_are_those_of_the_loops(table, n_classes):
    rng, X, k, discrete, sigma = table
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, len(X) - n_classes))
    found = ReliefF(k, discrete_features=discrete, sigma=sigma).fit(X, y).feature_weights_
    expected = relief.relieff(X.astype(float), y, k, discrete=discrete, sigma=sigma)
    assert found == pytest.approx(expected, abs=1e-9)
    assert found[0] == 0.0


@settings(max_examples=40)
@given(tables())
def test_weights_for_numbers_are_those_of_the_loops(table):
    rng, X, k, discrete, sigma = table
    y = rng.normal(size=len(X))
    found = ReliefF(k, discrete_features=discrete, sigma=sigma).fit(X, y).feature_weights_
    expected = relief.rrelieff(X.astype(float), y, k, discrete=discrete, sigma=sigma)
    assert found == pytest.approx(expected, abs=1e-9)
    assert found[0] == 0.0


def test_many_points_and_neighbours_agree_with_the_loops():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(260, 3)), rng.integers(0, 2, 260)
    found = ReliefF(70, n_samples=3, random_state=1).fit(X, y)
    chosen = np.sort(np.random.RandomState(1).choice(260, 3, replace=False))
    assert found.feature_weights_ == pytest.approx(relief.relieff(X, y, 70, queries=chosen))


def signal(rng, n):
    X = rng.random((n, 6))
    return X, (X[:, 1] > 0.5).astype(int) ^ (X[:, 4] > 0.5)


def test_features_that_only_tell_together_are_found():
    # Parity of two features: neither tells anything alone.
    X, y = signal(np.random.default_rng(3), 600)
    weights = ReliefF().fit(X, y).feature_weights_
    assert set(np.argsort(-weights)[:2]) == {1, 4}


def test_a_number_that_depends_on_one_feature_points_to_it():
    rng = np.random.default_rng(4)
    X = rng.random((400, 5))
    weights = ReliefF().fit(X, np.sin(5 * X[:, 2])).feature_weights_
    assert np.argmax(weights) == 2


def test_the_map_is_the_root_of_the_positive_weights_scaled_to_one():
    X, y = load_iris(return_X_y=True)
    learner = ReliefF().fit(X, y)
    weights = np.maximum(learner.feature_weights_, 0)
    assert learner.components_ == pytest.approx(np.diag(np.sqrt(weights / weights.max())))


def test_relevance_is_the_share_in_the_squared_distances_of_the_rows():
    X, y = load_iris(return_X_y=True)
    learner = ReliefF().fit(X, y)
    mapped = learner.transform(X)
    squares = ((mapped[:, None] - mapped[None]) ** 2).sum(axis=(0, 1))
    assert learner.feature_relevance_ == pytest.approx(squares / squares.sum())


def test_n_components_keeps_the_strongest_features_in_order():
    X, y = load_iris(return_X_y=True)
    learner = ReliefF(n_components=2).fit(X, y)
    strongest = np.argsort(-learner.feature_weights_)[:2]
    assert learner.transform(X).shape == (150, 2)
    assert (np.argmax(learner.components_, axis=1) == strongest).all()


def test_without_any_positive_weight_the_map_is_the_identity():
    # Parity on a square, one neighbour: each feature differs more among hits than among misses.
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    learner = ReliefF(1).fit(X, y)
    assert (learner.feature_weights_ < 0).all()
    assert (learner.components_ == np.eye(2)).all()


def test_the_diagonal_is_to_be_had_without_the_matrix():
    X, y = load_iris(return_X_y=True)
    learner = ReliefF().fit(X, y)
    weights = relieff_weights(X, y)
    assert (weights == learner.feature_weights_).all()
    assert (feature_scale(weights) == np.diag(learner.components_)).all()


def test_a_few_of_many_features_are_kept_without_a_square_matrix():
    weights = np.random.default_rng(0).normal(size=5000)
    tracemalloc.start()
    rows = diagonal_map(weights, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    strongest = np.argsort(-weights)[:3]
    assert rows.sum(axis=1) == pytest.approx(np.sqrt(weights[strongest] / weights.max()))
    assert (rows.argmax(axis=1) == strongest).all()
    assert peak < 20 * rows.nbytes


@pytest.mark.parametrize("classification", [True, False])
def test_threads_change_no_bit(classification):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 6))
    y = rng.integers(0, 3, 700) if classification else rng.random(700)
    alone = ReliefF(n_jobs=1).fit(X, y).feature_weights_
    for n_jobs in (2, 3):
        assert (ReliefF(n_jobs=n_jobs).fit(X, y).feature_weights_ == alone).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scale_and_offset_of_a_feature_do_not_matter(dtype):
    rng = np.random.default_rng(6)
    X, y = rng.integers(0, 9, (120, 4)).astype(dtype), rng.integers(0, 3, 120)
    moved = (X * 2.0 ** np.array([0, 10, -7, 3]) + np.array([0, 0, 0, 64])).astype(dtype)
    assert ReliefF().fit(moved, y).feature_weights_ == pytest.approx(
        ReliefF().fit(X, y).feature_weights_
    )


def test_the_largest_and_smallest_numbers_are_no_trouble():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X /= np.abs(X).max(axis=0)
    plain = ReliefF().fit(X, y).feature_weights_
    X[:, 1] *= SMALLEST_VALUE
    X[:, 2] *= LARGEST_VALUE
    learner = ReliefF().fit(X, y)
    assert learner.feature_weights_ == pytest.approx(plain)
    assert np.isfinite(learner.feature_relevance_).all()


@pytest.mark.parametrize("size", [0.5 * SMALLEST_VALUE, 2 * LARGEST_VALUE])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_numbers_beyond_the_largest_and_smallest_taken_are_refused(size, task):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X[:, 1] *= size / np.abs(X[:, 1]).max()
    with pytest.raises(ValueError, match=r"size .* in column 1.*rescale"):
        ReliefF(task=task).fit(X, y)


def test_a_class_of_one_has_no_hits_and_is_still_a_miss():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(20, 3)), np.array([0] * 10 + [1] * 9 + [2])
    assert ReliefF(4).fit(X, y).feature_weights_ == pytest.approx(relief.relieff(X, y, 4))


def test_a_sample_gives_about_the_same_weights_and_the_same_for_one_seed():
    X, y = signal(np.random.default_rng(9), 800)
    whole = ReliefF().fit(X, y).feature_weights_
    part = ReliefF(n_samples=200, random_state=0).fit(X, y).feature_weights_
    again = ReliefF(n_samples=200, random_state=0).fit(X, y).feature_weights_
    assert (part == again).all()
    assert np.corrcoef(whole, part)[0, 1] > 0.9


def test_labels_may_be_of_any_type():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    assert (ReliefF().fit(X, names).feature_weights_ == ReliefF().fit(X, y).feature_weights_).all()


def test_whole_numbers_are_classes_unless_said_otherwise():
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 4, 50)
    assert hasattr(ReliefF().fit(X, y), "classes_")
    found = ReliefF(task="regression").fit(X, y).feature_weights_
    assert found == pytest.approx(relief.rrelieff(X, y, 10))


def test_a_target_that_never_changes_gives_no_feature_any_weight():
    X = np.random.default_rng(11).normal(size=(30, 3))
    weights = ReliefF(task="regression").fit(X, np.full(30, 2.5)).feature_weights_
    assert (weights <= 0).all()


BAD: dict[str, tuple[dict[str, Any], Any]] = {
    "at least two classes": ({}, np.zeros(20, int)),
    "n_neighbors must be at least 1": ({"n_neighbors": 0}, None),
    "n_neighbors must be a whole number": ({"n_neighbors": 2.5}, None),
    "n_samples must be at least 1 and at most 20": ({"n_samples": 21}, None),
    "n_components=4 is more than the 3 features": ({"n_components": 4}, None),
    "task must be": ({"task": "ranking"}, None),
    "sigma must be a positive": ({"sigma": 0.0}, None),
    "names column 3, but there are 3 features": ({"discrete_features": [3]}, None),
    "discrete_features must be True, False, a mask": ({"discrete_features": [True]}, None),
    "y should be a 1d array": ({"task": "regression"}, np.zeros((20, 2))),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_refused_with_its_reason(message):
    settings_, y = BAD[message]
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=message):
        ReliefF(**settings_).fit(X, np.arange(20) % 2 if y is None else y)


def test_one_versus_all_is_the_mean_of_two_class_weights():
    X, y = load_iris(return_X_y=True)
    series = [ReliefF().fit(X, y == c).feature_weights_ for c in range(3)]
    learner = ReliefF(multiclass="one-versus-all").fit(X, y)
    assert_allclose(learner.feature_weights_, np.mean(series, axis=0))
    two = y < 2
    both = [ReliefF(multiclass=m).fit(X[two], y[two]) for m in ("joint", "one-versus-all")]
    assert_allclose(both[0].feature_weights_, both[1].feature_weights_)
    with pytest.raises(ValueError, match="multiclass must be one of 'joint', 'one-versus-all'"):
        ReliefF(multiclass="ovr").fit(X, y)
