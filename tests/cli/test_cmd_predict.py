"""``vicinal predict``: columns by name, errors where the truth is known, outputs."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from vicinal import KNNClassifier, load_dataset, load_model, save_model


@pytest.fixture
def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    kind = np.arange(80) % 2
    return pd.DataFrame(
        {
            "a": random.normal(size=80) + 4 * kind,
            "code": np.array(["01", "02", "x3"])[random.integers(3, size=80)],
            "flag": random.random(80) < 0.5,
            "b": random.normal(size=80),
            "kind": np.array(["cat", "dog"])[kind],
        }
    )


@pytest.fixture
def model(run, table, tmp_path) -> Path:
    table.iloc[:60].to_csv(tmp_path / "train.csv", index=False)
    path = tmp_path / "m.vicinal"
    words = ("--target", "kind", "--method", "lda", "--k", 3, "-o", path)
    assert run("fit", tmp_path / "train.csv", *words).code == 0
    return path


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_model_whatever_the_order_of_columns(
    run, model, table, tmp_path
):
    new = table.iloc[60:].drop(columns="kind")
    expected = load_model(model).predict(new)
    new[["b", "flag", "code", "a"]].to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", model, tmp_path / "new.csv")
    assert done.code == 0
    rows = _rows(done.out)
    assert [row["row"] for row in rows] == [str(i) for i in range(20)]
    assert [row["predicted kind"] for row in rows] == expected.tolist()
    assert done.err == ""
    with (tmp_path / "new.csv").open("a") as file:
        file.write(",,,\n,,,\n")
    again = run("predict", model, tmp_path / "new.csv")
    assert (again.out, again.err) == (done.out, "note: passed over 2 empty rows at the end\n")


def test_the_error_is_printed_where_the_target_is_known(run, model, table, tmp_path):
    new = table.iloc[60:]
    new.to_csv(tmp_path / "new.csv", index=False)
    error = np.mean(load_model(model).predict(new) != new["kind"].to_numpy())
    done = run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert done.code == 0
    assert f"error on 20 rows: {100 * error:.1f} %" in done.out
    assert f"20 predictions: {tmp_path / 'p.csv'}" in done.out
    assert len(_rows((tmp_path / "p.csv").read_text())) == 20


def test_a_target_with_holes_gives_predictions_without_an_error(run, model, table, tmp_path):
    new = table.iloc[60:].copy()
    new.iloc[2, new.columns.get_loc("kind")] = None
    new.to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", model, tmp_path / "new.csv")
    assert done.code == 0
    assert len(_rows(done.out)) == 20
    assert "error" not in done.err


def test_predicting_the_training_rows_says_that_each_is_its_own_neighbour(run, model, tmp_path):
    done = run("predict", model, tmp_path / "train.csv")
    assert "equal a row that the model learned from" in done.err


def test_shares_of_the_vote_are_added_when_asked(run, model, table, tmp_path):
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    table.iloc[60:].to_parquet(tmp_path / "new.parquet")
    done = run("predict", model, tmp_path / "new.parquet", "--proba", "--json", tmp_path / "j")
    assert done.code == 0
    for row in _rows(done.out):
        shares = {name: float(row[f"share of {name}"]) for name in ("cat", "dog")}
        assert sum(shares.values()) == pytest.approx(1)
        assert shares[row["predicted kind"]] > 0.5
    content = json.loads((tmp_path / "j").read_text())
    assert content["records"][0]["n_test"] == 20
    assert content["records"][0]["method"] == "lda"
    assert content["records"][0]["error_mean"] is not None
    assert set(content["predictions"][0]) == {"row", "prediction", "shares"}


def test_a_file_of_one_text_that_looks_like_a_number_is_understood(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("a,b,code,flag\n1,2,01,TRUE\n")
    assert run("predict", model, tmp_path / "new.csv").code == 0


def test_missing_and_unknown_columns_are_named(run, model, table, tmp_path):
    table.drop(columns=["a", "flag"]).to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", model, tmp_path / "new.csv")
    assert done.code == 2
    assert "lacks 2 of the 4 columns" in done.err
    assert "'a', 'flag'" in done.err
    table.iloc[60:].assign(extra=1, more=2).to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", model, tmp_path / "new.csv")
    assert done.code == 0
    assert "note: columns the model does not know: extra, more" in done.err


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,,01,True", "Missing values in 1 column: 'b' (1)"),
        ("1,inf,01,True", "Infinite values in column 'b'"),
        ("1,high,01,True", "'b' must hold numbers, but row 0 (counting from 0) holds 'high'"),
    ],
)
def test_values_the_model_cannot_use_are_refused(run, model, tmp_path, row, message):
    (tmp_path / "new.csv").write_text(f"a,b,code,flag\n{row}\n")
    done = run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "p.csv").exists()


@pytest.mark.parametrize("row", ["1,2,zz,True", "1,2,01,maybe"])
def test_a_value_no_training_row_has_is_none_of_the_known_and_said(run, model, tmp_path, row):
    (tmp_path / "new.csv").write_text(f"a,b,code,flag\n{row}\n")
    done = run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert done.code == 0
    assert "which no training row does: taken as none of" in done.err
    assert (tmp_path / "p.csv").exists()


def test_a_model_that_imputes_fills_holes_in_new_rows(run, table, tmp_path):
    table.to_csv(tmp_path / "train.csv", index=False)
    words = ("--target", "kind", "--method", "euclidean", "--impute", "-o", tmp_path / "m")
    assert run("fit", tmp_path / "train.csv", *words).code == 0
    (tmp_path / "new.csv").write_text("a,b,code,flag\n9,,,\n-9,1,01,True\n")
    done = run("predict", tmp_path / "m", tmp_path / "new.csv")
    assert [row["predicted kind"] for row in _rows(done.out)] == ["dog", "cat"]


def test_regression_predicts_numbers_and_has_no_shares(run, tmp_path):
    assert run("fit", "diabetes", "--method", "egop", "-o", tmp_path / "m").code == 0
    done = run("predict", tmp_path / "m", "diabetes", "-o", tmp_path / "p.csv")
    assert done.code == 0
    assert "nMSE" in done.out
    assert float(_rows((tmp_path / "p.csv").read_text())[0]["predicted target"]) > 0
    done = run("predict", tmp_path / "m", "diabetes", "--proba")
    assert done.code == 2
    assert "--proba is for classification" in done.err


def test_whole_number_classes_come_back_as_whole_numbers(run, tmp_path):
    np.savez(tmp_path / "t.npz", X=np.arange(40.0).reshape(20, 2), y=np.repeat([3, 7], 10))
    words = ("--method", "euclidean", "--k", 1, "-o", tmp_path / "m")
    assert run("fit", tmp_path / "t.npz", *words).code == 0
    done = run("predict", tmp_path / "m", tmp_path / "t.npz", "--json", tmp_path / "j")
    assert [row["predicted y"] for row in _rows(done.out)] == ["3"] * 10 + ["7"] * 10
    assert json.loads((tmp_path / "j").read_text())["predictions"][-1]["prediction"] == 7
    assert "error on 20 rows: 0.0 %" in done.err


def _exact_three_nearest_error(X: Any, y: Any, queries: Any, truth: Any) -> float:
    """Integers throughout; equal distances by lower row, a vote without majority to the nearest."""
    wrong = 0
    for start in range(0, len(queries), 500):
        block = queries[start : start + 500]
        squared = -2 * block @ X.T + np.einsum("ij,ij->i", X, X)  # less what a row has in common
        labels = y[np.argsort(squared, axis=1, kind="stable")[:, :3]]
        voted = np.where(labels[:, 1] == labels[:, 2], labels[:, 1], labels[:, 0])
        wrong += int((voted != truth[start : start + 500]).sum())
    return wrong / len(queries)


@pytest.mark.skipif("VICINAL_DATA" not in os.environ, reason="needs the letter set in VICINAL_DATA")
def test_the_official_split_of_a_known_set_gives_the_error_of_exact_arithmetic(run, tmp_path):
    words = ("--method", "euclidean", "--k", 3, "--scale", "none", "--no-error")
    assert run("fit", "letter", "--split", "train", *words, "-o", tmp_path / "m").code == 0
    done = run("predict", tmp_path / "m", "letter", "--split", "test", "--json", tmp_path / "j")
    assert done.code == 0
    record = json.loads((tmp_path / "j").read_text())["records"][0]
    assert (record["n_train"], record["n_test"]) == (16_000, 4_000)
    train, test = (load_dataset("letter", part) for part in ("train", "test"))
    expected = _exact_three_nearest_error(
        train.X.astype(np.int64), train.y, test.X.astype(np.int64), test.y
    )
    assert record["error_mean"] == expected


def test_files_that_are_no_model_of_fit_are_refused(run, tmp_path):
    (tmp_path / "m").write_text("hello")
    assert "not a vicinal model file" in run("predict", tmp_path / "m", "wine").err
    assert "no such model file" in run("predict", tmp_path / "none", "wine").err
    assert "is a directory" in run("predict", tmp_path, "wine").err
    save_model(KNNClassifier(1).fit([[0.0], [1.0]], [0, 1]), tmp_path / "m")
    done = run("predict", tmp_path / "m", "wine")
    assert done.code == 2
    assert "without the columns it was fitted on" in done.err


def test_the_predictions_never_overwrite_what_they_are_made_from(run, model, tmp_path):
    for place in (model, tmp_path / "train.csv"):
        done = run("predict", model, tmp_path / "train.csv", "-o", place)
        assert done.code == 2
        assert "is also read by this command" in done.err


def test_a_full_disk_is_an_error_of_code_1(run, model, tmp_path):
    (tmp_path / "full").symlink_to("/dev/full")
    done = run("predict", model, tmp_path / "train.csv", "-o", tmp_path / "full")
    assert done.code == 1
    assert "No space left on device" in done.err
    assert (tmp_path / "full").is_symlink()
