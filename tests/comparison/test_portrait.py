"""What a metric looks at travels with its measurement: true numbers, few bytes, no harm."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine

from vicinal import EGOP, LDA, GradientDiffusionMap, GradientWeights
from vicinal._types import Dataset, Portrait
from vicinal.comparison import _execute as execute
from vicinal.comparison import find_source, plan_comparison, run_comparison
from vicinal.comparison._execute import measure_cell
from vicinal.comparison._exhibit import make_exhibit
from vicinal.comparison._packing import pack_floats, pack_levels, unpack_floats, unpack_levels
from vicinal.comparison._portrait import (
    choose_portraits,
    eigenvalues_by_point,
    make_portrait,
    portrait_failures,
    read_portrait,
    resampled_intervals,
)
from vicinal.comparison._rows import make_setting_folds, prepare_fold
from vicinal.methods._table import get_method
from vicinal.runs import Cell, RunFolder, Setting, Source


def wine() -> Dataset:
    bunch = load_wine()
    names = tuple(bunch.feature_names)
    return Dataset("wine", bunch.data, bunch.target, "classification", names, ("a", "b", "c"))


def diabetes() -> Dataset:
    bunch = load_diabetes()
    names = tuple(bunch.feature_names)
    return Dataset("diabetes", bunch.data, bunch.target, "regression", names)


def prepare(dataset: Dataset, **preparation):
    setting = Setting(Source(dataset.name), preparation, "kfold", {"n_folds": 5})
    fold = make_setting_folds(dataset, setting)[0]
    return setting, prepare_fold(dataset, fold, preparation)


def record_of(dataset: Dataset, method: str, ks=(3,), **preparation):
    setting, prepared = prepare(dataset, **{"scale": "zscore", **preparation})
    return measure_cell(Cell(setting, 0, method, ks), prepared, portrait=True), prepared


def portrait_of(record, method: str, dataset: Dataset) -> Portrait:
    portrait = read_portrait(record, get_method(method), dataset)
    assert portrait is not None
    return portrait


# Packing ---------------------------------------------------------------------------------------


@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 9), st.integers(1, 3)),
                  elements=st.floats(-1e9, 1e9)))  # fmt: skip
def test_packed_numbers_come_back_to_half_a_level(values):
    back = unpack_levels(json.loads(json.dumps(pack_levels(values))))
    assert back.shape == values.shape
    room = (np.ptp(values) if values.size else 0) / 131_070
    assert_allclose(back, values, rtol=1e-12, atol=1.001 * room + 1e-12)


@given(st.lists(st.integers(0, 65_535), min_size=1))
def test_packed_classes_come_back_exactly(codes):
    assert_array_equal(np.rint(unpack_levels(pack_levels(np.array(codes)))), codes)


def test_packed_floats_keep_seven_digits_over_any_range():
    values = 10.0 ** np.arange(-30, 30)
    assert_allclose(unpack_floats(pack_floats(values)), values, rtol=1e-7)


# The record ------------------------------------------------------------------------------------


def test_a_portrait_is_of_the_fit_that_was_measured():
    (record,), prepared = record_of(diabetes(), "egop")
    portrait = portrait_of(json.loads(json.dumps(record)), "egop", diabetes())
    metric = EGOP(n_neighbors=3, random_state=0).fit(prepared.X_train, prepared.y_train)
    assert_allclose(portrait.eigenvalues, metric.eigenvalues_, rtol=1e-6)
    assert_allclose(portrait.relevance, metric.feature_relevance_, atol=1e-5)
    assert portrait.feature_names == diabetes().feature_names
    directions = np.linalg.eigh(metric.outer_product_)[1][:, ::-1][:, :2]
    expected = prepared.X_train @ directions
    signs = np.sign(np.sum(expected * portrait.places, axis=0))
    assert_allclose(portrait.places, expected * signs, atol=2e-4)
    assert_allclose(portrait.targets, prepared.y_train, atol=0.01)
    assert (portrait.method, portrait.title, portrait.k) == ("egop", "EGOP", 3)
    top = np.abs(directions[:, 0]).argmax()
    assert diabetes().feature_names[top] in portrait.directions[0]


def test_the_intervals_of_a_small_set_are_those_of_the_estimators_own_bootstrap():
    (record,), prepared = record_of(diabetes(), "egop")
    portrait = portrait_of(record, "egop", diabetes())
    metric = EGOP(n_neighbors=3, store_gradients=True, random_state=0)
    metric.fit(prepared.X_train, prepared.y_train)
    own = metric.spectrum_interval(n_resamples=400)
    assert portrait.n_evaluations == len(prepared.X_train)
    assert portrait.intervals.shape == (10, 2)
    # Eigenvectors are held fixed here and not there: alike for the leading eigenvalues.
    assert_allclose(portrait.intervals[:2], own[:2], rtol=0.06)
    inside = portrait.intervals[:, 0] <= portrait.eigenvalues * (1 + 1e-6)
    assert np.all(inside & (portrait.eigenvalues <= portrait.intervals[:, 1] * (1 + 1e-6)))


def test_classes_are_kept_by_name():
    (record,), prepared = record_of(wine(), "lda")
    portrait = portrait_of(record, "lda", wine())
    assert_array_equal(portrait.targets, np.array(["a", "b", "c"])[prepared.y_train])
    assert portrait.carries == "the metric"
    assert portrait.intervals.shape == (0, 2)


@pytest.mark.parametrize("learner", [EGOP("analytic"), GradientWeights("analytic")])
def test_what_points_add_averages_to_the_eigenvalues(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    learner.set_params(store_gradients=True, random_state=0).fit(X, np.sin(X[:, 0]) + X[:, 1] ** 2)
    by_point = eigenvalues_by_point(learner, learner.gradients_[..., None])
    assert_allclose(by_point.mean(axis=0), learner.eigenvalues_, rtol=1e-8)


def test_intervals_narrow_with_the_points_of_the_fit_not_with_those_at_hand():
    rng = np.random.default_rng(0)
    by_point = rng.exponential(size=(1000, 2))
    few, many = (
        np.ptp(resampled_intervals(np.ones(2), by_point, n, 0), axis=1) for n in (1000, 16_000)
    )
    assert_allclose(few / many, 4, rtol=0.25)
    # Twice 1.96 standard errors of a mean of exponentials.
    assert_allclose(few, 2 * 1.96 / np.sqrt(1000), rtol=0.2)


def test_only_the_first_k_of_a_shared_fit_holds_the_portrait():
    records, _ = record_of(wine(), "lda", ks=(3, 5, 7))
    assert ["portrait" in record for record in records] == [True, False, False]


def test_the_plain_distance_has_none_and_neither_has_a_map_that_is_not_linear():
    (record,), prepared = record_of(wine(), "euclidean")
    assert "portrait" not in record
    place = GradientDiffusionMap(gradients=EGOP("analytic", bandwidth="rule"))
    place.fit(prepared.X_train, (prepared.y_train == 0).astype(float))
    assert make_portrait(place, prepared, 0) is None


def test_a_large_sample_stays_a_small_record():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    dataset = Dataset("made", X, rng.normal(size=3000), "regression")
    _, prepared = prepare(dataset, scale="zscore")
    metric = LDA().fit(prepared.X_train, (prepared.X_train[:, 0] > 0).astype(int))
    record = make_portrait(metric, prepared, 0)
    assert record is not None
    assert unpack_levels(record["targets"]).shape == (1000,)
    assert len(json.dumps(record)) < 10_000


@pytest.mark.parametrize("n_components", [None, 5])
def test_directions_are_named_by_the_features_the_user_knows(n_components):
    (record,), prepared = record_of(wine(), "lda", n_components=n_components)
    told = record["portrait"]["directions"][0]
    metric = LDA().fit(prepared.X_train, prepared.y_train)
    v = np.linalg.svd(metric.components_)[2][0]
    if n_components is not None:
        v = v @ prepared.preparation.axes_
    assert wine().feature_names[np.abs(v).argmax()][:12] in told


def test_a_portrait_that_fails_costs_no_measurement(monkeypatch):
    def fail(*_):
        raise RuntimeError("no paint left")

    monkeypatch.setattr(execute, "make_portrait", fail)
    (record,), _ = record_of(wine(), "lda")
    assert record["status"] == "ok"
    assert record["portrait"] == {"error": "RuntimeError: no paint left"}
    assert read_portrait(record, get_method("lda"), wine()) is None
    (note,) = portrait_failures([record, {"method": "lda"}], [get_method("lda")])
    assert note == "What LDA looks at could not be told: RuntimeError: no paint left"


@pytest.mark.parametrize("broken", [{}, {"eigenvalues": "?"}, 7, {"error": "x"}])
def test_half_a_portrait_is_none(broken):
    record = {"portrait": broken, "k": 3}
    assert read_portrait(record, get_method("lda"), wine()) is None
    assert read_portrait({"k": 3}, get_method("lda"), wine()) is None


def test_the_portrait_of_the_best_k_is_chosen():
    records = [record_of(wine(), "ejop", ks=(k,))[0][0] for k in (3, 7)]
    from vicinal.comparison._summary import summarize_records

    for best in (3, 7):
        for record in records:
            record["error"] = 0.01 if record["k"] == best else 0.05
        rows = summarize_records(records, [get_method("ejop")], (3, 7), "wine")
        (portrait,) = choose_portraits(records, rows, [get_method("ejop")], wine())
        assert portrait.k == best


# The run ---------------------------------------------------------------------------------------


def test_a_resumed_run_still_has_its_portraits(tmp_path):
    plan = plan_comparison(find_source("wine"), methods=["lda", "gw"], ks=[3], n_folds=2)

    def run():
        with RunFolder(tmp_path, plan.configuration) as folder:
            return run_comparison(plan, folder, exhibit=False)

    first = run()
    assert [portrait.method for portrait in first.portraits] == ["lda", "gw"]
    kept = (tmp_path / "records.jsonl").read_text().splitlines()
    assert sum('"portrait"' in line for line in kept) == 2  # the first fold's
    again = run()
    assert (tmp_path / "records.jsonl").read_text().splitlines() == kept
    for one, other in zip(first.portraits, again.portraits, strict=True):
        assert_array_equal(one.places, other.places)
        assert_array_equal(one.eigenvalues, other.eigenvalues)


def test_an_exhibit_of_a_map_that_is_not_linear_claims_no_relevance():
    dataset = diabetes()
    setting, prepared = prepare(dataset, scale="zscore")
    exhibit = make_exhibit(Cell(setting, 0, "misbehaving:Curved", (3,)), prepared)
    assert exhibit.relevance.size == 0
    assert exhibit.spectrum.size == 0
