"""``vicinal fit``: what it writes, what it says, what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from vicinal import load_model
from vicinal.models import read_metadata

FIELDS = {
    "dataset", "method", "k", "error_mean", "error_sd", "fit_seconds", "n_train", "n_test", "seed",
    "version",
}  # fmt: skip


@pytest.fixture
def fruit(tmp_path) -> Path:
    """Sixty rows whose kind follows from weight and colour."""
    random = np.random.default_rng(0)
    lines = ["grams,colour,noise,kind"]
    for i in range(60):
        apple = i % 2 == 0
        grams = random.normal(150 if apple else 5, 2 if apple else 0.5)
        colour = random.choice(["green", "red"]) if apple else "red"
        lines.append(f"{grams:.3f},{colour},{random.normal():.3f},{'apple' if apple else 'cherry'}")
    path = tmp_path / "fruit.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_known_set_is_fitted_and_saved(run, tmp_path):
    model = tmp_path / "wine.vicinal"
    done = run("fit", "wine", "--method", "lda", "--k", 3, "-o", model, "--json", tmp_path / "j")
    assert done.code == 0
    assert "lda, k = 3, fitted on 178 rows of wine (13 features, classification)" in done.out
    assert "error on 45 held-out rows:" in done.out
    assert "features that weigh most in the distance:" in done.out
    assert done.out.rstrip().endswith(f"model: {model}")
    record = json.loads((tmp_path / "j").read_text())["records"][0]
    assert record.keys() >= FIELDS
    assert record["dataset"] == "wine"
    assert 0 <= record["error_mean"] < 0.2
    assert record["error_sd"] is None, "one split has no spread"
    assert 0 <= record["euclidean_error"] < 0.2
    assert sum(record["relevance"].values()) == pytest.approx(1)
    X, y = load_wine(return_X_y=True)
    loaded = load_model(model)
    assert np.mean([int(name[-1]) for name in loaded.predict(X)] == y) > 0.95


def test_a_table_is_fitted_by_its_columns(run, fruit, tmp_path):
    model = tmp_path / "m"
    done = run("fit", fruit, "--target", "kind", "--method", "lda", "-o", model)
    assert done.code == 0
    assert "4 features" in done.out
    assert "held-out rows: 0.0 % (Euclidean: 0.0 %)" in done.out
    assert "weigh most in the distance: grams" in done.out
    facts = read_metadata(model)
    assert (facts["target"], facts["method"], facts["k"]) == ("kind", "lda", 5)
    loaded = load_model(model)
    assert loaded["columns"].feature_names_ == ["grams", "colour=green", "colour=red", "noise"]
    assert loaded[-1].classes_.tolist() == ["apple", "cherry"]


def test_the_reported_error_is_measured_on_rows_the_model_did_not_see(run, tmp_path):
    """Labels without any pattern: one neighbour repeats its own label, held-out rows are lost."""
    random = np.random.default_rng(0)
    np.savez(tmp_path / "t.npz", X=random.normal(size=(200, 5)), y=np.arange(200) % 2)
    run("fit", tmp_path / "t.npz", "--method", "euclidean", "--k", 1, "-o", tmp_path / "m",
        "--json", tmp_path / "j")  # fmt: skip
    record = json.loads((tmp_path / "j").read_text())["records"][0]
    assert 0.3 < record["error_mean"] < 0.7
    assert record["n_train"] == 200
    assert record["n_test"] == 50


def test_a_target_of_fractions_is_regressed_and_needs_no_method(run, tmp_path):
    words = ("fit", "diabetes", "--k", 9, "-o", tmp_path / "m", "--json", tmp_path / "j")
    done = run(*words, "--no-error")  # which would be a second choice among all learners
    assert done.code == 0
    assert done.out.startswith("auto, chosen vote, fitted on")
    assert run("info", tmp_path / "m").out.startswith("auto, chosen vote, regression of")
    record = json.loads((tmp_path / "j").read_text())["records"][0]
    assert (record["method"], record["task"]) == ("auto", "regression")
    X, y = load_diabetes(return_X_y=True, scaled=False)
    predicted = load_model(tmp_path / "m").predict(X)
    assert np.mean((predicted - y) ** 2) / np.var(y) < 0.6


def test_missing_values_are_imputed_when_asked(run, tmp_path):
    rows = "".join(f"{i % 7 if i % 5 else ''},{'abc'[i % 3]},{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    words = ("fit", tmp_path / "t.csv", "--target", "y", "--method", "euclidean")
    refused = run(*words, "-o", tmp_path / "m")
    assert refused.code == 2
    assert "'a' (8)" in refused.err
    assert run(*words, "--impute", "-o", tmp_path / "m").code == 0
    fill = load_model(tmp_path / "m")["impute"].fill_
    assert fill[0] == np.median([i % 7 for i in range(40) if i % 5])


def test_scaling_and_pca_are_part_of_the_model(run, tmp_path):
    words = ("fit", "digits", "--method", "lda", "--scale", "none", "--pca", 12)
    assert run(*words, "-o", tmp_path / "m").code == 0
    model = load_model(tmp_path / "m")
    assert model["prepare"].axes_.shape == (12, 64)
    assert read_metadata(tmp_path / "m")["pca"] == 12


def test_rows_of_unit_length_are_fitted_as_they_come_and_it_is_said(run, tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 3)) + np.arange(80)[:, None] % 2
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    lines = [f"{','.join(map(repr, row.tolist()))},{'ab'[i % 2]}" for i, row in enumerate(rows)]
    table = tmp_path / "embedded.csv"
    table.write_text("\n".join(["x,y,z,kind", *lines]))
    words = ("fit", table, "--target", "kind", "--method", "lda")
    done = run(*words, "-o", tmp_path / "m")
    assert "of unit length" in done.out
    assert read_metadata(tmp_path / "m")["scale"] == "none"
    maps = [load_model(tmp_path / "m")[-1].metric_.components_]
    for scale in ("none", "zscore"):
        asked = run(*words, "--scale", scale, "-o", tmp_path / scale)
        assert "of unit length" not in asked.out
        maps.append(load_model(tmp_path / scale)[-1].metric_.components_)
    assert np.array_equal(maps[0], maps[1])
    assert not np.allclose(maps[0], maps[2])


def test_the_same_seed_gives_the_same_file_but_for_the_times(run, fruit, tmp_path):
    for name in ("m1", "m2"):
        run("fit", fruit, "--target", "kind", "--method", "nca", "--seed", 3, "-o", tmp_path / name)
    queries = {"grams": [80.0, 3.0], "colour": ["red", "red"], "noise": [0.0, 0.1]}
    import pandas as pd

    first, second = (load_model(tmp_path / name) for name in ("m1", "m2"))
    np.testing.assert_array_equal(first[-1].metric_.components_, second[-1].metric_.components_)
    frame = pd.DataFrame(queries)
    np.testing.assert_array_equal(first.predict(frame), second.predict(frame))


def test_the_held_out_error_can_be_left_out(run, fruit, tmp_path):
    words = ("fit", fruit, "--target", "kind", "--method", "euclidean", "-o", tmp_path / "m")
    done = run(*words, "--no-error", "--json", tmp_path / "j")
    assert done.code == 0
    assert "held-out" not in done.out
    assert json.loads((tmp_path / "j").read_text())["records"][0]["error_mean"] is None


def test_rows_too_few_to_hold_any_out_still_make_a_model(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,v\n3,u\n")
    done = run("fit", tmp_path / "t.csv", "--target", "y", "--method", "euclidean", "--k", 3,
               "-o", tmp_path / "m")  # fmt: skip
    assert done.code == 0
    assert "note: no error on held-out rows: n_neighbors=3 is more than" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nosuchset",), "unknown data set 'nosuchset'"),
        (("wine", "--method", "lta"), "Did you mean lda"),
        (("diabetes", "--method", "lda"), "not made for regression"),
        (("wine", "--k", 0), "at least 1, got 0"),
        (("wine", "--k", 179), "n_neighbors=179 is more than"),
        (("wine", "--scale", "loud"), "scale must be one of"),
        (("wine", "--pca", 14), "use 1 to 13"),
        (("wine", "--split", "half"), "(--split) must be all, train or test"),
        (("wine", "--split", "test"), "no official split"),
        (("wine", "--target", "x"), "target of its own"),
        (("wine", "--task", "guess"), "task must be classification or regression"),
    ],
)
def test_wrong_words_are_refused_with_code_2(run, tmp_path, words, message):
    done = run("fit", *words, *(() if "--method" in words else ("--method", "euclidean")),
               "-o", tmp_path / "m")  # fmt: skip
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert not (tmp_path / "m").exists()


def test_without_a_place_for_the_model_the_usage_is_shown(run):
    done = run("fit", "wine")
    assert done.code == 2
    assert "--out" in done.err


def test_outputs_are_checked_before_time_is_spent(run, fruit, tmp_path):
    words = ("fit", fruit, "--target", "kind")
    assert "is a directory" in run(*words, "-o", tmp_path).err
    assert "there is no directory" in run(*words, "-o", tmp_path / "no" / "m").err
    before = fruit.read_bytes()
    assert "is also read by this command" in run(*words, "-o", fruit).err
    assert "is also read" in run(*words, "-o", tmp_path / "m", "--json", fruit).err
    assert fruit.read_bytes() == before


def test_a_full_disk_keeps_the_old_model_and_exits_with_1(run, fruit, tmp_path):
    """A process that may write no file beyond 200 kB, and a model of 2 MB."""
    model, wide = tmp_path / "m", tmp_path / "wide.npz"
    np.savez(wide, X=np.random.default_rng(0).normal(size=(250, 1000)), y=np.arange(250) % 2)
    assert run("fit", fruit, "--target", "kind", "--method", "lda", "-o", model).code == 0
    before = model.read_bytes()
    code = (
        "import resource, sys; from vicinal.cli import main;"
        "import vicinal.comparison._table_models;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); main()"
    )
    words = ["fit", str(wide), "--method", "euclidean", "-o", str(model)]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert f"cannot write {model}: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert model.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fruit.csv", "m", "wide.npz"]


def test_an_interrupted_fit_says_so_and_writes_nothing(run, fruit, tmp_path, monkeypatch):
    import vicinal.comparison

    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(vicinal.comparison, "fit_table", interrupt)
    done = run("fit", fruit, "--target", "kind", "-o", tmp_path / "m")
    assert done.code == 130
    assert done.err == "stopped; nothing was written.\n"
    assert not (tmp_path / "m").exists()


def test_what_is_piped_is_plain(fruit, tmp_path):
    done: Any = subprocess.run(
        [sys.executable, "-m", "vicinal", "fit", str(fruit), "--target", "kind", "--method",
         "euclidean", "-o", str(tmp_path / "m")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    starts = ("euclidean, k = 5", "error on 15 held-out", "note: read 2 numbers", "model: ")
    lines = [line for line in done.stdout.splitlines() if " tells 'kind' " not in line]
    assert [line.startswith(start) for line, start in zip(lines, starts, strict=True)] == [True] * 4


def test_a_map_that_is_not_linear_claims_no_weights_of_features(run, tmp_path):
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 2))
    text = "".join(f"{a},{b},{np.sin(a):.6f}\n" for a, b in rows)
    (tmp_path / "n.csv").write_text("a,b,height\n" + text)
    words = ("--target", "height", "--method", "gdm", "-o", tmp_path / "m", "--no-error")
    done = run("fit", tmp_path / "n.csv", *words)
    assert done.code == 0, done.err
    assert "weigh most" not in done.out
    assert "listens" not in done.out


LEARNER = """
from vicinal import MetricLearner
class Mine(MetricLearner):
    def fit(self, X, y):
        raise SystemExit("fitted after all")
"""


def test_a_learner_that_cannot_be_saved_is_refused_before_it_is_fitted(
    run, fruit, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_learner.py").write_text(LEARNER)
    words = ("--target", "kind", "--method", "own_learner:Mine", "-o", tmp_path / "m")
    done = run("fit", fruit, *words)
    assert done.code == 2
    assert "Mine, which cannot be stored in a model file" in done.err
    assert not (tmp_path / "m").exists()


def test_a_known_learner_by_its_path_is_fitted_and_saved(run, fruit, tmp_path):
    words = ("--target", "kind", "--method", "vicinal.rivals:LDA", "-o", tmp_path / "m")
    assert run("fit", fruit, *words).code == 0
    assert load_model(tmp_path / "m")[-1].metric_.components_.shape[1] == 4


def test_a_reference_is_no_model_of_neighbours(run, fruit, tmp_path):
    words = ("--target", "kind", "--method", "svm", "-o", tmp_path / "m")
    done = run("fit", fruit, *words)
    assert done.code == 2
    assert "svm asks no neighbours" in done.err


def test_a_text_file_of_columns_is_a_table_too(run, fruit, tmp_path):
    same = tmp_path / "fruit.txt"
    same.write_text(fruit.read_text().replace(",", ";"))
    words = ("--target", "kind", "--method", "lda", "-o", tmp_path / "m")
    assert "4 features" in run("fit", same, *words).out
