"""A run that is stopped, killed or out of disk loses the cell in work and nothing else.

``VICINAL_KILLS=10 pytest tests/cli/test_interruption.py`` kills ten times instead of twice.
"""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from vicinal.cli import main
from vicinal.cli._console import explain_stop, make_console

LEARNERS = Path(__file__).parents[1] / "runs"
KILLS = int(os.environ.get("VICINAL_KILLS", "2"))
METHODS = "lda,misbehaving:Random,misbehaving:Slow"
TIMED = ("seconds", "_mb")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


@pytest.fixture
def command(tmp_path):
    frame = load_wine(as_frame=True).frame
    frame.to_csv(tmp_path / "wine.csv", index=False)
    return [
        sys.executable, "-m", "vicinal", "compare", "wine.csv", "--target", "target",
        "--methods", METHODS, "--k", "3,7", "--folds", "3"]  # fmt: skip


def start(command, folder, *more):
    found = os.pathsep.join(filter(None, [str(LEARNERS), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": found, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, "--out", folder, *more],
        cwd=LEARNERS.parent if folder is None else Path(folder).parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell starts what it puts in the background deaf to Ctrl-C, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def count_records(folder) -> int:
    journal = Path(folder) / "records.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def wait_for_records(process, folder, n) -> None:
    while count_records(folder) < n and process.poll() is None:
        time.sleep(0.01)


def results(folder):
    """Return everything that was measured except what it cost."""
    rows = json.loads((Path(folder) / "results.json").read_text())["records"]
    return [{k: v for k, v in row.items() if not k.endswith(TIMED)} for row in rows]


def measurements(folder):
    lines = (Path(folder) / "records.jsonl").read_text().splitlines()
    return {r["key"]: (r["error"], r["wrong"]) for r in map(json.loads, lines)}


def test_killed_at_random_moments_a_run_ends_as_if_it_had_never_been(command, tmp_path):
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    process = start(command, whole)
    said, _ = process.communicate()
    assert process.returncode == 0, said

    moments = random.Random(os.environ.get("VICINAL_SEED"))
    kept: dict = {}
    for _ in range(KILLS):
        process = start(command, pieces)
        wait_for_records(process, pieces, count_records(pieces) + moments.randint(0, 5))
        time.sleep(moments.uniform(0, 0.4))
        process.kill()
        process.communicate()
        now = measurements(pieces) if (pieces / "records.jsonl").exists() else {}
        assert kept.items() <= now.items(), "something measured was lost or changed"
        kept = now
    process = start(command, pieces)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert results(pieces) == results(whole)
    assert measurements(pieces) == measurements(whole)
    assert {p.name for p in pieces.iterdir()} == {p.name for p in whole.iterdir()}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_where_the_results_are_and_how_to_go_on(command, tmp_path, number):
    folder = tmp_path / "run"
    process = start([*command, "--no-report"], folder)
    wait_for_records(process, folder, 5)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    assert f"kept in {folder}; run the same command again" in " ".join(said.split())
    assert count_records(folder) >= 5


@pytest.fixture
def small_disk(monkeypatch):
    """Let regular files take only so many more bytes."""
    room = [10**9]
    really_write = os.write

    def write(file, data):
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return really_write(file, data)
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = really_write(file, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", write)
    return room


def run_here(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["vicinal", "compare", *arguments])
    code = 0
    try:
        main()
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    return code, capsys.readouterr()


def test_a_full_disk_stops_the_run_with_everything_before_kept(
    tmp_path, monkeypatch, capsys, small_disk, one_process
):
    load_wine(as_frame=True).frame.to_csv(tmp_path / "wine.csv", index=False)
    monkeypatch.chdir(tmp_path)
    arguments = ("wine.csv", "--target", "target", "--methods", "lda", "--k", "3,7",
                 "--folds", "3", "--out", "run")  # fmt: skip
    small_disk[0] = 3000
    code, said = run_here(monkeypatch, capsys, *arguments)
    assert code == 1
    assert "cannot write to run: No space left on device" in said.err
    assert "start the same run again" in said.err
    kept = measurements("run")
    assert 2 <= len(kept) < 12

    small_disk[0] = 10**9
    code, said = run_here(monkeypatch, capsys, *arguments)
    assert code == 0
    assert "cells were measured by an earlier run" in said.err
    assert kept.items() <= measurements("run").items()
    assert len(measurements("run")) == 12


def test_a_disk_that_fills_up_at_the_very_end_still_shows_the_table(
    tmp_path, monkeypatch, capsys, one_process
):
    load_wine(as_frame=True).frame.to_csv(tmp_path / "wine.csv", index=False)
    monkeypatch.chdir(tmp_path)

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("vicinal.report._comparison.write_atomically", full)
    code, said = run_here(
        monkeypatch, capsys, "wine.csv", "--target", "target", "--methods", "euclidean", "--k", "3",
        "--folds", "2", "--out", "run")  # fmt: skip
    assert code == 1
    assert "wine.csv: 178 rows" in said.out
    assert "No space left on device" in said.err
    assert len(measurements("run")) == 2


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_kill_before_anything_is_begun_leaves_a_word(monkeypatch, capsys, name):
    number = signal.Signals[name]
    # Whoever runs the tests may have shut one of them out, as nohup does.
    before = {n: signal.signal(n, signal.SIG_DFL) for n in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setattr("vicinal.cli.app", lambda: os.kill(os.getpid(), number))
    try:
        with pytest.raises(SystemExit) as leaving:
            main()
    finally:
        for n, handler in before.items():
            signal.signal(n, handler)
    assert leaving.value.code == 128 + number
    assert capsys.readouterr().err == f"stopped ({name}).\n"


def test_a_signal_that_the_caller_shut_out_stays_unheard():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with explain_stop(make_console(stderr=True), Path("run")):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_result_whose_reader_has_left_is_written_all_the_same(command, tmp_path):
    folder = tmp_path / "run"
    reader, writer = os.pipe()
    os.close(reader)
    command[command.index(METHODS)] = "lda"
    process = subprocess.run(
        [*command, "--out", str(folder), "--no-report"],
        cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writer)
    assert process.returncode == 0, process.stderr
    assert "Traceback" not in process.stderr
    assert len(results(folder)) == 4


def test_progress_that_nobody_reads_stops_the_run_without_a_word():
    reader, writer = os.pipe()
    os.close(reader)
    code = (
        "from pathlib import Path; from vicinal.cli._console import *; c = make_console("
        "stderr=True)\nwith explain_stop(c, Path('run')): c.print('one'); print('went on')"
    )
    done = subprocess.run([sys.executable, "-c", code], stderr=writer, stdout=subprocess.PIPE)
    os.close(writer)
    assert done.returncode != 0
    assert done.stdout == b""


LOADING = """
import os, signal, sys

class WhileLoading:
    def find_spec(self, name, *where):
        if name == "typer":
            os.kill(os.getpid(), signal.{name})

sys.meta_path.insert(0, WhileLoading())
sys.argv = ["vicinal", "--version"]
from vicinal.__main__ import main
main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_kill_while_the_command_is_being_loaded_leaves_a_word(name):
    done = subprocess.run(
        [sys.executable, "-c", LOADING.format(name=name)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.Signals[name], signal.SIG_DFL),
        check=False,
    )
    assert (done.returncode, done.stderr) == (128 + signal.Signals[name], f"stopped ({name}).\n")


def test_a_signal_shut_out_before_loading_stays_unheard():
    done = subprocess.run(
        [sys.executable, "-c", LOADING.format(name="SIGHUP")],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # as nohup does
        check=False,
    )
    assert (done.returncode, done.stdout[:8]) == (0, "vicinal ")
