"""A run folder belongs to one configuration and to one run at a time."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import threading

import pytest

from vicinal._writing import write_atomically
from vicinal.runs import RunFolder, WriteError

CONFIGURATION = {"seed": 0, "source": {"name": "wine"}, "ks": [3, 7]}


def ok(key: str):
    return {"key": key, "status": "ok"}


def test_a_folder_opened_again_knows_what_was_added(tmp_path):
    with RunFolder(tmp_path / "run", CONFIGURATION) as folder:
        folder.add([ok("a"), {"key": "b", "status": "failed", "message": "no"}])
    with RunFolder(tmp_path / "run", CONFIGURATION) as folder:
        assert folder.measured("a")
        assert not folder.measured("b")
        assert not folder.measured("c")


def test_tuples_and_the_order_of_keys_make_no_other_configuration(tmp_path):
    with RunFolder(tmp_path / "run", CONFIGURATION):
        pass
    same = {"ks": (3, 7), "source": {"name": "wine"}, "seed": 0}
    with RunFolder(tmp_path / "run", same) as folder:
        assert folder.known == {}


def test_another_configuration_is_refused_and_the_difference_named(tmp_path):
    with RunFolder(tmp_path / "run", CONFIGURATION) as folder:
        folder.add([ok("a")])
    with (
        pytest.raises(ValueError, match=r"seed: there 0, now 1.*fresh"),
        RunFolder(tmp_path / "run", {**CONFIGURATION, "seed": 1}),
    ):
        pass
    with RunFolder(tmp_path / "run", CONFIGURATION) as folder:
        assert folder.measured("a")


def test_without_a_configuration_any_folder_of_a_run_is_taken(tmp_path):
    with RunFolder(tmp_path / "run", CONFIGURATION) as folder:
        folder.add([ok("a")])
    with RunFolder(tmp_path / "run") as folder:
        assert folder.measured("a")


def test_fresh_forgets_the_run_but_not_the_users_files(tmp_path):
    with RunFolder(tmp_path / "run", CONFIGURATION) as folder:
        folder.add([ok("a")])
    for name in ("report.html", "results.json", "exhibit-1.npz", "notes of mine.txt"):
        (tmp_path / "run" / name).write_text("")
    with RunFolder(tmp_path / "run", {"seed": 2}, fresh=True) as folder:
        assert folder.known == {}
    left = {path.name for path in (tmp_path / "run").iterdir()}
    assert left == {"config.json", "records.jsonl", "run.lock", "notes of mine.txt"}


def test_a_damaged_configuration_is_refused_in_words(tmp_path):
    with RunFolder(tmp_path / "run", CONFIGURATION):
        pass
    (tmp_path / "run" / "config.json").write_text('{"seed": ')
    with pytest.raises(ValueError, match="damaged"), RunFolder(tmp_path / "run", CONFIGURATION):
        pass


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(FileExistsError, match="no run of vicinal"), RunFolder(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_refused(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"), RunFolder(tmp_path / "run"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="locks are POSIX")
def test_two_runs_cannot_write_to_one_folder_until_the_first_is_gone(tmp_path):
    code = (
        "import sys; from pathlib import Path; from vicinal.runs import RunFolder\n"
        f"with RunFolder(Path({str(tmp_path / 'run')!r}), {{}}): print('in', flush=True); "
        "sys.stdin.read()"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == "in\n"
        with pytest.raises(BlockingIOError, match="another run"), RunFolder(tmp_path / "run", {}):
            pass
        first.kill()
        first.wait()
    with RunFolder(tmp_path / "run", {}):
        pass


def test_a_refused_folder_is_not_left_locked(tmp_path):
    with RunFolder(tmp_path / "run", {"seed": 0}):
        pass
    with pytest.raises(ValueError, match="another configuration"):
        RunFolder(tmp_path / "run", {"seed": 1}).__enter__()
    with RunFolder(tmp_path / "run", {"seed": 0}):
        pass


def test_records_that_cannot_be_written_say_what_is_safe_and_what_to_do(tmp_path, monkeypatch):
    with RunFolder(tmp_path / "run", {}) as folder:
        folder.add([ok("a")])

        def full(file, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("os.write", full)
        with pytest.raises(WriteError, match=r"No space left on device.*kept.*again"):
            folder.add([ok("b")])
        monkeypatch.undo()
        assert not folder.measured("b")
    with RunFolder(tmp_path / "run", {}) as folder:
        assert list(folder.known) == ["a"]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    write_atomically(path, "old")

    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"]
    write_atomically(path, b"new")
    assert path.read_text() == "new"


def test_a_reader_never_sees_half_a_file(tmp_path):
    path = tmp_path / "results.json"
    texts = {letter: json.dumps(letter * 10_000) for letter in "ab"}
    write_atomically(path, texts["a"])
    seen = set()
    done = threading.Event()

    def read():
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(50):
        write_atomically(path, texts["ab"[number % 2]])
    done.set()
    reader.join()
    assert seen <= set(texts.values())


def test_pieces_that_a_killed_process_left_are_gone_with_the_next_run(tmp_path):
    with RunFolder(tmp_path / "run"):
        pass
    piece = tmp_path / "run" / ".exhibit-1.npz.77.part"
    piece.write_bytes(b"half")
    with RunFolder(tmp_path / "run"):
        pass
    assert not piece.exists()
