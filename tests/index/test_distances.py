"""Distances by name: those of scikit-learn, ties by row, in indexes and in predictors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from vicinal import ExactIndex, KNNClassifier, RadiusRegressor, load_model, save_model
from vicinal.index import DISTANCES, SparseIndex

NAMED = [name for name in DISTANCES if name != "euclidean"]
_rng = np.random.default_rng(0)
ROWS = _rng.integers(1, 5, size=(130, 4)).astype(float)
QUERIES = _rng.integers(1, 5, size=(30, 4)) + 0.5
LABELS = _rng.integers(0, 3, size=130)


def in_order(distances):
    """Every row by its distance, to nine digits, then by its number."""
    return np.lexsort((np.arange(len(distances)), np.round(distances, 9)))


@pytest.mark.parametrize("metric", NAMED)
@pytest.mark.parametrize("block_size", [7, None])
def test_the_nearest_are_those_of_scikit_learn(metric, block_size):
    rows, queries = _rng.normal(size=(130, 4)), _rng.normal(size=(30, 4))
    expected = pairwise_distances(queries, rows, metric)
    values, near = ExactIndex(rows, metric=metric, block_size=block_size).query(queries, 9)
    np.testing.assert_allclose(values, np.sort(expected, axis=1)[:, :9], atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(expected, near, axis=1), values, atol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "hamming"])
def test_of_equal_distances_the_lower_row_comes_first(metric):
    expected = pairwise_distances(ROWS, ROWS, metric)
    _, rows = ExactIndex(ROWS, metric=metric).query(ROWS, 20)
    np.testing.assert_array_equal(rows, [in_order(some)[:20] for some in expected])


@pytest.mark.parametrize("metric", NAMED)
def test_all_within_a_distance_are_named_once(metric):
    rows, queries = _rng.normal(size=(130, 4)), _rng.normal(size=(30, 4))
    expected = pairwise_distances(queries, rows, metric)
    radius = float(np.median(expected)) + 1e-9
    values, near, ends = ExactIndex(rows, metric=metric).query_radius(queries, radius)
    for number, some in enumerate(expected):
        part = slice(ends[number], ends[number + 1])
        assert sorted(near[part]) == list(np.flatnonzero(some <= radius))
        assert np.all(np.diff(values[part]) >= 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-100, 1e100))
def test_the_cosine_knows_no_length(seed, factor):
    rows = np.random.default_rng(seed).normal(size=(20, 3))
    values, near = ExactIndex(rows, metric="cosine").query(rows[:5], 4)
    again, same = ExactIndex(rows * factor, metric="cosine").query(rows[:5] * 7, 4)
    np.testing.assert_allclose(values, again, atol=1e-14)
    np.testing.assert_array_equal(near, same)


def test_sparse_rows_have_the_cosines_of_dense_ones():
    dense = np.where(_rng.random((60, 12)) < 0.4, _rng.normal(size=(60, 12)), 0.0)
    dense[:, 0] = 1.0
    values, rows = ExactIndex(dense, metric="cosine").query(dense[:9], 5)
    sparse = SparseIndex(csr_matrix(dense), metric="cosine")
    np.testing.assert_allclose(sparse.query(csr_matrix(dense[:9]), 5)[0], values, atol=1e-12)
    np.testing.assert_array_equal(sparse.query(csr_matrix(dense[:9]), 5)[1], rows)
    near = sparse.query_radius(csr_matrix(dense[:1]), float(values[0, 3]) + 1e-9)[1]
    assert list(near) == list(rows[0, :4])


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "l1", "canberra"])
def test_a_classifier_votes_as_scikit_learns_does(metric):
    X = np.random.default_rng(1).normal(size=(150, 5))
    y = np.arange(150) % 3
    ours = KNNClassifier(7, metric=metric, weights="distance").fit(X[:100], y[:100])
    theirs = KNeighborsClassifier(7, metric=metric, weights="distance").fit(X[:100], y[:100])
    np.testing.assert_allclose(ours.predict_proba(X[100:]), theirs.predict_proba(X[100:]))
    distances, rows = ours.kneighbors(X[100:])
    expected, same_rows = theirs.kneighbors(X[100:])
    np.testing.assert_allclose(distances, expected, atol=1e-12)
    np.testing.assert_array_equal(rows, same_rows)


def test_a_predictor_by_name_survives_the_round_trip(tmp_path):
    y = ROWS @ [1.0, 2.0, 3.0, 4.0]
    model = RadiusRegressor(radius=2.0, metric="manhattan").fit(ROWS, y)
    save_model(model, tmp_path / "model.vicinal")
    again = load_model(tmp_path / "model.vicinal").predict(ROWS)
    np.testing.assert_array_equal(again, model.predict(ROWS))
    means = [y[np.abs(ROWS - row).sum(axis=1) <= 2].mean() for row in ROWS]
    np.testing.assert_allclose(again, means)


def test_what_is_no_distance_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match="Did you mean 'manhattan'"):
        ExactIndex(ROWS, metric="manhatan")
    with pytest.raises(ValueError, match="a row of zeros, row 1, which has no direction"):
        ExactIndex([[1.0, 0.0], [0.0, 0.0]], metric="cosine")
    with pytest.raises(ValueError, match="euclidean or cosine"):
        SparseIndex(csr_matrix(ROWS), metric="manhattan")
    with pytest.raises(ValueError, match="faiss searches by Euclidean distance"):
        KNNClassifier(metric="cosine", index="faiss").fit(ROWS, LABELS)
