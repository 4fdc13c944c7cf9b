"""Single options: each does what its help says, and nothing wraps raggedly in that help."""

from __future__ import annotations

import io
import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from vicinal.cli import app

N = 60


@pytest.fixture
def table(tmp_path, monkeypatch) -> Path:
    """Measurements, a code, persons with several rows, names, weights, kinds and prices."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["name,person,code,good,noise,weight,kind,price"]
    for i in range(N):
        kind, (good, noise) = i // 2 % 2, rng.normal(size=2)
        lines.append(
            f"row {i},{i // 2 % 15},{rng.integers(1, 4)},{good + 2 * kind:.3f},{noise:.3f},"
            f"{1 + i % 3},{'ab'[kind]},{10 + 3 * good + kind:.2f}"
        )
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def compare(run, one_process, table):
    """Return a function that compares on the table and gives the outcome and its records."""

    def call(*words: object, target: str = "kind", table: Any = table) -> Any:
        least = ("--methods", "lda", "--k", "3", "--folds", "2", "--no-report", "--json", "r.json")
        outcome = run("compare", table, "--target", target, *least, *words)
        assert outcome.code == 0, outcome.err
        return outcome, json.loads(Path("r.json").read_text())

    return call


def n_features(outcome: Any) -> int:
    found = re.search(r"([\d,]+) features?", outcome.out + outcome.err)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), 6),  # the names are left out
        (("--drop", "weight,price"), 4),
        (("--features", "good,noise"), 2),
        (("--categories", "code"), 8),
        (("--features", "good", "--keep", "name"), 1),
        (("--id", "name", "--groups", "person", "--weights", "weight"), 4),
    ],
)
def test_columns_are_chosen_by_name(compare, words, expected):
    assert n_features(compare(*words)[0]) == expected


def test_grouped_rows_stay_together(compare):
    outcome, _ = compare("--groups", "person")
    assert "cross-validation by group" in outcome.out


def test_a_column_that_is_not_there_is_named_with_the_nearest(run, one_process, table):
    outcome = run("compare", table, "--target", "kind", "--drop", "prise")
    assert outcome.code == 2
    assert "no column 'prise'. Did you mean 'price'?" in outcome.err


@pytest.mark.parametrize(
    ("words", "target", "head"),
    [
        (("--score", "balanced"), "kind", "balanced error"),
        (("--score", "mae"), "price", "MAE"),
        (("--score", "rmse"), "price", "RMSE"),
        ((), "price", "nMSE"),
    ],
)
def test_what_is_ranked_can_be_chosen(compare, words, target, head):
    methods = ("--methods", "egop") if target == "price" else ()
    outcome, _ = compare(*words, *methods, "--features", "good,noise", target=target)
    assert head in outcome.out


def test_a_score_of_the_other_task_is_refused(run, one_process, table):
    outcome = run("compare", table, "--target", "kind", "--score", "mae", "--methods", "lda")
    assert outcome.code == 2
    assert "mae" in outcome.err


def test_the_number_of_folds_repeats_and_neighbours_follow(compare):
    _, found = compare("--k", "1,5", "--folds", "3", "--drop", "price,name")
    assert {(r["method"], r["k"]) for r in found["records"]} == {
        ("euclidean", 1), ("euclidean", 5), ("lda", 1), ("lda", 5),
    }  # fmt: skip
    assert {len(r["errors"]) for r in found["records"]} == {3}
    _, found = compare("--protocol", "repeated", "--repeats", "4", "--fresh")
    assert {len(r["errors"]) for r in found["records"]} == {4}


@pytest.mark.parametrize("words", [("--limit", "30"), ("--pca", "2"), ("--scale", "none")])
def test_rows_components_and_scales_are_said(compare, words):
    said = {"--limit": "30 rows", "--pca": "2", "--scale": "raw"}[words[0]]
    assert said in compare(*words)[0].out


def test_another_seed_makes_other_folds(compare):
    first, second = (compare("--seed", s, "--out", f"run{s}")[1]["records"] for s in (0, 1))
    assert [r["errors"] for r in first] != [r["errors"] for r in second]
    assert compare("--seed", 0, "--out", "again")[1]["records"][0]["errors"] == first[0]["errors"]


def test_quiet_prints_the_table_alone(compare):
    loud, quiet = compare("--out", "a")[0], compare("--quiet", "--out", "b")[0]
    assert "fold 1" in loud.err + loud.out
    assert "fold 1" not in quiet.err + quiet.out
    assert "LDA" in quiet.out


def test_the_page_is_opened_when_asked(run, one_process, table, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(typer, "launch", opened.append)
    words = ("--methods", "lda", "--k", "3", "--folds", "2", "--out", "run", "--open")
    assert run("compare", table, "--target", "kind", *words).code == 0
    assert [Path(place.removeprefix("file://")).name for place in opened] == ["report.html"]


def test_standard_input_is_a_table(compare, table, monkeypatch):
    source = io.TextIOWrapper(io.BytesIO(table.read_bytes()))
    monkeypatch.setattr(sys, "stdin", source)
    assert n_features(compare(table="-")[0]) == 6


def test_a_closed_standard_input_is_said(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    told = run("compare", "-", "--target", "y")
    assert (told.code, "standard input, which is closed" in told.err) == (2, True)


def test_a_model_is_told_about_mapped_by_and_searched_by_name(run, one_process, table):
    words = ("--method", "lda", "--k", "3", "--id", "name", "--categories", "code")
    made = run("fit", table, "--target", "kind", *words, "--out", "m.vicinal")
    assert made.code == 0, made.err
    told = run("info", "m.vicinal", "--json", "info.json")
    assert "code: category, 3 features" in told.out + told.err
    assert json.loads(Path("info.json").read_text())
    assert run("transform", "m.vicinal", table, "--out", "mapped.csv").code == 0
    mapped = Path("mapped.csv").read_text().splitlines()
    assert len(mapped) == N + 1
    near = run("neighbors", "m.vicinal", table, "--row", "4", "--k", "2", "--format", "csv")
    assert "row 4" in near.out
    predicted = run("predict", "m.vicinal", table, "--proba")
    assert predicted.out.splitlines()[0].count(",") >= 3


# Help -----------------------------------------------------------------------------------------


def commands() -> list[list[str]]:
    root = typer.main.get_command(app)
    found = []
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found += [[name, each] for each in inner] if inner else [[name]]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_has_an_example_and_fills_its_lines(run, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    outcome = run(*words, "-h")
    assert outcome.code == 0
    prose = outcome.out.split("╭", 1)[0]
    assert f"Example: vicinal {' '.join(words)}" in prose
    lines = [line.strip() for line in prose.splitlines()]
    for above, below in pairwise(lines):
        if above and below:
            assert len(above) + 1 + len(below.split()[0]) > 76, (above, below)


def test_the_shell_completes_commands(run, monkeypatch):
    monkeypatch.setenv("_VICINAL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "vicinal co")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert "compare" in run().out
