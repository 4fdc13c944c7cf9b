"""``vicinal.compare``: arrays, frames and names in, a comparison out that shows itself."""

from __future__ import annotations

import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal import LDA, Comparison
from vicinal._types import Dataset
from vicinal.comparison import _rows
from vicinal.comparison._plan import boosting_is_cheap

mpl.use("Agg")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def errors_of(comparison: Comparison) -> dict[tuple[str, int | None], tuple[float, ...]]:
    return {(row.method, row.k): row.errors for row in comparison.rows}


def test_the_plain_row_is_scikit_learns_z_scored_neighbours_on_its_folds(wine):
    X, y = wine
    found = vicinal.compare(X, y, methods=["lda"], k=3)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    one = vicinal.compare(X, y, methods=[], k=1)
    cut = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    expected = [np.mean(model.fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in cut]
    assert errors_of(one)["euclidean", 1] == pytest.approx(expected)
    assert list(errors_of(found)) == [("euclidean", 3), ("lda", 3)]


def test_arrays_frames_and_names_give_the_same_errors(wine, tmp_path):
    X, y = wine
    asked = {"methods": ["lda"], "k": (3, 7)}
    by_array = vicinal.compare(X, y, **asked)
    frame = load_wine(as_frame=True).frame
    by_frame = vicinal.compare(frame, "target", **asked)
    by_name = vicinal.compare("wine", **asked)
    frame.to_csv(tmp_path / "wine.csv", index=False)
    by_file = vicinal.compare(tmp_path / "wine.csv", "target", **asked)
    expected = errors_of(by_array)
    for other in (by_frame, by_name, by_file):
        assert errors_of(other) == expected
    assert by_frame.exhibits[0].feature_names[0] == "alcohol"
    assert by_array.exhibits[0].feature_names[0] == "x0"


def test_nothing_is_left_on_disk_unless_asked_for(wine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = vicinal.compare(*wine, methods=["lda"], k=3)
    assert found.folder is None
    assert list(tmp_path.iterdir()) == []
    assert [e.method for e in found.exhibits] == ["lda"]


def test_a_folder_keeps_what_is_measured_and_the_same_call_goes_on(wine, tmp_path):
    asked = {"methods": ["lda"], "k": 3, "out": tmp_path / "run"}
    first = vicinal.compare(*wine, **asked)
    assert first.folder == tmp_path / "run"
    kept = (tmp_path / "run" / "records.jsonl").read_text()
    ended: list[object] = []
    again = vicinal.compare(*wine, **asked, listener=lambda p: ended.append(p.ended))
    assert (tmp_path / "run" / "records.jsonl").read_text() == kept
    assert ended == [None], "told once how far it is, and nothing was measured"
    assert errors_of(again) == errors_of(first)
    np.testing.assert_array_equal(again.exhibits[0].places, first.exhibits[0].places)
    results = json.loads(again.to_json(tmp_path / "results.json").read_text())
    assert [r["method"] for r in results["records"]] == ["euclidean", "lda"]
    assert results["config"]["folds"] == {"n_folds": 5, "n_rounds": 10}
    with pytest.raises(ValueError, match="another configuration"):
        vicinal.compare(wine[0] + 1, wine[1], **asked)


def test_processes_of_their_own_find_the_callers_arrays(wine):
    X, y = wine
    here = vicinal.compare(X, y, methods=["lda"], k=3)
    there = vicinal.compare(X, y, methods=["lda"], k=3, n_jobs=2)
    assert errors_of(there) == errors_of(here)
    assert there.exhibits[0].title == "LDA"


def test_groups_stay_together(wine):
    X, y = wine
    twins = np.repeat(np.arange(len(y)), 2)
    X2, y2 = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    naive = vicinal.compare(X2, y2, methods=[], k=1, protocol="kfold")
    honest = vicinal.compare(X2, y2, methods=[], k=1, groups=twins)
    assert max(errors_of(naive)["euclidean", 1]) < 0.03, "most rows find their own twin"
    assert np.mean(errors_of(honest)["euclidean", 1]) > np.mean(errors_of(naive)["euclidean", 1])
    assert honest.protocol == "5-fold cross-validation by group"
    frame = pd.DataFrame(X2).assign(kind=y2, twin=twins).rename(columns=str)
    named = vicinal.compare(frame, "kind", methods=[], k=1, groups="twin")
    assert errors_of(named) == errors_of(honest)
    assert named.n_features == X.shape[1], "the column of groups is no feature"
    unasked = vicinal.compare(X2, y2, methods=[], k=1)
    assert unasked.protocol == honest.protocol, "copies are seen without being told"
    assert any("copies stay together" in note for note in unasked.notes)


def test_a_learner_object_is_compared_beside_the_named(wine):
    mine = LDA(n_components=1)
    found = vicinal.compare(*wine, methods={"one": mine, "two": LDA(n_components=2)}, k=3)
    assert [row.title for row in found.rows] == ["Euclidean", "one", "two"]
    assert not hasattr(mine, "components_")
    assert (
        errors_of(found)["LDA(n_components=2)", 3]
        == (errors_of(vicinal.compare(*wine, methods=["lda"], k=3, n_repeats=1))["lda", 3])
    )
    with pytest.raises(ValueError, match="n_jobs"):
        vicinal.compare(*wine, methods=[mine], n_jobs=1)


def test_a_comparison_shows_itself(wine, tmp_path):
    found = vicinal.compare(*wine, methods=["lda"], k=(3, 7), references=True)
    frame = found.to_frame()
    assert frame["k"].tolist()[:4] == [3, 3, 7, 7]
    assert frame["k"].isna().sum() == 4
    html = found._repr_html_()
    assert "LDA" in html
    assert found.finding.split(" (")[0] in html.replace("&#39;", "'")
    assert "random forest" in str(found)
    axes = found.plot()
    assert axes.get_xlabel() == "k, the number of neighbours"
    page = found.report(tmp_path / "page.html").read_text()
    assert "What LDA learned" in page
    assert "reference" in page


def test_the_rows_of_a_name_are_read_once(monkeypatch):
    reads = []
    load = _rows.load_dataset

    def counted(name):
        reads.append(name)
        return load(name)

    monkeypatch.setattr(_rows, "load_dataset", counted)
    vicinal.compare("wine", methods=["lda"], k=3)
    assert reads == ["wine"]


def test_a_number_is_regressed_and_references_are_regressors():
    X, y = load_diabetes(return_X_y=True)
    found = vicinal.compare(X, y, task="regression", methods=["svm"], k=5)
    assert found.task == "regression"
    assert [row.method for row in found.rows] == ["euclidean", "svm"]
    assert 0 < found.rows[1].error_mean < 1.2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"X": np.zeros(5), "y": np.zeros(5)}, "rows and columns"),
        ({"X": np.zeros((5, 2)), "y": np.zeros(4)}, "5 rows and y the shape"),
        ({"X": np.zeros((5, 2))}, "say what to predict"),
        ({"X": pd.DataFrame({"a": [1, 2]}), "y": "b"}, "no column of X"),
        ({"X": np.full((9, 2), np.nan), "y": np.arange(9) % 2}, "'x0' holds no value at all"),
        ({"X": [[1, 5], [np.nan, 3]] * 4, "y": [0, 1] * 4}, r"Missing values .* 'x0' \(4\)"),
        ({"X": "wine", "groups": [1]}, "groups as values are for arrays.* 'wine' .* got a list"),
        ({"X": np.eye(6), "y": [0, 1] * 3, "task": "ranking"}, "'ranking'"),
        ({"X": np.eye(6), "y": [0, 1] * 3, "k": 9}, "more than the 4 rows"),
        ({"X": np.eye(6), "y": [0, 1] * 3, "n_jobs": 0}, "at least one process"),
        ({"X": np.eye(6), "y": [0, 1] * 3, "methods": [3]}, "a method is a name"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(asked, words):
    with pytest.raises(ValueError, match=words):
        vicinal.compare(**asked)


def table(text: str = "") -> str:
    rows = "".join(f"{i % 7 - 1},{i % 5},{'xz'[i % 2]}\n" for i in range(40))
    return f"good,loud,kind\n{text or rows}"


@pytest.mark.parametrize(
    ("text", "asked", "words"),
    [
        (table(), {"methods": ["no.module:A"]}, "cannot be imported"),
        (table(), {"protocol": "official"}, "no official split"),
        (table(), {"protocol": "grouped"}, "no groups"),
        (table(), {"n_folds": 91}, "91 folds"),
        (table(), {"scale": "histogram"}, "non-negative"),
        (table(), {"n_components": 4}, "n_components=4"),
        (table(), {"task": "regression"}, "finite numbers"),
        (table("1,2,x\n" * 9), {}, "one class"),
        (table("inf,1,x\n1,2,z\n"), {}, "good"),
        ("", {}, "empty"),
        ("good,kind\n", {}, "no rows"),
        ("\x00\x01", {}, "t.csv"),
    ],
)
def test_a_table_that_cannot_be_compared_is_refused_before_any_work(tmp_path, text, asked, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        vicinal.compare(tmp_path / "t.csv", "kind", **asked, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_learner_without_weights_says_so():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    frame = frame.assign(y=np.arange(60) % 2, w=np.arange(60) + 1.0)
    found = vicinal.compare(frame, "y", weights="w", methods=["lda", "nca"], k=3)
    told = {row.method: any("without them" in note for note in row.notes) for row in found.rows}
    assert told["nca"] or told["lda"]
    assert not told["euclidean"]


def embeddings(n: int = 60) -> tuple:
    X = np.random.default_rng(0).normal(size=(n, 6)) + np.arange(n)[:, None] % 2
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.arange(n) % 2


def test_rows_of_unit_length_are_compared_as_they_come():
    X, y = embeddings()
    alone, asked = (
        vicinal.compare(X, y, methods=["lda"], k=3, **how) for how in ({}, {"scale": "none"})
    )
    assert any("of unit length" in note for note in alone.notes)
    assert not any("of unit length" in note for note in asked.notes)
    assert errors_of(alone) == errors_of(asked)


@pytest.mark.parametrize("change", [lambda X: 2 * X, np.abs, lambda X: X.round(2)])
def test_other_rows_are_scaled_as_ever(change):
    X, y = embeddings()
    rows = change(X)
    alone, asked = (
        vicinal.compare(rows, y, methods=["lda"], k=3, **how) for how in ({}, {"scale": "zscore"})
    )
    assert not any("of unit length" in note for note in alone.notes)
    assert errors_of(alone) == errors_of(asked)


def test_boosting_and_a_linear_model_stand_beside_the_metrics_where_they_are_quick():
    X, y = load_wine(return_X_y=True)
    unasked = vicinal.compare(X, y, k=3, n_folds=2)
    assert {"hgb", "logistic"} <= {row.method for row in unasked.rows}
    for asked in ({"references": False}, {"methods": ["lda"]}):
        rows = vicinal.compare(X, y, k=3, n_folds=2, **asked).rows
        assert not {"hgb", "logistic"} & {row.method for row in rows}


def test_boosting_that_would_cost_more_than_the_metrics_waits_to_be_asked():
    small = Dataset("a", np.zeros((100, 10)), np.zeros(100), "classification", (), ("x", "y"))
    assert boosting_is_cheap(small)
    assert not boosting_is_cheap(replace(small, X=np.zeros((40_000, 60))))
    twelve = replace(small, X=np.zeros((4_000, 60)), classes=tuple("abcdefghijkl"))
    assert not boosting_is_cheap(twelve)
