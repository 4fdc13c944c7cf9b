"""``vicinal bench``: seconds against rows, resumable like every run."""

from __future__ import annotations

import json
import sys

import pytest

from vicinal.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vicinal", "bench", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return run


def test_each_method_has_a_row_and_each_size_a_column(run, tmp_path):
    asked = ("wine", "--methods", "lda", "--sizes", "60,120", "--json", tmp_path / "r.json")
    code, out, _ = run(*asked)
    assert code == 0
    assert "48 rows" in out
    assert "96 rows" in out
    records = json.loads((tmp_path / "r.json").read_text())["records"]
    assert {(r["method"], r["n_train"]) for r in records} == {
        ("euclidean", 48), ("euclidean", 96), ("lda", 48), ("lda", 96),
    }  # fmt: skip
    assert all(0 <= r["error_mean"] < 0.5 and r["fit_cpu_seconds"] >= 0 for r in records)
    assert {r["error_sd"] for r in records} == {None}, "one split has no spread"
    code, _, said = run(*asked)
    assert code == 0
    assert "4 of 4 cells were measured by an earlier run" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wine", "--sizes", "10,many"), "--sizes takes whole numbers"),
        (("wine", "--sizes", "60,9999"), "9,999 is more than the 178 rows"),
        (("wine", "--sizes", "60", "--methods", "ldaa"), "ldaa"),
        (("nosuchdata", "--sizes", "60"), "nosuchdata"),
    ],
)
def test_bad_input_is_refused_with_code_2(run, arguments, message):
    code, _, said = run(*arguments)
    assert code == 2
    assert message in said


def test_a_learner_of_ones_own_is_found_where_one_works(run, tmp_path):
    (tmp_path / "bench_learner.py").write_text(
        "from vicinal import LDA\nclass Mine(LDA):\n    pass\n"
    )
    code, out, _ = run("wine", "--methods", "bench_learner:Mine", "--sizes", "60")
    assert code == 0
    assert "bench_learner:Mine" in out
