"""``vicinal compare``: a table, a folder of results, and clear words for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from tests.oracles.inference import majority_vote

from vicinal import load_dataset
from vicinal.cli import main
from vicinal.data import make_folds

LEARNERS = Path(__file__).parents[1] / "runs"


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command in a folder of its own; return its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(LEARNERS))

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vicinal", "compare", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return run


def table(path, n=90, n_classes=3, extra=""):
    """Write a table whose first column tells the class and whose others are noise."""
    random = np.random.default_rng(0)
    lines = ["good,loud,noise,kind"]
    for i in range(n):
        kind = i % n_classes
        loud, noise = random.normal(size=2)
        lines.append(f"{kind + random.normal() / 4:.4f},{9 * loud:.4f},{noise:.4f},k{kind}")
    path.write_text("\n".join(lines) + "\n" + extra)
    return path


def records_of(path):
    return {(r["method"], r["k"]): r for r in json.loads(path.read_text())["records"]}


def test_a_comparison_prints_a_table_and_leaves_results_and_a_page(run, tmp_path):
    data = table(tmp_path / "table.csv")
    code, out, err = run(
        data, "--target", "kind", "--methods", "lda,misbehaving:Crashing,misbehaving:Raising",
        "--k", "3,7", "--folds", "2", "--json", "copy.json", "--out", "results/first")  # fmt: skip
    assert code == 0
    assert "table.csv: 90 rows, 3 features, 3 classes; z-scored; 2-fold" in out
    assert "LDA has the smallest" in out
    assert "[1] Crashing failed: the process crashed (SIGSEGV" in out
    assert "[2] Raising failed: RuntimeError: the matrix is not what it was" in out
    assert "[1/8] euclidean, k = 3, 7, fold 1: error" in err

    folder = tmp_path / "results" / "first"
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "records.jsonl", "results.json", "report.html", "run.lock"} < names
    assert (tmp_path / "copy.json").read_text() == (folder / "results.json").read_text()
    assert "LDA has the smallest" in (folder / "report.html").read_text()

    records = records_of(folder / "results.json")
    lda, euclidean = records["lda", 3], records["euclidean", 3]
    assert lda["error_mean"] == pytest.approx(np.mean(lda["errors"]))
    assert lda["gain"] == pytest.approx(euclidean["error_mean"] - lda["error_mean"])
    assert 0 < lda["p_value"] <= 1
    for name in ("dataset", "error_sd", "fit_seconds", "n_train", "n_test", "seed", "version"):
        assert lda[name] is not None
    assert records["misbehaving:Crashing", 7]["status"] == "failed"
    assert records["misbehaving:Crashing", 7]["error_mean"] is None


def test_the_same_command_again_measures_nothing_anew_and_fresh_everything(run, tmp_path):
    command = (table(tmp_path / "t.csv"), "--target", "kind", "--methods", "lda", "--k", "3",
               "--folds", "2", "--no-report")  # fmt: skip
    assert run(*command)[0] == 0
    (folder,) = (tmp_path / "vicinal-runs").iterdir()
    assert not (folder / "report.html").exists()
    before = (folder / "records.jsonl").read_text()
    code, _, err = run(*command)
    assert code == 0
    assert "4 of 4 cells were measured by an earlier run" in err
    assert (folder / "records.jsonl").read_text() == before

    assert run(*command, "--fresh", "--jobs", "2")[0] == 0
    (same,) = (tmp_path / "vicinal-runs").iterdir()
    assert same == folder
    after = (folder / "records.jsonl").read_text()
    assert after != before
    results = [sorted((r["key"], r["error"]) for r in map(json.loads, text.splitlines()))
               for text in (before, after)]  # fmt: skip
    assert results[0] == results[1]


@pytest.mark.usefixtures("one_process")
def test_a_folder_of_another_configuration_is_refused(run, tmp_path):
    command = (table(tmp_path / "t.csv"), "--target", "kind", "--methods", "euclidean",
               "--folds", "2", "--no-report", "--out", "run")  # fmt: skip
    assert run(*command)[0] == 0
    code, _, err = run(*command, "--seed", "1")
    assert code == 2
    assert "seed: there 0, now 1" in err
    table(tmp_path / "t.csv", n=60)
    code, _, err = run(*command)
    assert code == 2
    assert "digest" in err


@pytest.mark.usefixtures("one_process")
def test_a_regression_is_scored_by_the_variance_left(run, tmp_path):
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 2))
    text = "\n".join(f"{a},{b},{a + 0.1 * b}" for a, b in rows)
    (tmp_path / "numbers.csv").write_text(f"a,b,price\n{text}\n")
    code, out, _ = run("numbers.csv", "--target", "price", "--k", "3", "--folds", "2")
    assert code == 0
    assert "nMSE" in out
    assert "classes" not in out


@pytest.mark.usefixtures("one_process")
def test_duplicate_rows_constant_columns_and_rare_classes_are_measured(run, tmp_path):
    lines = [
        "a,b,same,kind",
        *(f"{i % 5},{i % 3},1,{'xyz'[i % 3]}" for i in range(60)),
        "9,9,1,rare",
    ]
    (tmp_path / "odd.csv").write_text("\n".join(lines) + "\n")
    code, out, _ = run(
        "odd.csv", "--target", "kind", "--methods", "lda,nca", "--k", "1", "--folds", "3"
    )
    assert code == 0
    assert "failed" not in out
    page = next((tmp_path / "vicinal-runs").glob("*/report.html")).read_text()
    assert "back by name (--keep)" in out
    assert "(keep)" not in out + page


@pytest.mark.usefixtures("one_process")
def test_nothing_measured_of_what_was_asked_is_a_failure(run, tmp_path):
    code, out, _ = run(
        table(tmp_path / "t.csv"), "--target", "kind", "--methods", "misbehaving:Raising",
        "--k", "3", "--folds", "2")  # fmt: skip
    assert code == 1
    assert "Raising failed: RuntimeError" in out


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["leter"], "Did you mean letter"),
        (["nosuchdataset"], "unknown data set 'nosuchdataset'"),
        (["t.csv", "--target", "kinds"], "Did you mean 'kind'"),
        (["t.csv"], "--target"),
        (["missing.csv", "--target", "kind"], "missing.csv"),
        ([".", "--target", "kind"], "directory"),
        (["t.csv", "--target", "kind", "--methods", "mlgn"], "Did you mean mlng"),
        (["t.csv", "--target", "kind", "--methods", ","], "names nothing"),
        (["t.csv", "--target", "kind", "--k", "3,x"], "'3,x'"),
        (["t.csv", "--target", "kind", "--k", "3,73"], "k = 73 is more than the 72 rows"),
        (["t.csv", "--target", "kind", "--protocol", "loo"], "'loo'"),
        (["t.csv", "--target", "kind", "--folds", "1"], "at least 2"),
        (["t.csv", "--target", "kind", "--scale", "minmax"], "minmax"),
        (["t.csv", "--target", "kind", "--jobs", "0"], "--jobs"),
        (["t.csv", "--target", "kind", "--limit", "1"], "--limit"),
        (["t.csv", "--target", "kind", "--seed", "-1"], "seed"),
        (["t.csv", "--target", "kind", "--json", "no/such/folder.json"], "there is no directory"),
        (["t.csv", "--target", "kind", "--json", "."], "is a directory"),
        (["t.csv", "--target", "kind", "--task", "clustering"], "clustering"),
        (["digits", "--target", "kind"], "known data set"),
        (["missing_value.csv", "--target", "kind"], "good"),
        (["numbers.csv", "--target", "y", "--methods", "lda"], "not made for regression"),
        (["t.csv", "--target", "kind", "--out", "t.csv"], "is a file"),
        (["t.csv", "--target", "kind", "--out", "."], "no run of vicinal"),
        (["t.csv", "--colour", "red"], "No such option"),
    ],
)
def test_bad_input_is_refused_in_words_before_any_work(run, tmp_path, arguments, words):
    table(tmp_path / "t.csv")
    (tmp_path / "missing_value.csv").write_text("good,kind\n1,x\n,y\n3,x\n")
    (tmp_path / "numbers.csv").write_text(
        "x,y\n" + "".join(f"{i % 7},{i / 7}\n" for i in range(30))
    )
    code, out, err = run(*arguments)
    assert code == 2, err
    assert words in " ".join((out + err).split())
    assert not (tmp_path / "vicinal-runs").exists()


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("folder", ["locked/run", "t.csv/run"])
def test_a_folder_that_cannot_be_made_is_a_clear_failure(run, tmp_path, folder):
    if folder.startswith("locked") and os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    table(tmp_path / "t.csv")
    (tmp_path / "locked").mkdir(mode=0o500)
    code, _, err = run("t.csv", "--target", "kind", "--out", folder)
    assert code == 1
    assert f"cannot write to {folder}" in err


@pytest.mark.usefixtures("one_process")
def test_missing_values_are_filled_in_when_asked_and_the_report_says_so(run, tmp_path):
    table(tmp_path / "t.csv", extra=",1.0,2.0,k1\n")
    code, out, _ = run(
        "t.csv", "--target", "kind", "--methods", "euclidean", "--impute", "--folds", "2"
    )
    assert code == 0
    assert "Missing values were filled in" in out


@pytest.mark.usefixtures("one_process")
def test_a_sample_of_a_known_set_is_said_to_be_one(run):
    code, out, _ = run(
        "digits", "--methods", "euclidean", "--limit", "200", "--folds", "2", "--k", "1",
        "--pca", "5", "--scale", "none", "--no-report")  # fmt: skip
    assert code == 0
    assert "digits: 200 rows, 64 features, 10 classes; raw, 5 principal components" in out
    assert "random sample of 200 rows" in out


@pytest.mark.usefixtures("one_process")
def test_references_are_rows_of_their_own_and_the_words_say_where_neighbours_stand(run, tmp_path):
    code, out, _ = run(
        table(tmp_path / "t.csv"), "--target", "kind", "--methods", "lda,SVM,logistic", "--k", "3",
        "--folds", "2", "--json", "r.json", "--out", "run")  # fmt: skip
    assert code == 0
    assert "reference" in out
    records = records_of(tmp_path / "r.json")
    assert records["svm", None]["reference"]
    assert not records["lda", 3]["reference"]
    assert "logistic regression" in (tmp_path / "run" / "report.html").read_text()


def test_help_names_every_option(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = run("--help")
    assert code == 0
    for option in ("--target", "--methods", "--k", "--protocol", "--folds", "--scale", "--pca",
                   "--seed", "--references", "--jobs", "--limit", "--out", "--fresh", "--json",
                   "--no-report"):  # fmt: skip
        assert option in out


def plain_errors(dataset, k):
    """Return the error of each fold by scikit-learn's search and a vote written out."""
    errors = []
    for fold in make_folds(dataset, "kfold", n_folds=5, seed=0):
        scaler = StandardScaler().fit(dataset.X[fold.train])
        search = NearestNeighbors(n_neighbors=k, algorithm="brute")
        search.fit(scaler.transform(dataset.X[fold.train]))
        found = search.kneighbors(scaler.transform(dataset.X[fold.test]), return_distance=False)
        votes = majority_vote(dataset.y[fold.train][found], len(dataset.classes))
        errors.append(np.mean(votes != dataset.y[fold.test]))
    return errors


@pytest.mark.usefixtures("one_process")
def test_letters_have_the_error_that_scikit_learn_finds_on_the_same_folds(run):
    if not os.environ.get("VICINAL_DATA"):
        pytest.skip("VICINAL_DATA is not set: the letters are not at hand")
    code, _, _ = run("letter", "--methods", "euclidean", "--k", "3", "--json", "r.json")
    assert code == 0
    measured = records_of(Path("r.json"))["euclidean", 3]["errors"]
    # Rows at the same distance may come in another order there: a few votes may differ.
    assert measured == pytest.approx(plain_errors(load_dataset("letter"), 3), abs=5e-4)


def test_a_missing_file_is_noticed_before_a_numerical_library_is_loaded(tmp_path):
    code = (
        "import sys; sys.argv = ['vicinal', 'compare', 'nosuch.csv']\n"
        "import vicinal.cli\n"
        "try: vicinal.cli.main()\n"
        "except SystemExit as stop: assert stop.code == 2\n"
        "print({'numpy', 'pandas', 'sklearn', 'numba'} & set(sys.modules) or 'none')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr == "error: nosuch.csv: no such file.\n"
    assert done.stdout == "none\n"
