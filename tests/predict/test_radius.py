"""Prediction within a radius: the vote, the mean, and the queries nobody is near to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor

from vicinal import RadiusClassifier, RadiusRegressor

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])


def test_all_within_the_radius_vote_and_those_on_it_too():
    model = RadiusClassifier(radius=1.0).fit(LINE, ["a", "b", "a", "c", "c"])
    assert model.predict([[1.0], [11.0]]).tolist() == ["a", "c"]
    assert model.n_fallbacks_ == 0


def test_ties_go_to_the_nearest_neighbours_class():
    model = RadiusClassifier(radius=1.0).fit(LINE, ["b", "a", "b", "c", "c"])
    assert model.predict([[0.4], [0.6]]).tolist() == ["b", "a"]


def test_without_neighbours_the_most_frequent_class_is_predicted_and_counted():
    model = RadiusClassifier(radius=0.5).fit(LINE, ["b", "a", "a", "c", "a"])
    assert model.n_fallbacks_ == 0
    assert model.predict([[0.1], [100.0], [-7.0]]).tolist() == ["b", "a", "a"]
    assert model.n_fallbacks_ == 2
    assert model.predict([[0.1]]).tolist() == ["b"]
    assert model.n_fallbacks_ == 0


def test_without_neighbours_the_shares_are_those_of_the_training_rows():
    model = RadiusClassifier(radius=0.5).fit(LINE, ["b", "a", "a", "c", "a"])
    np.testing.assert_allclose(
        model.predict_proba([[100.0], [0.0]]), [[0.6, 0.2, 0.2], [0.0, 1.0, 0.0]]
    )
    assert model.n_fallbacks_ == 1


def test_of_two_most_frequent_classes_the_first_in_order_is_the_fallback():
    model = RadiusClassifier(radius=0.1).fit([[0.0], [1.0]], ["z", "a"])
    assert model.predict([[9.0]]).tolist() == ["a"]
    assert model.predict_proba([[9.0]]).argmax() == 0


def test_the_mean_is_of_all_within_the_radius():
    model = RadiusRegressor(radius=1.0).fit(LINE, [1.0, 2.0, 6.0, 8.0, 4.0])
    assert model.predict([[1.0], [10.5], [0.5]]).tolist() == [3.0, 6.0, 1.5]
    assert model.n_fallbacks_ == 0


def test_without_neighbours_the_training_mean_is_predicted_and_counted():
    targets = np.column_stack([np.arange(5.0), -np.arange(5.0)])
    model = RadiusRegressor(radius=0.5).fit(LINE, targets)
    found = model.predict([[50.0], [1.0], [60.0], [11.0], [70.0]])
    assert found.tolist() == [[2.0, -2.0], [1.0, -1.0], [2.0, -2.0], [4.0, -4.0], [2.0, -2.0]]
    assert model.n_fallbacks_ == 3
    assert model.predict([[50.0]]).tolist() == [[2.0, -2.0]]
    assert model.n_fallbacks_ == 1


def test_predictions_agree_with_scikit_learns_where_nothing_ties():
    X, y = load_diabetes(return_X_y=True)
    theirs = RadiusNeighborsRegressor(radius=0.15).fit(X[:300], y[:300])
    model = RadiusRegressor(radius=0.15).fit(X[:300], y[:300])
    near = np.array([len(i) > 0 for i in theirs.radius_neighbors(X[300:], return_distance=False)])
    assert near.sum() > 0
    found = model.predict(X[300:])
    np.testing.assert_allclose(found[near], theirs.predict(X[300:][near]))
    np.testing.assert_allclose(found[~near], y[:300].mean())
    assert model.n_fallbacks_ == (~near).sum()


def test_shares_agree_with_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    labels = np.digitize(y, [100, 200])
    theirs = RadiusNeighborsClassifier(radius=0.3).fit(X[:300], labels[:300])
    model = RadiusClassifier(radius=0.3).fit(X[:300], labels[:300])
    np.testing.assert_allclose(model.predict_proba(X[300:]), theirs.predict_proba(X[300:]))


def test_neighbours_come_as_lists_with_distances():
    model = RadiusClassifier(radius=1.5).fit(LINE, range(5))
    distances, indices = model.radius_neighbors([[0.75], [99.0]])
    assert [row.tolist() for row in indices] == [[1, 0, 2], []]
    assert [row.tolist() for row in distances] == [[0.25, 0.75, 1.25], []]
    assert model.radius_neighbors([[0.75]], 0.3, return_distance=False)[0].tolist() == [1]


def test_without_queries_each_training_row_gets_the_others():
    model = RadiusClassifier(radius=1.0).fit(LINE, range(5))
    indices = model.radius_neighbors(return_distance=False)
    assert [row.tolist() for row in indices] == [[1], [0, 2], [1], [4], [3]]


def test_the_k_nearest_can_be_asked_for_as_well():
    distances, indices = RadiusClassifier().fit(LINE, range(5)).kneighbors([[0.0]], 2)
    assert (distances.tolist(), indices.tolist()) == ([[0.0, 1.0]], [[0, 1]])


@pytest.mark.parametrize("radius", [-1.0, np.nan, "wide", None])
def test_a_radius_that_cannot_be_is_refused_at_once(radius):
    for predictor in (RadiusClassifier, RadiusRegressor):
        with pytest.raises(ValueError, match="radius must be a number of at least 0"):
            predictor(radius=radius).fit(LINE, range(5))
