"""The mean of votes: each part of a mean of metrics votes alone, where held-out rows hear it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from vicinal import KNNClassifier, KNNRegressor
from vicinal.metric import MetricLearner
from vicinal.metric.maps import FunctionMaps, LinearMaps, Maps, SideBySideMaps
from vicinal.rows import Rows

TABLE = np.random.default_rng(0).normal(size=(260, 4))
LABELS = (np.abs(TABLE[:, 0]) + TABLE[:, 1] > 0.8).astype(int) + (TABLE[:, 1] > 1)
NEW = np.random.default_rng(1).normal(size=(20, 4))


class Both(MetricLearner):
    """A bent map and a linear one beside each other."""

    _task = "auto"

    def learn(self, rows: Rows) -> Maps:
        return self.maps_

    def _keep(self, maps: Maps) -> None:
        """There is nothing to keep."""

    @property
    def _is_fitted(self) -> bool:
        return "n_features_in_" in vars(self)

    @property
    def maps_(self) -> Maps:
        bent = FunctionMaps(lambda X: np.abs(X[:, :1]))
        return SideBySideMaps((bent, LinearMaps(np.eye(4)[1:3])), (2.0, 0.5))


def shares_by_hand(model, places, labels, new):
    """Softmax of minus distances over the nearest, and one row's share for the prior."""
    votes, n = [], len(labels)
    prior = np.bincount(labels) / n
    for columns, temperature in zip((slice(0, 1), slice(1, 3)), model._parts[1], strict=True):
        d = np.linalg.norm(new[:, None, columns] - places[None, :, columns], axis=2)
        near = np.argsort(d, axis=1, kind="stable")[:, : model.n_neighbors_]
        w = np.exp(-np.take_along_axis(d, near, axis=1) / temperature)
        w /= w.sum(axis=1, keepdims=True)
        shares = np.stack([(w * (labels[near] == r)).sum(axis=1) for r in range(3)], axis=1)
        votes.append((n * shares + prior) / (n + 1))
    return np.mean(votes, axis=0)


def only_parts(model):
    """Have a model that tried its parts hear them alone."""
    ends = (0, 1, 3)
    model.heads_, model._fitted_heads = ("parts",), []
    model._parts = ends, vars(model).get("_parts", (ends, (0.3, 0.2)))[1]
    return model


def test_each_part_votes_at_its_own_temperature_and_the_votes_are_averaged():
    model = only_parts(KNNClassifier("auto", Both(), weights="auto").fit(TABLE, LABELS))
    assert {"vote", "parts"} <= set(model.head_losses_)
    places, new = (Both().maps_.database(Z) for Z in (TABLE, NEW))
    expected = shares_by_hand(model, places, LABELS, new)
    assert_allclose(model.predict_proba(NEW), expected, rtol=1e-6)


def test_numbers_are_averaged_too():
    y = np.abs(TABLE[:, 0]) + 0.1 * TABLE[:, 1]
    model = only_parts(KNNRegressor("auto", Both(), weights="auto").fit(TABLE, y))
    assert model.head_losses_["parts"] > 0
    assert model.predict(NEW).shape == (20,)


def test_one_metric_has_no_parts():
    X, y = make_moons(200, noise=0.3, random_state=0)
    assert "parts" not in KNNClassifier("auto", weights="auto").fit(X, y).head_losses_


def test_held_out_rows_hear_a_part_that_knows_more_alone():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    y = (np.abs(X[:, 0]) > 0.67).astype(int)  # the linear part is noise, and spoils both spaces
    model = KNNClassifier("auto", Both(), weights="auto").fit(X[:500], y[:500])
    losses = model.head_losses_
    assert min(losses, key=losses.get) in model.heads_


def test_parts_follow_rows_that_come_and_go():
    model = only_parts(KNNClassifier("auto", Both(), weights="auto").fit(TABLE, LABELS))
    before = model.predict_proba(NEW)
    model.remove_rows([3, 9]).add_rows(TABLE[[3, 9]], LABELS[[3, 9]])
    assert_allclose(model.predict_proba(NEW), before, rtol=1e-9)
    model.remove_rows(np.arange(100))
    places, new = (Both().maps_.database(Z) for Z in (TABLE, NEW))
    left = np.r_[np.arange(102, 260), 3, 9]  # the first hundred of those that had moved up
    assert_allclose(
        model.predict_proba(NEW), shares_by_hand(model, places[left], LABELS[left], new), rtol=1e-6
    )


@pytest.mark.parametrize("rows", [0, 1])
def test_the_columns_of_parts_are_those_of_the_maps(rows):
    maps = Both().maps_
    assert maps.widths(TABLE[:1]) == [1, 2]
    assert_array_equal(
        maps.alone(rows).database(TABLE), maps.database(TABLE)[:, [[0], [1, 2]][rows]]
    )
