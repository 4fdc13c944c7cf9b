"""Fetching over HTTP from a real server on loopback: good, broken, resumed, refused."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vicinal.data import DataCorruptError, DataUnavailableError
from vicinal.data._download import (
    ATTEMPTS,
    ResumingDownload,
    _refuse_unguarded_turns,
    fetch,
)

CONTENT = np.random.default_rng(0).bytes(300_000)
HASH = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def target(private_folders: Path) -> Path:
    return private_folders / "file.npz"


def left_behind(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir() if not path.name.startswith("."))


def test_a_good_file_arrives_whole_and_alone(loopback, target):
    loopback.files["file.npz"] = CONTENT
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT
    assert left_behind(target) == ["file.npz"]


def test_a_good_file_is_not_asked_for_twice(loopback, target):
    loopback.files["file.npz"] = CONTENT
    for _ in range(2):
        fetch(loopback.url("file.npz"), target, HASH)
    assert len(loopback.asked) == 1


def test_two_who_want_the_same_file_fetch_it_once(loopback, target):
    loopback.files["file.npz"] = CONTENT
    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(lambda _: fetch(loopback.url("file.npz"), target, HASH), range(2)))
    assert [path.read_bytes() for path in paths] == [CONTENT, CONTENT]
    assert len(loopback.asked) == 1


def test_a_file_cut_short_by_its_server_is_refused_and_not_kept(loopback, target):
    loopback.files["file.npz"] = CONTENT[:200_000]
    with pytest.raises(DataCorruptError, match="does not serve the registered file"):
        fetch(loopback.url("file.npz"), target, HASH)
    assert left_behind(target) == []


def test_a_wrong_checksum_is_refused_with_both_checksums(loopback, target):
    wrong = b"x" * 300_000
    loopback.files["file.npz"] = wrong
    with pytest.raises(DataCorruptError) as refused:
        fetch(loopback.url("file.npz"), target, HASH)
    assert HASH.removeprefix("sha256:") in str(refused.value)
    assert hashlib.sha256(wrong).hexdigest() in str(refused.value)
    assert left_behind(target) == []


def test_after_a_wrong_checksum_the_right_file_can_still_be_fetched(loopback, target):
    loopback.files["file.npz"] = b"x" * 300_000
    with pytest.raises(DataCorruptError):
        fetch(loopback.url("file.npz"), target, HASH)
    loopback.files["file.npz"] = CONTENT
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT
    assert loopback.ranges_asked() == [None, None]


def test_a_connection_that_breaks_is_taken_up_where_it_stopped(loopback, target):
    loopback.files["file.npz"] = CONTENT
    loopback.break_after, loopback.n_breaks = 100_000, 2
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT
    first, second, third = loopback.ranges_asked()
    assert first is None
    assert second is not None
    assert third is not None
    assert int(third[6:-1]) > int(second[6:-1]) > 0


def test_a_server_that_keeps_dying_leaves_what_came_and_the_next_call_goes_on(loopback, target):
    loopback.files["file.npz"] = CONTENT
    loopback.break_after, loopback.n_breaks = 70_000, 99
    with pytest.raises(DataUnavailableError, match=r"\d+ bytes that came are kept, run again"):
        fetch(loopback.url("file.npz"), target, HASH)
    assert len(loopback.asked) == ATTEMPTS
    held = target.with_name("file.npz.part").stat().st_size
    assert held > 0
    loopback.n_breaks = 0
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT
    assert loopback.ranges_asked()[-1] == f"bytes={held}-"
    assert left_behind(target) == ["file.npz"]


def test_a_server_that_sends_less_than_asked_is_asked_again(loopback, target):
    loopback.files["file.npz"] = CONTENT
    loopback.break_after, loopback.n_breaks, loopback.most = 100_000, 1, 120_000
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT
    assert len(loopback.asked) == 3


def test_a_compressed_file_is_kept_compressed_whatever_the_server_calls_it(loopback, target):
    content = gzip.compress(CONTENT)
    loopback.files["file.gz"] = content
    loopback.headers["Content-Encoding"] = "gzip"
    assert fetch(loopback.url("file.gz"), target).read_bytes() == content


def test_a_server_without_ranges_is_asked_for_the_whole_again(loopback, target):
    loopback.files["file.npz"] = CONTENT
    loopback.ranges = False
    loopback.break_after, loopback.n_breaks = 100_000, 1
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_not_pieced_together(loopback, target):
    loopback.files["file.npz"] = b"old" * 100_000
    loopback.break_after, loopback.n_breaks = 70_000, 99
    with pytest.raises(DataUnavailableError):
        fetch(loopback.url("file.npz"), target)
    loopback.n_breaks, loopback.etag = 0, '"two"'
    loopback.files["file.npz"] = CONTENT
    assert fetch(loopback.url("file.npz"), target).read_bytes() == CONTENT


def test_a_partial_file_that_is_already_whole_is_used(loopback, target):
    loopback.files["file.npz"] = CONTENT
    target.parent.mkdir(parents=True)
    target.with_name("file.npz.part").write_bytes(CONTENT)
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT


def test_a_partial_file_longer_than_the_whole_is_thrown_away(loopback, target):
    loopback.files["file.npz"] = CONTENT
    target.parent.mkdir(parents=True)
    target.with_name("file.npz.part").write_bytes(CONTENT + b"more")
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT


def test_a_killed_download_goes_on_where_it_was(loopback, target):
    content = np.random.default_rng(1).bytes(2_000_000)
    loopback.files["file.npz"] = content
    sent, may_go = threading.Event(), threading.Event()
    loopback.break_after, loopback.n_breaks = 1_000_000, 1

    def hold() -> None:
        sent.set()
        may_go.wait(20)

    loopback.hold = hold
    code = "import sys; from pathlib import Path; from vicinal.data._download import fetch; "
    code += f"fetch({loopback.url('file.npz')!r}, Path({str(target)!r}))"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as child:
        assert sent.wait(60)
        part = target.with_name("file.npz.part")
        while not part.is_file() or part.stat().st_size < 500_000:
            assert child.poll() is None
        os.kill(child.pid, signal.SIGKILL)
    may_go.set()
    loopback.hold = None
    held = part.stat().st_size
    digest = hashlib.sha256(content).hexdigest()
    assert fetch(loopback.url("file.npz"), target, f"sha256:{digest}").read_bytes() == content
    assert loopback.ranges_asked()[-1] == f"bytes={held}-"


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_is_reported_at_once_with_its_number(loopback, target, status):
    loopback.status = status
    with pytest.raises(DataUnavailableError, match=str(status)):
        fetch(loopback.url("file.npz"), target, HASH)
    assert len(loopback.asked) == 1


def test_a_busy_server_is_asked_again(loopback, target):
    loopback.status = 503
    with pytest.raises(DataUnavailableError, match="503"):
        fetch(loopback.url("file.npz"), target, HASH)
    assert len(loopback.asked) == ATTEMPTS


def test_nobody_listening_is_reported_at_once(target):
    with pytest.raises(DataUnavailableError, match="no connection to"):
        fetch("http://127.0.0.1:9/file.npz", target, HASH)


@pytest.mark.parametrize("folder", ["a-file/below", "/proc/vicinal"])
def test_a_cache_that_cannot_be_written_says_so_and_what_to_set(loopback, tmp_path, folder):
    (tmp_path / "a-file").write_text("not a folder")
    loopback.files["file.npz"] = CONTENT
    with pytest.raises(DataUnavailableError, match=r"cannot write .*VICINAL_CACHE"):
        fetch(loopback.url("file.npz"), tmp_path / folder / "file.npz", HASH)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_cache_says_so(loopback, tmp_path):
    loopback.files["file.npz"] = CONTENT
    tmp_path.chmod(0o500)
    with pytest.raises(DataUnavailableError, match=r"cannot write .*VICINAL_CACHE"):
        fetch(loopback.url("file.npz"), tmp_path / "file.npz", HASH)


def test_a_full_disk_says_so(loopback, target, monkeypatch):
    def full(self, reply, url, total):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ResumingDownload, "_receive", full)
    loopback.files["file.npz"] = CONTENT
    with pytest.raises(DataUnavailableError, match="No space left on device"):
        fetch(loopback.url("file.npz"), target, HASH)


def test_offline_means_that_nothing_is_asked(loopback, target, monkeypatch):
    monkeypatch.setenv("VICINAL_OFFLINE", "1")
    loopback.files["file.npz"] = CONTENT
    with pytest.raises(DataUnavailableError, match="VICINAL_OFFLINE"):
        fetch(loopback.url("file.npz"), target, HASH)
    assert loopback.asked == []


def test_away_from_a_terminal_progress_is_one_plain_line(loopback, target, capfd):
    loopback.files["file.npz"] = CONTENT
    fetch(loopback.url("file.npz"), target, HASH)
    assert capfd.readouterr().err == (
        f"downloading file.npz (0.3 MB) from {loopback.url('file.npz')}\n"
    )


def test_on_a_terminal_progress_is_a_bar(loopback, target, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    loopback.files["file.npz"] = CONTENT
    fetch(loopback.url("file.npz"), target, HASH)
    assert "downloading file.npz" in capsys.readouterr().err


def test_plain_http_without_a_checksum_is_not_asked(target):
    with pytest.raises(DataUnavailableError, match=r"plain http .* fetch it by hand"):
        fetch("http://data.example/file.npz", target)


@pytest.mark.parametrize("place", ["http://data.example/file.npz", "ftp://data.example/file.npz"])
def test_a_turn_away_from_https_is_not_followed(loopback, target, place):
    loopback.moved["file.npz"] = place
    with pytest.raises(DataUnavailableError, match="which is not https"):
        fetch(loopback.url("file.npz"), target, HASH)
    assert left_behind(target) == []


def test_a_turn_on_the_same_computer_is_followed(loopback, target):
    loopback.files["there.npz"] = CONTENT
    loopback.moved["file.npz"] = "/there.npz"
    assert fetch(loopback.url("file.npz"), target, HASH).read_bytes() == CONTENT


def test_a_server_elsewhere_does_not_send_us_to_this_computer():
    reply = SimpleNamespace(
        is_redirect=True,
        url="https://data.example/file.npz",
        headers={"Location": "http://127.0.0.1:8080/admin"},
    )
    with pytest.raises(DataUnavailableError, match="leads to"):
        _refuse_unguarded_turns(reply)
