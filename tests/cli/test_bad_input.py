"""Everything a user's table can have wrong, through the commands that read it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

COMMANDS = ("compare", "fit")


@pytest.fixture
def attempt(run, one_process, tmp_path, monkeypatch) -> Callable[..., Any]:
    """Return a function that runs a command on a table, with the least work otherwise."""
    monkeypatch.chdir(tmp_path)

    def call(command: str, path: object, *words: object, target: str = "y", k: int = 3) -> Any:
        return run(*command_line(command, path, target, k), *words)

    return call


def command_line(command: str, path: object, target: str = "y", k: int = 3) -> list[str]:
    shared = [str(path), "--target", target, "--k", str(k)]
    if command == "compare":
        return ["compare", *shared, "--methods", "euclidean", "--out", "run", "--no-report"]
    return ["fit", *shared, "--method", "euclidean", "--out", "model"]


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name in ("run", "model"))


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", "the file is empty"),
    "blank lines": (b"\n\n", "the file is empty"),
    "header only": (b"a,b,y\n", "no rows"),
    "one class": (b"a,b,y\n1,2,u\n3,4,u\n5,6,u\n", "holds one class ('u') in all 3 rows"),
    "NaN": (b"a,b,y\n1,2,u\nnan,3,v\n2,4,v\n", "Missing values in 1 column: 'a' (1)"),
    "infinity": (b"a,b,y\n1,2,u\n3,inf,v\n", "'b' holds infinite values"),
    "missing target": (b"a,b,y\n1,2,u\n3,4,\n", "target 'y' is missing in 1 row (1,"),
    "unknown encoding": (b"a,b,y\n1,2,\x81t\n3,4,v\n", "neither UTF-8 nor Windows-1252 (byte 0x81"),
    "binary": (b"\x00\xff\xfe\x01", "not a text file"),
    "ragged": (b"a,b,y\n1,2,u\n3,4,5,v\n", "line 3 has 4 values, but there are 3 columns"),
    "no features": (b"y\nu\nv\n", "no feature columns"),
    "identifiers alone": (b"id,y\n11,u\n12,v\n17,v\n", "No column is left as a feature: 'id'"),
    "huge integers": (b"a,y\n99999999999999999999,u\n1,v\n", "beyond 2^53"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused_with_code_2_and_leaves_nothing(attempt, tmp_path, command, kind):
    content, message = BAD_FILES[kind]
    (tmp_path / "t.csv").write_bytes(content)
    done = attempt(command, "t.csv")
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_target_gets_the_nearest_name(attempt, tmp_path, command):
    (tmp_path / "t.csv").write_text("length,species\n1,u\n2,v\n")
    done = attempt(command, "t.csv", target="speces")
    assert done.code == 2
    assert "Did you mean 'species'?" in done.err
    assert "'length', 'species'" in done.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".", "is a directory"),
        ("nowhere.csv", "no such file"),
        ("no/where.csv", "no such file"),
        ("t.xls", "it must end in one of .csv"),
    ],
)
def test_what_is_no_table_is_refused(attempt, tmp_path, command, path, message):
    (tmp_path / "t.xls").write_text("a,y\n1,2\n")
    done = attempt(command, path)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_more_neighbours_than_rows_are_refused(attempt, tmp_path, command):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i * 3 % 11},{i % 2}\n" for i in range(10)))
    done = attempt(command, "t.csv", k=11)
    assert done.code == 2
    assert "11 is more than the" in " ".join(done.err.replace("=", " = ").split())
    assert left_behind(tmp_path) == []


# What is unusual but right --------------------------------------------------------------------


def _constant_and_duplicates() -> str:
    rows = [f"{i // 2 % 5},7,k,{'uv'[i // 2 % 5 > 2]}" for i in range(40)]
    return "a,constant,word,y\n" + "\n".join(rows)


def _one_member() -> str:
    rows = [f"{i % 2}.{i},{'uv'[i % 2]}" for i in range(30)]
    return "a,y\n" + "\n".join([*rows, "9,lonely", "8,alone"])


def _wide() -> str:
    random = np.random.default_rng(0)
    values = random.integers(0, 9, (24, 10_001))
    rows = [",".join(map(str, row)) + f",{'uv'[i % 2]}" for i, row in enumerate(values)]
    return ",".join(f"c{i}" for i in range(10_001)) + ",y\n" + "\n".join(rows)


UNUSUAL = {
    "constant columns and duplicate rows": _constant_and_duplicates,
    "classes with one member": _one_member,
    "10,001 columns": _wide,
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_tables_work(attempt, tmp_path, command, kind):
    (tmp_path / "t.csv").write_text(UNUSUAL[kind]())
    done = attempt(command, "t.csv", "--json", "j")
    assert done.code == 0, done.err
    record = json.loads((tmp_path / "j").read_text())["records"][0]
    assert 0 <= record["error_mean"] <= 1
    if kind.startswith("constant"):
        assert record["error_mean"] == 0  # each row has an equal twin in the training part


def test_as_many_neighbours_as_rows_vote_for_the_largest_class(attempt, tmp_path, run):
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,u\n3,v\n4,u\n5,v\n")
    assert attempt("fit", "t.csv", k=5).code == 0
    done = run("predict", "model", "t.csv")
    assert [line.split(",")[1] for line in done.out.splitlines()[1:]] == ["u"] * 5


# What the system refuses ----------------------------------------------------------------------

# Root reads everything; without these two capabilities it is bound by permissions like others.
WITHOUT_PRIVILEGE = """
import ctypes, os, struct, sys
if os.geteuid() == 0:
    libc = ctypes.CDLL(None)
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    held = ctypes.create_string_buffer(24)
    assert libc.capget(header, held) == 0
    effective, *rest = struct.unpack("6I", held.raw)
    override, read_search = 1 << 1, 1 << 2
    held.raw = struct.pack("6I", effective & ~(override | read_search), *rest)
    assert libc.capset(header, held) == 0
from vicinal.cli import main
main()
"""


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")


def _unprivileged(words: list[str], folder: Path) -> Any:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_PRIVILEGE, *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.skipif(
    sys.platform != "linux", reason="permissions of root are set aside by Linux's means"
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_one_may_not_read_is_refused(tmp_path, command):
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,v\n")
    (tmp_path / "t.csv").chmod(0)
    done = _unprivileged(command_line(command, "t.csv"), tmp_path)
    assert done.returncode == 2, done.stderr
    assert "t.csv cannot be read: no permission" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(
    sys.platform != "linux", reason="permissions of root are set aside by Linux's means"
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_one_may_not_write_is_refused_without_a_traceback(tmp_path, command):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i * 3 % 23},{i % 2}\n" for i in range(20)))
    tmp_path.chmod(0o555)
    try:
        done = _unprivileged(command_line(command, "t.csv"), tmp_path)
    finally:
        tmp_path.chmod(0o755)
    assert done.returncode in (1, 2), done.stderr
    assert "ermission" in done.stderr
    assert "Traceback" not in done.stderr
    assert left_behind(tmp_path) == []


def test_a_disk_that_fills_up_during_a_comparison_loses_nothing(attempt, tmp_path, monkeypatch):
    """The disk takes the configuration and two records; a restart goes on from those."""
    random = np.random.default_rng(0)
    np.savez("t.npz", X=random.normal(size=(60, 3)), y=np.arange(60) % 2)
    words = ("compare", "t.npz", "--json", "j")
    assert attempt(*words, "--out", "undisturbed").code == 0
    expected = json.loads(Path("j").read_text())["records"][0]["errors"]
    sync, calls = os.fsync, []

    def nearly_full(file: int) -> None:
        calls.append(file)
        if len(calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", nearly_full)
        done = attempt(*words)
    assert done.code == 1
    assert "No space left on device" in done.err
    kept = (tmp_path / "run" / "records.jsonl").read_text().splitlines()
    assert len(kept) == 2
    done = attempt(*words)
    assert done.code == 0
    assert "2 of 5 cells were measured by an earlier run" in done.err
    assert (tmp_path / "run" / "records.jsonl").read_text().splitlines()[:2] == kept
    assert json.loads(Path("j").read_text())["records"][0]["errors"] == expected


@pytest.mark.parametrize("command", COMMANDS)
def test_results_that_go_to_a_full_device_fail_with_code_1(attempt, tmp_path, command):
    """By a link, so that a command that wrongly replaces its output replaces only the link."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i * 3 % 43},{i % 2}\n" for i in range(40)))
    (tmp_path / "full").symlink_to("/dev/full")
    done = attempt(command, "t.csv", "--json", "full")
    assert done.code == 1
    assert "No space left on device" in done.err
    assert (tmp_path / "full").is_symlink()
    assert left_behind(tmp_path) == ["run" if command == "compare" else "model"]
