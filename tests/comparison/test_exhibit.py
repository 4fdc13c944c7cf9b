"""What the report shows of a metric: true maps, relevances and examples, kept without loss."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_digits, load_wine

from vicinal import LDA
from vicinal._types import Dataset
from vicinal.comparison._exhibit import (
    choose_examples,
    first_two_components,
    make_exhibit,
    original_relevance,
    spectrum,
)
from vicinal.comparison._exhibit_file import read_exhibit, write_exhibit
from vicinal.comparison._rows import make_setting_folds, prepare_fold
from vicinal.data import Preparation
from vicinal.runs import Cell, Setting, Source


def wine() -> Dataset:
    bunch = load_wine()
    names = tuple(bunch.feature_names)
    return Dataset("wine", bunch.data, bunch.target, "classification", names, ("a", "b", "c"))


def exhibit_of(dataset: Dataset, method: str, k: int = 3, **preparation):
    setting = Setting(Source(dataset.name), preparation, "kfold", {"n_folds": 5})
    fold = make_setting_folds(dataset, setting)[0]
    prepared = prepare_fold(dataset, fold, preparation)
    return make_exhibit(Cell(setting, 0, method, (k,)), prepared), prepared


def test_maps_show_the_test_rows_before_and_after():
    exhibit, prepared = exhibit_of(wine(), "lda")
    n = len(prepared.y_test)
    assert exhibit.map_before.shape == exhibit.map_after.shape == (n, 2)
    assert_array_equal(exhibit.map_targets, np.array(["a", "b", "c"])[prepared.y_test])
    assert (exhibit.method, exhibit.title, exhibit.k) == ("lda", "LDA", 3)


def test_a_map_keeps_distances_where_two_dimensions_are_all_there_is():
    points = np.random.default_rng(0).normal(size=(30, 2)) @ np.ones((2, 2)) + np.arange(2)
    flat = first_two_components(points)
    assert_allclose(np.linalg.norm(flat[1:] - flat[0], axis=1),
                    np.linalg.norm(points[1:] - points[0], axis=1))  # fmt: skip


@pytest.mark.parametrize("shape", [(5, 1), (1, 4), (2, 9)])
def test_a_map_of_too_little_is_filled_with_zeros(shape):
    flat = first_two_components(np.random.default_rng(0).normal(size=shape))
    assert flat.shape == (shape[0], 2)
    assert np.isfinite(flat).all()


def test_the_spectrum_is_that_of_the_mahalanobis_matrix():
    X, y = load_wine(return_X_y=True)
    metric = LDA().fit(X / X.std(0), y)
    eigenvalues = np.linalg.eigvalsh(metric.get_mahalanobis_matrix())[::-1]
    assert_allclose(spectrum(metric), eigenvalues[:2], rtol=1e-8)
    assert spectrum(object()).size == 0


def test_on_scaled_features_relevance_is_the_learners_own():
    exhibit, prepared = exhibit_of(wine(), "lda", scale="zscore")
    metric = LDA().fit(prepared.X_train, prepared.y_train)
    assert_allclose(exhibit.relevance, metric.feature_relevance_, rtol=1e-6)
    assert exhibit.feature_names == wine().feature_names


@pytest.mark.parametrize(
    "preparation",
    [
        {"scale": "zscore", "n_components": 5},
        {"scale": "none", "n_components": 5},
        {"scale": "histogram", "n_components": 5},
        {"scale": "zscore", "n_components": 5, "pca_first": True},
        {"scale": "none"},
    ],
)
def test_relevance_is_mapped_back_to_the_features_the_user_knows(preparation):
    """Against finite differences: how far a step of one deviation in a feature moves a row."""
    exhibit, prepared = exhibit_of(wine(), "lda", **preparation)
    metric = LDA().fit(prepared.X_train, prepared.y_train)
    X = prepared.dataset.X[prepared.rows.train]
    before_pca = not preparation.get("pca_first")
    scaler = Preparation(preparation["scale"]).fit(X)
    base = scaler.transform(X) if before_pca else X
    steps = np.diag(base.std(axis=0))
    if preparation.get("n_components") is None:
        moved = steps
    elif before_pca:
        moved = steps @ prepared.preparation.axes_.T
    else:
        moved = prepared.preparation.transform(X[:1] + steps) - prepared.preparation.transform(
            X[:1]
        )
    expected = np.sum((moved @ metric.components_.T) ** 2, axis=1)
    assert exhibit.relevance.shape == (13,)
    assert_allclose(exhibit.relevance, expected / expected.sum(), rtol=1e-6)


def test_constant_features_have_no_relevance():
    dataset = wine()
    dataset.X[:, 3] = 7.0
    exhibit, _ = exhibit_of(dataset, "lda", scale="zscore")
    assert exhibit.relevance[3] == 0


def test_a_map_that_is_not_linear_has_no_relevance():
    _, prepared = exhibit_of(wine(), "lda")
    assert original_relevance(object(), prepared).size == 0


def test_examples_are_rows_put_right_spoilt_and_unchanged():
    y = np.zeros(12, dtype=int)
    before = np.array([0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0])
    after = np.array([0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0])
    assert choose_examples(before, after, y, "classification") == [2, 3, 4, 1, 6, 0]


def test_examples_of_a_regression_span_gains_and_losses():
    y = np.zeros(101)
    before, after = np.ones(101), np.linspace(0, 2, 101)
    assert choose_examples(before, after, y, "regression") == [10, 50, 90]
    assert choose_examples(before[:1], after[:1], y[:1], "regression") == [0]


def test_an_example_names_true_neighbours_with_distances_labels_and_values():
    dataset = wine()
    exhibit, prepared = exhibit_of(dataset, "lda")
    metric = LDA().fit(prepared.X_train, prepared.y_train)
    example = exhibit.examples[0]
    query = prepared.X_test[list(prepared.rows.test).index(example.row)]
    distances = np.linalg.norm(
        metric.transform(prepared.X_train) - metric.transform(query[None]), axis=1
    )
    order = np.argsort(distances, kind="stable")[:3]
    assert [n.row for n in example.after] == prepared.rows.train[order].tolist()
    assert_allclose([n.distance for n in example.after], distances[order], rtol=1e-6)
    for neighbor in (*example.before, *example.after):
        assert neighbor.label == "abc"[dataset.y[neighbor.row]]
        assert neighbor.right == (dataset.y[neighbor.row] == dataset.y[example.row])
        assert len(neighbor.values) == len(example.values) == 6
    top = np.argsort(-exhibit.relevance)[0]
    assert example.values[0][0] == dataset.feature_names[top]
    assert float(example.values[0][1]) == pytest.approx(dataset.X[example.row, top], rel=1e-3)


def test_pictures_come_with_their_examples():
    X, y = load_digits(return_X_y=True)
    dataset = Dataset(
        "digits", X[:400], y[:400], "classification", classes=tuple(range(10)), image_shape=(8, 8)
    )
    exhibit, _ = exhibit_of(dataset, "lda")
    example = exhibit.examples[0]
    assert example.query_image is not None
    assert_array_equal(example.query_image, X[example.row].reshape(8, 8))
    assert set(example.images) == {n.row for n in (*example.before, *example.after)}
    assert example.values == ()


def assert_same(one, other):
    """Compare exhibits, arrays included."""
    for name in ("map_before", "map_after", "map_targets", "relevance", "spectrum"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("method", "title", "k", "feature_names", "image_shape"):
        assert getattr(one, name) == getattr(other, name)
    for a, b in zip(one.examples, other.examples, strict=True):
        assert (a.row, a.label, a.before, a.after, a.values) == (
            b.row, b.label, b.before, b.after, b.values)  # fmt: skip
        assert (a.predicted_before, a.predicted_after) == (b.predicted_before, b.predicted_after)
        assert a.images.keys() == b.images.keys()
        for row in a.images:
            assert_array_equal(a.images[row], b.images[row])
        assert_array_equal(a.query_image, b.query_image)


@pytest.mark.parametrize("kind", ["table", "pictures", "regression"])
def test_an_exhibit_comes_back_from_its_file_as_it_went(tmp_path, kind):
    if kind == "table":
        exhibit, _ = exhibit_of(wine(), "lda")
    elif kind == "pictures":
        X, y = load_digits(return_X_y=True)
        exhibit, _ = exhibit_of(
            Dataset("digits", X[:300], y[:300], "classification", image_shape=(8, 8)), "lda"
        )
    else:
        X, y = load_diabetes(return_X_y=True)
        exhibit, _ = exhibit_of(Dataset("diabetes", X, y, "regression"), "misbehaving:Plain")
        assert exhibit.map_targets.dtype == np.float64
    write_exhibit(exhibit, tmp_path / "exhibit-1.npz")
    again = read_exhibit(tmp_path / "exhibit-1.npz")
    assert again is not None
    assert_same(again, exhibit)


def test_a_missing_or_damaged_file_is_no_exhibit(tmp_path):
    path = tmp_path / "exhibit-1.npz"
    assert read_exhibit(path) is None
    exhibit, _ = exhibit_of(wine(), "lda")
    write_exhibit(exhibit, path)
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert read_exhibit(path) is None
    np.savez(path, text=np.array([{"pickled": True}], dtype=object), allow_pickle=True)
    assert read_exhibit(path) is None
