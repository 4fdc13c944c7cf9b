"""``vicinal datasets``: what is known, what is here, without opening anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vicinal.data import list_datasets
from vicinal.data._registry import get_entry


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's folder: empty, with a cache beside it."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("VICINAL_DATA", str(folder))
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "cache"))
    return folder


BUILT_IN = ["breast_cancer", "diabetes", "digits", "waveform", "wine"]


def lines_of(out: str) -> dict[str, list[str]]:
    rows = [line.split("\t") for line in out.splitlines()]
    return {row[0]: row for row in rows}


def test_piped_it_lists_every_set_on_a_plain_line(run):
    done = run("datasets")
    assert done.code == 0
    lines = lines_of(done.out)
    assert list(lines) == ["name", *list_datasets()]
    assert {len(line) for line in lines.values()} == {8}
    letter = ["letter", "20000", "16", "26 classes", "kfold", "absent", "", "CC BY 4.0 (UCI)"]
    assert lines["letter"] == letter
    assert lines["diabetes"][3:6] == ["real", "kfold", "built in"]
    assert "\x1b" not in done.out


def test_what_is_here_is_shown_with_its_size(run, folder, tmp_path):
    stored = get_entry("letter").stored
    assert stored is not None
    with (folder / "letter.npz").open("wb") as file:
        file.truncate(stored.n_bytes)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "magic.npz").write_bytes(b"short")
    done = run("datasets")
    lines = lines_of(done.out)
    assert lines["letter"][5:7] == ["data folder", "0.2 MB"]
    assert lines["magic"][5] == "cache: wrong size"
    n_here = len({"letter", "magic", *BUILT_IN})
    assert f"{n_here} of {len(list_datasets())} sets are on this computer" in done.err
    assert f"VICINAL_DATA is {folder}" in done.err


def test_only_what_is_present_can_be_listed(run):
    done = run("datasets", "--present")
    assert list(lines_of(done.out)) == ["name", *BUILT_IN]


def test_a_file_shared_by_several_targets_counts_once(run, folder):
    (folder / "barrett_real.npz").write_bytes(b"0" * 2_000_000)
    joints = [f"barrett_{joint}" for joint in range(1, 8)]
    done = run("datasets", "--present")
    assert list(lines_of(done.out)) == ["name", *sorted(joints + BUILT_IN)]
    n_here = len(joints + BUILT_IN)
    assert f"{n_here} of {n_here} sets are on this computer (2.0 MB)" in done.err


def test_json_holds_everything_known(run, tmp_path):
    target = tmp_path / "sets.json"
    assert run("datasets", "--json", target).code == 0
    content = json.loads(target.read_text())
    assert [record["name"] for record in content["datasets"]] == list_datasets()
    mnist = next(record for record in content["datasets"] if record["name"] == "mnist")
    assert (mnist["rows"], mnist["features"], mnist["classes"]) == (70_000, 784, 10)
    assert mnist["test_rows"] == 10_000
    assert len(mnist["raw_files"]) == 4
    assert mnist["where"] == "absent"


def test_a_name_tells_all_about_that_set(run):
    done = run("datasets", "parkinsons")
    assert done.code == 0
    said = ("parkinsons_motor", "42 (subject)", "grouped", "absent", "tsanas2010", "https://")
    assert all(word in done.out for word in said)


def test_an_unknown_name_is_bad_usage_with_the_nearest_name(run):
    done = run("datasets", "lettr")
    assert done.code == 2
    assert "unknown data set 'lettr'" in done.err
    assert "letter" in done.err


def test_a_place_that_cannot_be_written_is_bad_usage(run, tmp_path):
    assert run("datasets", "--json", tmp_path / "nowhere" / "sets.json").code == 2


def test_a_folder_that_is_not_there_is_mentioned(run, tmp_path, monkeypatch):
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path / "gone"))
    assert "gone, which is no folder" in run("datasets").err


def test_on_a_terminal_it_is_a_table(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "140")
    done = run("datasets")
    assert done.code == 0
    assert "\x1b[" in done.out
    assert "\t" not in done.out


def test_it_answers_without_loading_arrays_or_anything_heavy():
    code = (
        "import sys, time; sys.argv = ['vicinal', 'datasets']\n"
        "from vicinal.cli import app\n"
        "app(standalone_mode=False)\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'numba', 'torch', 'matplotlib', 'requests'}\n"
        "sys.stderr.write(f'heavy {sorted(heavy & set(sys.modules))}\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert "heavy []" in done.stderr
