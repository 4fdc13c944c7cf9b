"""``vicinal neighbors``: the nearest training rows, in three formats."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler


@pytest.fixture
def model(run, tmp_path) -> Path:
    path = tmp_path / "m.vicinal"
    assert run("fit", "wine", "--method", "euclidean", "--k", 3, "-o", path).code == 0
    return path


def _oracle(k: int) -> tuple[np.ndarray, np.ndarray]:
    X = StandardScaler().fit_transform(load_wine().data)
    distances, rows = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors(X)
    return distances, rows


def test_csv_lists_every_row_with_the_neighbours_scikit_learn_finds(run, model):
    done = run("neighbors", model, "wine", "--k", 4, "--format", "csv")
    assert done.code == 0
    lines = list(csv.DictReader(io.StringIO(done.out)))
    assert len(lines) == 178 * 4
    distances, rows = _oracle(4)
    np.testing.assert_array_equal([int(line["neighbor"]) for line in lines], rows.ravel())
    np.testing.assert_allclose(
        [float(line["distance"]) for line in lines], distances.ravel(), atol=1e-6
    )
    names = load_wine().target_names[load_wine().target]
    assert [line["label"] for line in lines] == names[rows.ravel()].tolist()


def test_json_gives_the_rows_asked_for(run, model, tmp_path):
    words = ("neighbors", model, "wine", "--row", 70, "--row", 3, "--format", "json")
    done = run(*words, "--json", tmp_path / "j")
    assert done.code == 0
    content = json.loads(done.out)
    assert [entry["row"] for entry in content["neighbors"]] == [70, 3]
    assert [len(entry["neighbors"]) for entry in content["neighbors"]] == [3, 3]
    _, rows = _oracle(3)
    assert [near["row"] for near in content["neighbors"][0]["neighbors"]] == rows[70].tolist()
    assert json.loads((tmp_path / "j").read_text()) == content


def test_the_table_shows_the_first_rows_and_says_so(run, model):
    done = run("neighbors", model, "wine")
    assert done.code == 0
    heads = done.out.splitlines()[0].split()
    assert heads[:6] == ["row", "rank", "neighbor", "distance", "target", "alcohol"]
    assert len(done.out.splitlines()) == 1 + 10 * (1 + 3)
    assert "the first 10 of 178 rows" in done.err
    assert "\x1b" not in done.out
    assert run("neighbors", model, "wine", "--row", 5).err == ""


def test_numbers_are_the_labels_of_a_regression(run, tmp_path):
    words = ("--method", "egop", "--k", 2, "-o", tmp_path / "m")
    assert run("fit", "diabetes", *words).code == 0
    done = run("neighbors", tmp_path / "m", "diabetes", "--row", 0, "--format", "json")
    nearest = json.loads(done.out)["neighbors"][0]["neighbors"][0]
    assert nearest["row"] == 0
    assert nearest["label"] == 151.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--row", 178), "--row 178: the rows are 0 to 177"),
        (("--row", -1), "--row -1: the rows are 0 to 177"),
        (("--k", 0), "--k must be at least 1"),
        (("--k", 179), "use at most 178"),
        (("--format", "xml"), "--format must be one of table, csv, json"),
        (("--split", "test"), "no official split"),
    ],
)
def test_wrong_words_are_refused_with_code_2(run, model, words, message):
    done = run("neighbors", model, "wine", *words)
    assert done.code == 2
    assert message in done.err
