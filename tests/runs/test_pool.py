"""Workers: a crash costs one request, and leaving the pool leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vicinal.runs import Cell, Setting, Source, _pool, ask
from vicinal.runs._pool import (
    Finished,
    Started,
    WorkerPool,
    describe_death,
    worker_environment,
)
from vicinal.runs._runner import cell_request

LEARNERS = "misbehaving"
TABLE = "a,b,c,y\n" + "".join(f"{i % 11},{i % 7},{i % 5},{'xz'[i % 2]}\n" for i in range(60))


@pytest.fixture
def setting(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return Setting(Source("table.csv", str(path), "y"), {}, "kfold", {"n_folds": 3})


def request(setting, learner, fold=0):
    name = learner if learner == "euclidean" else f"{LEARNERS}:{learner}"
    return cell_request(Cell(setting, fold, name, (3,)))


def record_of(event):
    return event.reply["records"][0]


def test_a_crash_costs_one_request_and_the_rest_go_on(setting):
    learners = ["euclidean", "Crashing", "Killed", "Leaving", "Chatty", "euclidean"]
    with WorkerPool(1) as pool:
        events = list(pool.run([request(setting, learner) for learner in learners]))
    assert [type(event) for event in events] == [Started, Finished] * 6
    done = {e.index: e for e in events if isinstance(e, Finished)}
    crashes = [done[i].crash for i in range(6)]
    assert "SIGSEGV" in crashes[1]
    assert "memory" in crashes[2]
    assert "exit code 7: licence expired" in crashes[3]
    assert [bool(crash) for crash in crashes] == [False, True, True, True, False, False]
    errors = [record_of(done[i])["error"] for i in (0, 4, 5)]
    assert errors[0] == errors[1] == errors[2]


class Slow:
    """A worker without a process, whose answers take their time."""

    def __init__(self, started: bool) -> None:
        self.started = started

    def ask(self, request):
        self.started = True
        time.sleep(request["seconds"])
        return {}

    def stop(self):
        pass

    close = stop


def slow_pool(first_started: bool) -> tuple[WorkerPool, list[Slow]]:
    pool, workers = WorkerPool(2), [Slow(first_started), Slow(started=False)]
    pool._workers = workers  # type: ignore[assignment]
    return pool, workers


@pytest.mark.parametrize(("n_requests", "helped"), [(8, False), (30, True)])
@pytest.mark.parametrize("told", [True, False])
def test_a_process_is_started_where_it_saves_more_than_it_takes_to_start(
    monkeypatch, n_requests, helped, told
):
    monkeypatch.setattr(_pool, "PATIENCE", 0.12)
    monkeypatch.setattr(_pool, "STARTING", 60 if told else 0.3)
    pool, workers = slow_pool(first_started=True)
    pool.preparing = 0.3 if told else 0.0
    with pool:
        events = list(pool.run([{"seconds": 0.05}] * n_requests))
    assert sum(isinstance(event, Finished) for event in events) == n_requests
    assert workers[1].started is helped


def test_what_is_asked_before_the_work_tells_how_long_a_process_takes_to_start():
    pool, _ = slow_pool(first_started=False)
    with pool:
        ask(pool, {"seconds": 0.2})
        ask(pool, {"seconds": 0.1})
    assert 0.3 <= pool.preparing < 2


def test_the_first_process_is_started_at_once():
    pool, workers = slow_pool(first_started=False)
    began = time.monotonic()
    with pool:
        events = list(pool.run([{"seconds": 0}]))
    assert len(events) == 2
    assert time.monotonic() - began < 1
    assert [worker.started for worker in workers] == [True, False]


def test_a_long_request_does_not_keep_the_next_ones_waiting(monkeypatch):
    monkeypatch.setattr(_pool, "PATIENCE", 0.1)
    monkeypatch.setattr(_pool, "STARTING", 0.1)
    pool, workers = slow_pool(first_started=True)
    with pool:
        events = list(pool.run([{"seconds": s} for s in (0, 0, 1.0, 0, 0, 0)]))
    # Quick ones before it do not hide that it takes its time.
    assert workers[1].started
    assert [e.index for e in events if isinstance(e, Finished)][-1] == 2


def test_two_workers_share_the_requests(setting):
    with WorkerPool(2) as pool:
        events = list(pool.run([request(setting, "Slow", fold) for fold in range(3)]))
        assert {e.index for e in events if isinstance(e, Started)} == {0, 1, 2}
        assert {e.index for e in events if isinstance(e, Finished)} == {0, 1, 2}
        again = list(pool.run([request(setting, "euclidean")]))
        assert record_of(again[-1])["status"] == "ok"


def children() -> set[int]:
    """Return the processes whose parent this one is."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
        except (OSError, ValueError):
            continue
        if fields["PPid"].strip() == str(os.getpid()):
            found.add(int(status.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_leaving_in_the_middle_of_a_request_ends_the_worker_at_once(setting):
    before = children()
    began = time.monotonic()
    with WorkerPool(1) as pool:
        events = pool.run([request(setting, "Slow"), request(setting, "Slow", 1)])
        assert isinstance(next(events), Started)
    assert children() == before
    assert time.monotonic() - began < 60


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_worker_ends_when_its_caller_is_killed():
    code = (
        "import time\nfrom vicinal.runs._pool import Worker, worker_environment\n"
        "worker = Worker(worker_environment(1)); worker._start()\n"
        "print(worker._process.pid, flush=True); time.sleep(60)"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with caller:
        assert caller.stdout is not None
        worker = int(caller.stdout.readline())
        caller.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(worker)


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


def test_processors_are_shared_out_as_threads(monkeypatch):
    monkeypatch.setattr("vicinal.runs._pool.count_processors", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    environment = worker_environment(3)
    assert environment["OMP_NUM_THREADS"] == "2"
    assert environment["MKL_NUM_THREADS"] == "1", "what the user limited stays limited"
    assert worker_environment(20)["OMP_NUM_THREADS"] == "1"


def test_an_exit_code_is_told_in_words():
    assert describe_death(-11, []) == "the process crashed (SIGSEGV, Segmentation fault)."
    assert describe_death(1, ["ImportError: no numpy"]).endswith("code 1: ImportError: no numpy")


def test_a_worker_that_raises_passes_on_its_last_line():
    with WorkerPool(1) as pool:
        for _ in range(3):  # whether it is gone or about to go
            with pytest.raises(RuntimeError, match=r"exit code 1: AttributeError: .*Nobody"):
                ask(pool, {"job": "vicinal.runs:Nobody"})
