"""Starts by name: what each map is, and how many rows it has."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.covariance import OAS
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from vicinal.metric.descent import make_frame
from vicinal.metric.starts import STARTS, Start, feature_scale, relieff_weights, start_map


def wine_in_a_frame():
    X, y = load_wine(return_X_y=True)
    frame = make_frame(X)
    return X, frame.enter(X), y, frame


def wide_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 25))
    frame = make_frame(X)
    return X, frame.enter(X), np.arange(10) % 2, frame


def make_map(name, rows, n_components=None):
    _, inside, codes, frame = rows
    return start_map(Start(name, n_components), inside, codes, frame, np.random.default_rng(0))


@pytest.mark.parametrize("name", [*STARTS, "zeros"])
@pytest.mark.parametrize("n_components", [1, 2, 5])
@pytest.mark.parametrize("rows", [wine_in_a_frame(), wide_rows()], ids=["tall", "wide"])
def test_every_start_has_as_many_rows_as_are_asked_for(name, n_components, rows):
    components = make_map(name, rows, n_components)
    assert components.shape == (n_components, rows[1].shape[1])
    if name != "relieff":  # which gives features that tell nothing no weight
        assert np.linalg.matrix_rank(components) == n_components


@pytest.mark.parametrize("name", STARTS)
def test_every_start_has_all_directions_where_none_are_asked_for(name):
    assert make_map(name, wine_in_a_frame()).shape == (13, 13)


def test_identity_has_the_distances_of_the_features_and_standardised_those_of_the_frame():
    rows = wine_in_a_frame()
    X, inside, *_ = rows
    ratios = pdist(inside @ make_map("identity", rows).T) / pdist(X)
    assert_allclose(ratios, ratios[0])
    assert_allclose(pdist(inside @ make_map("standardised", rows).T), pdist(inside))


@pytest.mark.parametrize("n_components", [2, 10])
def test_pca_is_scikit_learns_up_to_sign(n_components):
    rows = wine_in_a_frame()
    found = make_map("pca", rows, n_components)
    expected = PCA(n_components).fit(rows[1]).components_
    assert_allclose(np.abs(found @ expected.T), np.eye(n_components), atol=1e-6)


def test_whitening_inverts_the_shrunk_covariance_and_takes_the_widest_first():
    rows = wine_in_a_frame()
    inside = rows[1]
    whitening = make_map("whitening", rows)
    assert_allclose(whitening.T @ whitening, OAS().fit(inside).precision_, atol=1e-8)
    first = make_map("whitening", rows, 1)
    widest = PCA(1).fit(inside).components_
    assert np.abs(first @ widest.T).item() == pytest.approx(np.linalg.norm(first), rel=1e-6)


def test_the_adaptive_start_is_the_metric_of_its_source():
    """S^{-1/2} (S^{-1/2} S_b S^{-1/2} + I) S^{-1/2}, with the shrunk S of the lda start."""
    rows = wine_in_a_frame()
    _, inside, codes, _ = rows
    lda = make_map("lda", rows)
    inverse = lda.T @ lda
    shares = np.bincount(codes) / len(codes)
    means = np.array([inside[codes == r].mean(axis=0) for r in range(3)]) - inside.mean(axis=0)
    between = means.T @ (shares[:, None] * means)
    found = make_map("dann", rows)
    assert_allclose(found.T @ found, inverse + inverse @ between @ inverse, rtol=1e-6, atol=1e-8)


def test_relieff_is_the_diagonal_of_the_heaviest_features():
    rows = wine_in_a_frame()
    weights = feature_scale(relieff_weights(rows[1], rows[2], n_jobs=1))
    heaviest = np.argsort(-weights)[:3]
    expected = np.zeros((3, 13))
    expected[np.arange(3), heaviest] = weights[heaviest]
    assert_allclose(make_map("relieff", rows, 3), expected)


@pytest.mark.parametrize("name", ["lda", "dann", "whitening", "relieff"])
def test_sparse_rows_are_refused_by_starts_that_would_make_them_dense(name):
    X, inside, codes, frame = wine_in_a_frame()
    with pytest.raises(ValueError, match=rf"init='{name}' needs dense rows.*'pca'"):
        make_map(name, (X, sparse.csr_array(inside), codes, frame))


@pytest.mark.parametrize("name", ["identity", "standardised", "pca"])
def test_sparse_rows_have_the_starts_of_dense_ones(name):
    X, inside, codes, frame = wine_in_a_frame()
    dense = make_map(name, (X, inside, codes, frame), 3)
    thin = make_map(name, (X, sparse.csr_array(inside), codes, frame), 3)
    assert_allclose(thin.T @ thin, dense.T @ dense, atol=1e-6)


def test_a_start_tells_its_name_and_its_rows():
    assert Start("lda").label() == "lda"
    assert Start("lda", 2).label() == "lda, 2 components"
