"""What the report shows of a metric: true maps, relevances and examples, kept without loss."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.neighbors import NearestNeighbors

from vicinal import EGOP, LDA, GradientDiffusionMap
from vicinal._types import Dataset
from vicinal.comparison import Measurer, _measurer
from vicinal.comparison._exhibit import choose_rows, show_metric
from vicinal.comparison._exhibit_file import exhibit_path, read_exhibit, write_exhibit
from vicinal.comparison._held import source_of
from vicinal.data import Preparation
from vicinal.report import Exhibit, first_two_components
from vicinal.runs import Cell, Setting, record_key


def wine() -> Dataset:
    bunch = load_wine()
    names = tuple(bunch.feature_names)
    return Dataset("wine", bunch.data, bunch.target, "classification", names, ("a", "b", "c"))


def diabetes() -> Dataset:
    bunch = load_diabetes()
    names = tuple(bunch.feature_names)
    return Dataset("diabetes", bunch.data, bunch.target, "regression", names)


def digits(n: int) -> Dataset:
    X, y = load_digits(return_X_y=True)
    return Dataset(
        "digits", X[:n], y[:n], "classification", classes=tuple(range(10)), image_shape=(8, 8)
    )


@pytest.fixture
def exhibit_of(tmp_path):
    """Return a function that measures a cell and gives what was kept of its fit."""

    def make(dataset: Dataset, method: str, k: int = 3, **preparation):
        setting = Setting(source_of(dataset), preparation, "kfold", {"n_folds": 5})
        measurer, cell = Measurer(dataset), Cell(setting, 0, method, (k,))
        (record,) = measurer.measure(cell, tmp_path)
        assert record["status"] == "ok"
        assert "exhibit_error" not in record
        exhibit = read_exhibit(exhibit_path(tmp_path, record_key(cell, k)))
        assert exhibit is not None
        return exhibit, measurer.folds.get(setting, 0)

    return make


def test_maps_show_the_test_rows_before_and_after(exhibit_of):
    exhibit, prepared = exhibit_of(wine(), "lda")
    n = len(prepared.y_test)
    assert exhibit.map_before.shape == exhibit.map_after.shape == (n, 2)
    assert_array_equal(exhibit.map_targets, np.array(["a", "b", "c"])[prepared.y_test])
    assert (exhibit.method, exhibit.title, exhibit.k) == ("lda", "LDA", 3)


def test_the_share_of_neighbours_of_the_own_class_is_kept(exhibit_of):
    exhibit, prepared = exhibit_of(wine(), "lda", scale="zscore")
    search = NearestNeighbors(n_neighbors=3).fit(prepared.X_train)
    near = prepared.y_train[search.kneighbors(prepared.X_test, return_distance=False)]
    assert exhibit.agreement[0] == pytest.approx(np.mean(near == prepared.y_test[:, None]))
    assert exhibit.agreement[1] > exhibit.agreement[0]
    assert 0 < exhibit_of(diabetes(), "egop")[0].agreement[0] < 1


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


def test_the_spectrum_is_that_of_the_mahalanobis_matrix_of_the_measured_fit(exhibit_of):
    exhibit, prepared = exhibit_of(wine(), "lda", scale="zscore")
    metric = LDA().fit(prepared.X_train, prepared.y_train)
    eigenvalues = np.linalg.eigvalsh(metric.get_mahalanobis_matrix())[::-1]
    assert_allclose(exhibit.eigenvalues, eigenvalues[:2], rtol=1e-8)
    assert exhibit.carries == "the metric"
    assert exhibit.intervals.shape == (0, 2)


def test_on_scaled_features_relevance_is_the_learners_own(exhibit_of):
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
def test_relevance_is_mapped_back_to_the_features_the_user_knows(exhibit_of, preparation):
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


def test_constant_features_have_no_relevance(exhibit_of):
    dataset = wine()
    dataset.X[:, 3] = 7.0
    exhibit, _ = exhibit_of(dataset, "lda", scale="zscore")
    assert exhibit.relevance[3] == 0


def test_a_map_that_is_not_linear_claims_no_relevance_and_no_spectrum(exhibit_of):
    exhibit, prepared = exhibit_of(diabetes(), "misbehaving:Curved", scale="zscore")
    assert exhibit.relevance.size == exhibit.eigenvalues.size == exhibit.places.size == 0
    assert exhibit.map_after.shape == (len(prepared.y_test), 2)
    place = GradientDiffusionMap(gradients=EGOP("analytic", bandwidth="rule"))
    place.fit(prepared.X_train, prepared.y_train)
    assert "relevance" not in show_metric(place, prepared, 0)


def test_rows_along_the_leading_directions_are_those_of_the_measured_fit(exhibit_of):
    exhibit, prepared = exhibit_of(diabetes(), "egop", scale="zscore")
    metric = EGOP(n_neighbors=3, random_state=0).fit(prepared.X_train, prepared.y_train)
    assert_allclose(exhibit.eigenvalues, metric.eigenvalues_, rtol=1e-10)
    directions = np.linalg.svd(metric.components_)[2][:2].T
    expected = prepared.X_train @ directions
    signs = np.sign(np.sum(expected * exhibit.places, axis=0))
    assert_allclose(exhibit.places, expected * signs, atol=1e-8)
    assert_allclose(exhibit.targets, prepared.y_train)
    top = np.abs(directions[:, 0]).argmax()
    assert diabetes().feature_names[top] in exhibit.directions[0]


@pytest.mark.parametrize("n_components", [None, 5])
def test_directions_are_named_by_the_features_the_user_knows(exhibit_of, n_components):
    exhibit, prepared = exhibit_of(wine(), "lda", scale="zscore", n_components=n_components)
    metric = LDA().fit(prepared.X_train, prepared.y_train)
    v = np.linalg.svd(metric.components_)[2][0]
    if n_components is not None:
        v = v @ prepared.preparation.axes_
    assert wine().feature_names[np.abs(v).argmax()][:12] in exhibit.directions[0]
    assert_array_equal(exhibit.targets, np.array(["a", "b", "c"])[prepared.y_train])


def test_holes_are_filled_as_the_fold_fills_them(exhibit_of):
    dataset = wine()
    dataset.X[::7, 2] = np.nan
    exhibit, prepared = exhibit_of(dataset, "lda", scale="zscore", n_components=4)
    filled = prepared.imputer.transform(dataset.X[prepared.rows.train])
    metric = LDA().fit(prepared.X_train, prepared.y_train)
    scaled = Preparation().fit_transform(filled)
    through = metric.components_ @ prepared.preparation.axes_ * scaled.std(axis=0)
    expected = np.sum(through**2, axis=0)
    assert_allclose(exhibit.relevance, expected / expected.sum(), rtol=1e-8)


def test_one_fit_that_serves_several_k_is_kept_for_each(tmp_path):
    setting = Setting(source_of(wine()), {"scale": "zscore"}, "kfold", {"n_folds": 5})
    cell = Cell(setting, 0, "lda", (3, 5))
    Measurer(wine()).measure(cell, tmp_path)
    found = [read_exhibit(exhibit_path(tmp_path, key)) for key in cell.keys().values()]
    assert [(e.k, len(e.examples[0].after)) for e in found if e is not None] == [(3, 3), (5, 5)]
    assert found[0] is not None
    assert found[1] is not None
    assert_array_equal(found[0].map_after, found[1].map_after)


def test_nothing_is_fitted_again_to_be_shown(tmp_path, monkeypatch):
    fits: list[int] = []
    fit = LDA.fit

    def counted(self, X, y):
        fits.append(len(X))
        return fit(self, X, y)

    monkeypatch.setattr(LDA, "fit", counted)
    setting = Setting(source_of(wine()), {"scale": "zscore"}, "kfold", {"n_folds": 5})
    measurer = Measurer(wine())
    for method in ("euclidean", "lda"):
        measurer.measure(Cell(setting, 0, method, (3,)), tmp_path)
    assert len(fits) == 2, "once on the made-up sample that warms up, once to be measured"
    assert len(list(tmp_path.glob("exhibit-*.npz"))) == 1


def test_what_cannot_be_shown_costs_no_measurement(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("no paint left")

    monkeypatch.setattr(_measurer, "show_metric", fail)
    setting = Setting(source_of(wine()), {"scale": "zscore"}, "kfold", {"n_folds": 5})
    (record,) = Measurer(wine()).measure(Cell(setting, 0, "lda", (3,)), tmp_path)
    assert record["status"] == "ok"
    assert record["exhibit_error"] == "RuntimeError: no paint left"


def test_examples_are_rows_put_right_spoilt_and_unchanged():
    y = np.zeros(12, dtype=int)
    before = np.array([0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0])
    after = np.array([0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0])
    assert choose_rows(before, after, y, "classification") == [2, 3, 4, 1, 6, 0]


def test_examples_of_a_regression_span_gains_and_losses():
    y = np.zeros(101)
    before, after = np.ones(101), np.linspace(0, 2, 101)
    assert choose_rows(before, after, y, "regression") == [10, 50, 90]
    assert choose_rows(before[:1], after[:1], y[:1], "regression") == [0]


def test_an_example_names_true_neighbours_with_distances_labels_and_values(exhibit_of):
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


def test_pictures_come_with_their_examples(exhibit_of):
    dataset = digits(400)
    exhibit, _ = exhibit_of(dataset, "lda")
    example = exhibit.examples[0]
    assert example.query_image is not None
    assert_array_equal(example.query_image, dataset.X[example.row].reshape(8, 8))
    assert set(example.images) == {n.row for n in (*example.before, *example.after)}
    assert example.values == ()


def assert_same(one, other):
    """Compare exhibits, arrays included."""
    for field in fields(Exhibit):
        if field.name != "examples":
            assert_array_equal(getattr(one, field.name), getattr(other, field.name))
    for a, b in zip(one.examples, other.examples, strict=True):
        bare = replace(a, images={}, query_image=None), replace(b, images={}, query_image=None)
        assert bare[0] == bare[1]
        assert a.images.keys() == b.images.keys()
        for row in a.images:
            assert_array_equal(a.images[row], b.images[row])
        assert_array_equal(a.query_image, b.query_image)


@pytest.mark.parametrize(
    ("dataset", "method"),
    [(wine(), "lda"), (digits(300), "lda"), (diabetes(), "misbehaving:Plain")],
    ids=["table", "pictures", "regression"],
)
def test_an_exhibit_comes_back_from_its_file_as_it_went(tmp_path, exhibit_of, dataset, method):
    exhibit, _ = exhibit_of(dataset, method)
    assert dataset.task == "classification" or exhibit.map_targets.dtype == np.float64
    write_exhibit(exhibit, tmp_path / "again.npz")
    assert_same(read_exhibit(tmp_path / "again.npz"), exhibit)


def test_a_missing_or_damaged_file_is_no_exhibit(tmp_path, exhibit_of):
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


def test_a_large_sample_stays_a_small_file(tmp_path, exhibit_of):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 60))
    exhibit, _ = exhibit_of(Dataset("made", X, rng.normal(size=4000), "regression"), "relieff")
    assert len(exhibit.places) == 1000
    write_exhibit(exhibit, tmp_path / "one.npz")
    assert (tmp_path / "one.npz").stat().st_size < 100_000
