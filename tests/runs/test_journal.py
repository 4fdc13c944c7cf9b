"""A journal keeps every whole record, whatever happens to the one being written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal.runs._journal import Journal, read_records, update_latest


def record(key: str, status: str = "ok", **more):
    return {"key": key, "status": status, **more}


def write(path, *groups):
    journal = Journal(path)
    for group in groups:
        journal.append(group)
    journal.close()


def test_records_come_back_in_the_order_written(tmp_path):
    path = tmp_path / "records.jsonl"
    write(path, [record("a", error=0.1), record("b")], [record("c")])
    write(path, [record("d")])
    assert [r["key"] for r in read_records(path)] == ["a", "b", "c", "d"]
    assert read_records(path)[0]["error"] == 0.1


def test_no_file_means_no_records(tmp_path):
    assert read_records(tmp_path / "none.jsonl") == []


@given(cut=st.integers(1, 60))
def test_a_torn_last_line_is_left_out_and_cut_off_before_the_next_append(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("journal") / "records.jsonl"
    write(path, [record("first")], [record("torn", padding="x" * 40)])
    os.truncate(path, max(path.stat().st_size - cut, 0))
    assert [r["key"] for r in read_records(path)] == ["first"]
    write(path, [record("next")])
    assert [r["key"] for r in read_records(path)] == ["first", "next"]


def test_a_torn_line_longer_than_any_block_is_cut_off_whole(tmp_path):
    path = tmp_path / "records.jsonl"
    write(path, [record("first")])
    with path.open("a") as file:
        file.write("x" * 200_000)
    write(path, [record("next")])
    assert [r["key"] for r in read_records(path)] == ["first", "next"]


def test_lines_that_are_no_records_are_named_and_left_out(tmp_path):
    path = tmp_path / "records.jsonl"
    write(path, [record("b")])
    path.write_bytes(b'\x00\xff\n[1]\n{"key": "a"}\n' + path.read_bytes())
    with pytest.warns(UserWarning, match=r"records.jsonl, lines 1, 2, 3: not as they were written"):
        assert [r["key"] for r in read_records(path)] == ["b"]


@pytest.mark.parametrize(
    ("written", "edited"),
    [('"error": 0.25', '"error": 5.0'), ('"status": "ok"', '"status": "failed"'), ('"a"', '"c"')],
)
def test_an_edited_record_is_named_and_left_out(tmp_path, written, edited):
    path = tmp_path / "records.jsonl"
    write(path, [record("a", error=0.25), record("b", error=0.5)])
    path.write_text(path.read_text().replace(written, edited, 1))
    with pytest.warns(UserWarning, match=r"records.jsonl, line 1: not as they were written"):
        assert [r["key"] for r in read_records(path)] == ["b"]


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_no_changed_byte_changes_what_a_journal_says(tmp_path_factory, place, change):
    path = tmp_path_factory.mktemp("journal") / "records.jsonl"
    write(path, [record("a", error=0.1), record("b", n_test=30)])
    known = {r["key"]: r for r in read_records(path)}
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= change
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert all(known.get(r["key"]) == r for r in read_records(path))


def test_numbers_that_json_cannot_hold_are_refused_before_anything_is_written(tmp_path):
    path = tmp_path / "records.jsonl"
    journal = Journal(path)
    with pytest.raises(ValueError, match="Out of range"):
        journal.append([record("a"), record("b", error=float("nan"))])
    journal.close()
    assert path.read_bytes() == b""


def test_a_group_that_does_not_fit_on_the_disk_leaves_no_trace(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    journal = Journal(path)
    journal.append([record("a")])
    room = [30]  # bytes the disk still takes
    really_write = os.write

    def write_while_there_is_room(file, data):
        if room[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = really_write(file, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", write_while_there_is_room)
    with pytest.raises(OSError, match="No space left"):
        journal.append([record("b", padding="x" * 100)])
    assert [r["key"] for r in read_records(path)] == ["a"]
    room[0] = 10_000
    journal.append([record("c")])
    journal.close()
    assert [r["key"] for r in read_records(path)] == ["a", "c"]


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_real_limit_on_the_file_size_loses_nothing_written_before(tmp_path):
    path = tmp_path / "records.jsonl"
    code = f"""
import resource, signal
from pathlib import Path
from vicinal.runs._journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
journal = Journal(Path({str(path)!r}))
for number in range(100):
    journal.append([{{"key": str(number), "status": "ok", "padding": "x" * 77}}])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "File too large" in done.stderr
    records = read_records(path)
    assert [r["key"] for r in records] == [str(n) for n in range(len(records))]
    assert 5 <= len(records) <= 12


def test_the_last_word_counts_but_no_failure_undoes_a_measurement():
    latest: dict = {}
    update_latest(
        latest,
        [
            record("a", "failed", message="first"),
            record("a", "failed", message="second"),
            record("b"),
            record("b", "failed"),
            record("c", "failed"),
            record("c"),
        ],
    )
    assert latest["a"]["message"] == "second"
    assert latest["b"]["status"] == "ok"
    assert latest["c"]["status"] == "ok"
