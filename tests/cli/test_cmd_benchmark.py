"""``vicinal benchmark tables``: a table a task, a drawing, and nothing measured twice."""

from __future__ import annotations

import json
import sys

import pytest
from tests.comparison.test_benchmark import write_tables

from vicinal.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vicinal", "benchmark", "tables", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return run


def test_methods_are_ranked_for_each_task_and_the_run_is_kept(run, tmp_path):
    (tmp_path / "sets").mkdir()
    write_tables(tmp_path / "sets")
    asked = ("sets", "--methods", "lda,forest", "--k", "3", "--json", tmp_path / "r.json")
    code, out, _ = run(*asked)
    assert code == 0
    assert "classification: 2 tables" in out
    assert "regression: 1 tables" in out
    content = json.loads((tmp_path / "r.json").read_text())
    classes = next(s for s in content["summaries"] if s["task"] == "classification")
    assert set(classes["methods"]) == {"euclidean", "lda", "forest"}
    assert classes["behind_first"][0] == 0
    folder = tmp_path / "vicinal-runs" / "benchmark-sets"
    assert (folder / "ranks-classification.svg").stat().st_size > 1000
    assert len(content["records"]) == 8
    code, _, said = run(*asked)
    assert code == 0
    assert "8 of 8 cells were measured by an earlier run" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "nowhere is no folder of tables"),
        ((".",), "holds no tables"),
        ((".", "--methods", ","), "--methods names nothing"),
        (("sets", "--k", "many"), "--k takes whole numbers, learned and auto, got 'many'"),
        (("sets", "--k", "0"), "k must be at least 1, got 0"),
        (("sets", "--folds", "6"), "folds must be"),
        (("sets", "--folds", "all"), "--folds takes a whole number or auto, got 'all'"),
    ],
)
def test_bad_input_is_refused_with_code_2(run, arguments, message, tmp_path):
    (tmp_path / "sets").mkdir()
    write_tables(tmp_path / "sets")
    code, _, said = run(*arguments)
    assert code == 2
    assert message in said


def test_missing_values_are_filled_in_where_that_is_asked(run, tmp_path):
    (tmp_path / "sets").mkdir()
    rows = "".join(f"{i % 7 if i % 5 else ''},{'abc'[i % 3]},{i % 2}\n" for i in range(60))
    (tmp_path / "sets" / "holes.csv").write_text("a,b,y\n" + rows)
    words = ("sets", "--target", "y", "--methods", "lda")
    code, _, said = run(*words)
    assert code == 2
    assert "--impute" in said
    code, out, _ = run(*words, "--impute")
    assert code == 0
    assert "classification: 1 tables" in out


def test_the_vote_is_chosen_for_every_metric_where_that_is_asked(run, tmp_path):
    (tmp_path / "sets").mkdir()
    write_tables(tmp_path / "sets")
    asked = ("sets", "--methods", "lda,forest", "--k", "auto", "--json", tmp_path / "r.json")
    code, _, said = run(*asked)
    assert code == 0, said
    records = json.loads((tmp_path / "r.json").read_text())["records"]
    assert {(r["method"], r["k"]) for r in records} == {
        ("euclidean", "auto"), ("lda", "auto"), ("forest", None),
    }  # fmt: skip
    assert all(r["status"] == "ok" for r in records)
    assert all((r["k"] is None) == ("coverage" not in r) for r in records)
    assert all(0 < r["coverage"] <= 1 and r["size"] > 0 for r in records if r["k"])
    assert all("log-loss" in r["scores"] for r in records if r["dataset"] != "number.npz")
