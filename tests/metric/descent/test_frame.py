"""The frame: learning's coordinates keep distances, whatever the shape of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from vicinal.metric.descent import Frame, make_frame

SHAPES = {"tall": (40, 6), "wide": (8, 30)}


def draw_rows(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * rng.uniform(0.1, 20, shape[1]) + rng.normal(0, 50, shape[1])


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_folded_map_has_the_distances_it_had_in_the_frame(shape):
    X = draw_rows(shape)
    frame = make_frame(X)
    inside = frame.enter(X)
    components = np.random.default_rng(1).normal(size=(3, frame.width))
    folded = frame.fold(components)
    assert folded.shape == (3, shape[1])
    assert_allclose(pdist(X @ folded.T), pdist(inside @ components.T), rtol=1e-8)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_unfolding_is_the_way_back(shape):
    X = draw_rows(shape)
    frame = make_frame(X)
    components = np.random.default_rng(1).normal(size=(3, frame.width))
    assert_allclose(frame.unfold(frame.fold(components)), components, rtol=1e-10)
    # A map of the features that no frame made agrees with its unfolding on the rows.
    given = np.random.default_rng(2).normal(size=(4, shape[1]))
    expected = pdist(X @ given.T)
    assert_allclose(pdist(frame.enter(X) @ frame.unfold(given).T), expected, rtol=1e-8)


def test_tall_rows_become_standardised_and_wide_ones_no_wider_than_their_rank():
    X = draw_rows(SHAPES["tall"])
    inside = make_frame(X).enter(X)
    assert_allclose(inside.mean(axis=0), 0, atol=1e-12)
    assert_allclose(inside.std(axis=0), 1)
    wide = draw_rows(SHAPES["wide"])
    assert make_frame(wide).width == 7  # eight centred rows
    basis = make_frame(wide).basis
    assert basis is not None
    assert_allclose(basis.T @ basis, np.eye(7), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.1, 1e10 / 3])
@pytest.mark.parametrize("n_rows", [60, 5000])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_constant_column_has_scale_one(container, n_rows, value, dtype):
    X = np.full((n_rows, 2), value, dtype)
    X[:, 0] = np.arange(n_rows)
    scale = make_frame(container(X)).scale
    assert scale[1] == 1
    assert scale[0] == pytest.approx(np.std(np.arange(n_rows)), rel=1e-5)


def test_a_column_that_varies_by_rounding_only_is_constant():
    X = np.column_stack([np.arange(3000.0), np.full(3000, 0.1)])
    X[::2, 1] = np.nextafter(0.1, 1)
    assert make_frame(X).scale[1] == 1


def test_small_values_are_not_taken_for_constants():
    X = 1e-9 * np.random.default_rng(0).normal(size=(50, 2)) + [0, 1e-9]
    assert_allclose(make_frame(X).scale, X.std(axis=0))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_two_folded_maps_need_the_offset_to_keep_their_distances(shape):
    X = draw_rows(shape)
    frame = make_frame(X)
    queries, points = frame.enter(X[:3]), frame.enter(X[3:])
    rng = np.random.default_rng(3)
    for_queries, for_points = rng.normal(size=(2, 4, frame.width))
    expected = cdist(queries @ for_queries.T, points @ for_points.T)
    U, V = frame.fold(for_queries), frame.fold(for_points)
    offset = frame.offset(U, V)
    assert_allclose(cdist(X[:3] @ U.T - offset, X[3:] @ V.T), expected, rtol=1e-8)
    assert not np.allclose(cdist(X[:3] @ U.T, X[3:] @ V.T), expected)
    assert_array_equal(frame.offset(U, U), 0)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("standardise", [True, False])
def test_the_plain_map_has_the_distances_of_the_features_up_to_one_factor(shape, standardise):
    X = draw_rows(shape)
    frame = make_frame(X, standardise=standardise)
    ratios = pdist(frame.enter(X) @ frame.plain(frame.width).T) / pdist(X)
    assert_allclose(ratios, ratios[0], rtol=1e-8)
    assert frame.plain(2).shape == (2, frame.width)


def test_one_scale_for_all_columns_is_plain_and_bounds_the_rows():
    X = draw_rows(SHAPES["tall"])
    frame = make_frame(X, standardise=False)
    assert frame.is_plain
    assert np.abs(frame.enter(X)).max() == pytest.approx(1)
    assert not make_frame(X).is_plain
    assert make_frame(np.ones((4, 2)), standardise=False).scale.tolist() == [1, 1]


def test_sparse_rows_are_scaled_alone_and_stay_sparse():
    rng = np.random.default_rng(0)
    X = rng.normal(2, 1, size=(50, 4)) * (rng.random((50, 4)) < 0.4) * [1, 10, 0.1, 3]
    frame = make_frame(sparse.csr_array(X))
    inside: Any = frame.enter(sparse.csr_array(X))
    assert sparse.issparse(inside)
    assert_allclose(frame.scale, X.std(axis=0))
    assert_allclose(inside.toarray(), X / X.std(axis=0))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_sparse_rows_enter_a_frame_of_dense_ones_with_the_same_distances(shape):
    X = draw_rows(shape)
    frame = make_frame(X)
    entered: Any = frame.enter(sparse.csr_array(X))
    dense = entered.toarray() if sparse.issparse(entered) else entered
    assert_allclose(pdist(dense), pdist(frame.enter(X)), rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_rows_keep_their_type(shape):
    X = draw_rows(shape).astype(np.float32)
    frame = make_frame(X)
    assert frame.enter(X).dtype == np.float32
    assert frame.enter(sparse.csr_array(X)).dtype == np.float32
    assert frame.fold(np.eye(2, frame.width, dtype=np.float32)).dtype == np.float32


def test_rows_that_are_all_equal_make_a_frame():
    frame = make_frame(np.ones((3, 5)))
    assert frame.width == 1
    assert_array_equal(frame.enter(np.ones((3, 5))), 0)


def test_the_width_of_a_frame_without_a_basis_is_that_of_the_features():
    assert Frame(np.zeros(3), np.ones(3)).width == 3
