"""Neighbours ranked by the metric at their places, against the distance written out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal import EGOP, EJOP, GradientWeights, KNNClassifier, KNNRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4)) * [1, 2, 1, 1]
Y = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2], [-0.7, 0.7])
NEW = RNG.normal(size=(12, 4))


def told(metric, query, row):
    """Return the distance the documentation writes down, from the gradients at both places."""
    gap = row - query
    ends = metric.local_metric(np.vstack([query, row]))
    global_squared = gap @ metric.get_mahalanobis_matrix() @ gap
    mapped = np.linalg.pinv(metric.components_)
    mean = mapped.T @ metric.outer_product_ @ mapped
    scale = len(mean) / np.trace(mean)
    return np.sqrt(global_squared / 2 + scale * (gap @ ends.mean(axis=0) @ gap) / 2)


@pytest.fixture(scope="module", params=["analytic", "local-linear", "kernel-ridge"])
def model(request):
    metric = EJOP(request.param, local=True, random_state=0)
    return KNNClassifier(n_neighbors=9, metric=metric).fit(X, Y)


def test_distances_are_those_of_the_mean_and_the_local_metrics(model):
    distances, rows = model.kneighbors(NEW)
    expected = np.array([[told(model.metric_, query, row) for row in X] for query in NEW])
    np.testing.assert_array_equal(rows, np.argsort(expected, axis=1)[:, :9])
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :9], rtol=1e-6)


def test_a_row_is_not_its_own_neighbour(model):
    _, rows = model.kneighbors()
    assert not (rows == np.arange(len(X))[:, None]).any()


def test_ranking_in_blocks_gives_the_same(model, monkeypatch):
    whole = model.kneighbors(NEW)
    monkeypatch.setattr("vicinal.metric.gradients._local._BLOCK_ENTRIES", 1)
    for part, expected in zip(model.kneighbors(NEW), whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-9)


def test_only_candidates_are_ranked(model):
    _, rows = model.kneighbors(NEW, n_neighbors=1)
    near = KNNClassifier(metric=FrozenEstimator(EJOP_of(model))).fit(X, Y).kneighbors(NEW, 10)[1]
    assert all(row in among for row, among in zip(rows[:, 0], near, strict=True))


def EJOP_of(model):
    """Return the same metric, not local."""
    clone = vicinal.EJOP()
    clone.__dict__.update({**model.metric_.__dict__, "local": False})
    return clone


def test_a_saved_model_and_a_pipeline_rank_alike(tmp_path):
    metric = make_pipeline(StandardScaler(), EJOP("analytic", local=True, random_state=0))
    model = KNNClassifier(metric=metric).fit(X, Y)
    scaled = StandardScaler().fit(X)
    alone = KNNClassifier(metric=EJOP("analytic", local=True, random_state=0))
    alone.fit(scaled.transform(X), Y)
    expected = alone.kneighbors(scaled.transform(NEW))
    vicinal.save_model(model, tmp_path / "model.vicinal")
    for each in (model, vicinal.load_model(tmp_path / "model.vicinal")):
        np.testing.assert_allclose(each.kneighbors(NEW)[0], expected[0])
        np.testing.assert_array_equal(each.kneighbors(NEW)[1], expected[1])


def test_more_features_than_rows_and_few_components():
    wide = RNG.normal(size=(40, 60))
    y = wide[:, 0] + wide[:, 1]
    for settings in ({}, {"n_components": 2}):
        model = KNNRegressor(metric=EGOP(local=True, random_state=0, **settings)).fit(wide, y)
        distances, _ = model.kneighbors(wide[:5] + 0.1)
        assert np.isfinite(distances).all()
        assert (np.diff(distances, axis=1) >= 0).all()


def test_what_cannot_rank_locally_says_so():
    with pytest.raises(ValueError, match=r"GradientWeights does not make; take EGOP or EJOP"):
        GradientWeights(local=True).fit(X, Y)
    pytest.importorskip("faiss")
    model = KNNClassifier(metric=EJOP("analytic", local=True, random_state=0), index="faiss")
    with pytest.raises(ValueError, match=r"ranks rows of index='exact', not of a FaissIndex"):
        model.fit(X, Y).predict(NEW)


def test_where_classes_lie_side_by_side_differently_in_two_places_it_errs_less():
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, size=(900, 6))
    y = np.where(rows[:, 0] > 0, rows[:, 1] > 0, rows[:, 2] > 0).astype(int)
    train, test = slice(0, 500), slice(500, None)
    scores = {}
    for local in (False, True):
        model = KNNClassifier(metric=EJOP(local=local, n_iter=1, random_state=0))
        scores[local] = model.fit(rows[train], y[train]).score(rows[test], y[test])
    assert scores[True] > scores[False]
