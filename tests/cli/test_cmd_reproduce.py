"""``vicinal reproduce``: names, a run, its outputs, and bad usage."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome, run_here
from tests.conftest import answer_here

from vicinal.published import _charts, _page, _reproduce, _tables
from vicinal.published._tables import parse_table

TABLE = parse_table(
    """
title = "Wine"
citation = "nobody2000"
document = "nobody2000"
place = "table 1"
order = 1
layout = "lines"
unit = "percent"
word = "zscore"
protocol = {name = "kfold", n_folds = 3, seed = 0}
preparation = {scale = "zscore"}
notes = ["folds"]
rows = '''
dataset  k  euclidean  lda      lmnn
wine     3  5.0±3.0    5.0±3.0  2.5
wine     7  5.0±3.0    –        2.5
'''
[methods.euclidean]
[methods.lda]
k = [3]
parameters = {n_components = -4}
""",
    "nobody2000_table",
    {"folds": "The folds of the source are not known."},
)
WINE, BROKEN, WINE_7 = TABLE.experiments


def reproduce(*arguments: str, shipped: bool = False) -> Outcome:
    """Run the command, with one small table in place of the shipped ones."""
    with pytest.MonkeyPatch.context() as patch:
        if "--jobs" not in arguments:  # processes are not what is claimed
            patch.setattr(_reproduce, "WorkerPool", answer_here)
        for module in () if shipped else (_tables, _page, _charts):
            patch.setattr(module, "published_tables", lambda: (TABLE,))
        return run_here("reproduce", *arguments)


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Work in an empty folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("reproduce"))
        yield


@pytest.fixture(scope="module")
def whole(place: None) -> Outcome:
    """One run of all three, the last of which fails."""
    return reproduce("all", "--out", "whole", "--json", "results.json", "--page", "page.md",
               "--plot", "bars.svg")  # fmt: skip


def test_a_run_prints_published_beside_measured(whole: Outcome) -> None:
    (line,) = [line for line in whole.out.splitlines() if line.startswith(WINE.name)]
    assert "published 5.00 ± 3.0, measured " in line
    assert line.endswith((", within", ", lower", ", higher"))
    assert "[1/6] wine, euclidean, k = 3, 7, fold 1: error " in whole.err


def test_one_failing_experiment_is_reported_and_the_others_go_on(whole: Outcome) -> None:
    assert whole.code == 1
    records = json.loads(Path("results.json").read_text())["records"]
    status = {record["experiment"]: record["status"] for record in records}
    assert status == {WINE.name: "ok", WINE_7.name: "ok", BROKEN.name: "failed"}
    assert "failed: " in whole.out


def test_counts_are_never_pooled_over_methods_or_preparations(whole: Outcome) -> None:
    counts = [line for line in whole.out.splitlines() if "errors are below" in line]
    assert [line.split(" errors")[0].rsplit(" ", 3)[0] for line in counts] == [
        "euclidean, scale zscore:",
        "lda, scale zscore:",
    ]


def test_json_records_hold_what_every_command_promises(whole: Outcome) -> None:
    record, other, _ = json.loads(Path("results.json").read_text())["records"]
    assert (record["dataset"], record["method"], record["k"]) == ("wine", "euclidean", 3)
    assert 0 < record["error_mean"] < 0.2
    assert record["published_error"] == 0.05
    assert len(record["errors"]) == record["n_folds"] == 3
    assert {"error_sd", "fit_seconds", "n_train", "n_test", "seed", "version"} <= record.keys()
    assert other["k"] == 7


def test_the_bars_are_drawn_of_the_run(whole: Outcome) -> None:
    assert "bars.svg" in whole.out
    assert Path("bars.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_the_page_is_made_from_the_run(whole: Outcome) -> None:
    page = Path("page.md").read_text(encoding="utf-8")
    assert page.startswith("# Published results")
    assert page.count("| Euclidean | wine |") == 2
    assert "The folds of the source are not known." in page


def test_a_second_run_measures_nothing_again_and_says_the_same(whole: Outcome) -> None:
    again = reproduce("euclidean", "--out", "whole")
    assert again.code == 0
    assert "3 of 3" in again.err
    lines = [line for line in whole.out.splitlines() if "_euclidean_" in line]
    assert again.out.splitlines()[:2] == lines


def test_two_processes_give_what_one_gives(whole: Outcome) -> None:
    two = reproduce("euclidean", "--out", "two", "--jobs", "2")
    one_said, two_said = (
        [line for line in ran.out.splitlines() if "_euclidean_" in line] for ran in (whole, two)
    )
    assert len(one_said) == 2
    assert two_said == one_said


def test_quick_is_marked_and_kept_apart() -> None:
    ran = reproduce("euclidean", "--quick", "--json", "quick.json")
    assert ran.code == 0
    assert "QUICK" in ran.out
    assert "QUICK" in ran.err
    assert ", quick" in ran.out
    records = json.loads(Path("quick.json").read_text())["records"]
    assert all(record["quick"] and record["verdict"] is None for record in records)
    assert all(record["n_folds"] == 2 for record in records)


def test_list_shows_names_and_figures_without_running() -> None:
    ran = reproduce("--list", "--out", "listed")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == f"{WINE.name}  5.0 ± 3.0 %"
    assert not Path("listed").exists()
    assert len(reproduce("lda", "--list", "--json", "plan.json").out.splitlines()) == 1
    (plan,) = json.loads(Path("plan.json").read_text())["experiments"]
    assert plan["parameters"] == {"n_components": -4}


def test_listing_loads_no_numerical_library_and_takes_half_a_second() -> None:
    code = (
        "import sys, time, vicinal.cli\n"
        "sys.argv = ['vicinal', 'reproduce', '--list']\n"
        "try: vicinal.cli.main()\n"
        "except SystemExit as stop: assert not stop.code\n"
        "loaded = {'numpy', 'pandas', 'sklearn', 'numba', 'torch'} & set(sys.modules)\n"
        "print(time.process_time(), *loaded, file=sys.stderr)"
    )
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    seconds, *loaded = listed.stderr.split()
    assert len(listed.stdout.splitlines()) > 400
    assert loaded == []
    assert float(seconds) < 1.0  # half of it alone; tests share their cores


def test_the_shipped_experiments_are_listed() -> None:
    lines = reproduce("mlng", "--list", "--k", "3", shipped=True).out.splitlines()
    assert "trivedi2014_mlng_letter_zscore_k3  2.32 ± 0.1 %" in lines
    assert all(line.split()[0].endswith("_k3") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name experiments to run"),
        (["eucliden"], "did you mean euclidean"),
        (["euclidean", "--k", "4"], "they have k = 3, 7"),
        (["euclidean", "--k", "three"], "whole numbers"),
        (["euclidean", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["euclidean", "--quick", "--page", "page.md"], "--page takes whole runs only"),
        (["euclidean", "--json", "nowhere/results.json"], "there is no directory"),
        (["euclidean", "--page", "."], "is a directory"),
        (["euclidean", "--plot", "bars.gif"], "--plot draws .svg, .png, .pdf, got 'bars.gif'"),
    ],
)
def test_bad_usage_is_refused_before_any_work(arguments: list[str], message: str) -> None:
    ran = reproduce(*arguments, "--out", "refused")
    assert ran.code == 2
    assert message in ran.err
    assert not Path("refused").exists()


def test_a_missing_data_set_stops_the_run_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    import vicinal.data

    def absent(name: str) -> None:
        raise FileNotFoundError(f"{name} is not here; put wine.npz into the folder")

    monkeypatch.setattr(vicinal.data, "load_dataset", absent)
    ran = reproduce("euclidean", "--out", "absent")
    assert (ran.code, "wine is not here" in ran.err) == (2, True)
    assert not Path("absent").exists()
