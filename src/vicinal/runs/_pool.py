"""Worker processes, and the hand that feeds them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol, Self

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True)
class Started:
    """A request is being worked on."""

    index: int


@dataclass(frozen=True)
class Finished:
    """A request is done: ``reply`` is the worker's, or None where the worker died (``crash``)."""

    index: int
    reply: dict[str, Any] | None
    crash: str


class Workers(Protocol):
    """Whoever does what is asked, one request after another or several at a time."""

    n_workers: int
    preparing: float  # seconds that what was asked before the work took

    def run(self, requests: Sequence[dict[str, Any]]) -> Iterator[Started | Finished]:
        """Yield the start and the end of each request as they happen."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def ask(workers: Workers, request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request.

    Raises
    ------
    RuntimeError
        Where the worker died over it.
    """
    began = time.monotonic()
    end = next(event for event in workers.run([request]) if isinstance(event, Finished))
    workers.preparing += time.monotonic() - began
    if end.reply is None:
        raise RuntimeError(end.crash)
    return end.reply


# Seconds in which a process that has closed its pipe is gone, on a busy machine too.
ENDING = 5.0


class Crash(Exception):
    """The worker died over a request."""


class Worker:
    """One process, started when first needed and again after it died."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None
        self._last_words: deque[str] = deque(maxlen=20)
        self._lock = threading.Lock()
        self._stopped = False

    @property
    def started(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a request; raise :class:`Crash` where there will be none."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        if not line.endswith("\n"):
            raise Crash(self._bury(process))
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _start(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._stopped:
                raise Crash("the run was stopped.")
            self._process = process = _open_process(self._environment)
        self._last_words.clear()
        self._drain = threading.Thread(
            target=self._last_words.extend, args=(process.stderr,), daemon=True
        )
        self._drain.start()
        assert process.stdin is not None
        process.stdin.write(json.dumps(sys.path) + "\n")
        return process

    def _bury(self, process: subprocess.Popen[str]) -> str:
        """Forget a dead process and return what it died of."""
        try:  # one that ends by itself has closed its pipe a moment before it is gone
            code = process.wait(timeout=ENDING)
        except subprocess.TimeoutExpired:
            process.kill()  # it closed its pipe and lived on
            code = process.wait()
        self._drain.join(timeout=5)
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError, AttributeError):  # what was unsent has nowhere to go
                pipe.close()  # type: ignore[union-attr]
        self._process = None
        return describe_death(code, [line.strip() for line in self._last_words if line.strip()])

    def stop(self) -> None:
        """End the process, whatever it is doing, and start no other; safe from any thread."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Let go of a stopped process once nobody asks it any more."""
        if self._process is not None:
            self._bury(self._process)


def _open_process(environment: dict[str, str]) -> subprocess.Popen[str]:
    # In a session of its own: Ctrl-C is for the caller, who then ends the workers.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "vicinal.runs._worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        start_new_session=True,
    )


def describe_death(code: int, last_words: Sequence[str]) -> str:
    """Say what an exit code means to the user, with the last line the process wrote."""
    if code == -9:  # the number, as not every system has the name
        return "the process was killed; perhaps memory ran out."
    if code < 0:
        name = signal.Signals(-code).name
        return f"the process crashed ({name}, {signal.strsignal(-code)})."
    words = f": {last_words[-1]}" if last_words else "."
    return f"the process ended by itself with exit code {code}{words}"


# Seconds that a process takes to load what it needs and to warm up, where the first one has not
# shown how long by answering what was asked of it before the work.
STARTING = 4.0
# Seconds after which that is asked for the first time; few requests have told nothing yet.
PATIENCE = 2.0


class WorkerPool:
    """A number of workers; use as a context manager, and leaving it ends them.

    Parameters
    ----------
    n_workers : int
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        environment = worker_environment(n_workers)
        self._workers = [Worker(environment) for _ in range(n_workers)]
        self._stopping = threading.Event()
        self.preparing = 0.0
        self._times: list[list[float]] = []  # when requests began, and ended if they have
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        for worker in self._workers:
            worker.stop()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.close()

    def run(self, requests: Sequence[dict[str, Any]]) -> Iterator[Started | Finished]:
        """Yield the start and the end of each request as they happen."""
        waiting: SimpleQueue[tuple[int, dict[str, Any]]] = SimpleQueue()
        for numbered in enumerate(requests):
            waiting.put(numbered)
        events: SimpleQueue[Started | Finished] = SimpleQueue()
        self._times = []
        self._threads = [
            threading.Thread(
                target=self._serve, args=(worker, waiting, events, number * PATIENCE), daemon=True
            )
            for number, worker in enumerate(self._workers[: len(requests)])
        ]
        for thread in self._threads:
            thread.start()
        unfinished = len(requests)
        while unfinished:
            event = _next(events)
            unfinished -= isinstance(event, Finished)
            yield event

    def _serve(
        self,
        worker: Worker,
        waiting: SimpleQueue[tuple[int, dict[str, Any]]],
        events: SimpleQueue[Started | Finished],
        patience: float,
    ) -> None:
        if patience and not worker.started:  # the first one is needed in any case
            self._await_need(waiting, patience)
        while not self._stopping.is_set():
            try:
                index, request = waiting.get_nowait()
            except Empty:
                return
            events.put(Started(index))
            times, reply, crash = [time.monotonic()], None, ""
            self._times.append(times)
            try:
                reply = worker.ask(request)
            except Crash as death:
                crash = str(death)
            except Exception as error:  # a thread that died silently would leave the run waiting
                crash = f"the process could not be used: {error}"
            times.append(time.monotonic())
            events.put(Finished(index, reply, crash))

    def _await_need(self, waiting: SimpleQueue[Any], patience: float) -> None:
        """Wait until one more process would pay: it has to begin before it can help."""
        pause = patience
        while not self._stopping.wait(pause) and not waiting.empty():
            if self._pays(waiting.qsize()):
                return
            pause = PATIENCE / 4

    def _pays(self, n_waiting: int) -> bool:
        """Say whether one more process would save more seconds than it takes to start.

        Of R seconds that w processes are expected to need, by what requests have taken so far,
        one more saves (R − S) / (w + 1), for S of its own.
        """
        now = time.monotonic()
        taken = [(times[1] if len(times) > 1 else now) - times[0] for times in self._times]
        at_work = max(1, sum(worker.started for worker in self._workers))
        left = sum(taken) / max(1, len(taken)) * n_waiting / at_work
        return left > (at_work + 2) * (self.preparing or STARTING)


class ThisProcess:
    """A worker's verbs without a worker: no start-up time, and no shield from a crash.

    Parameters
    ----------
    answer : callable
        From a request to its reply.
    """

    n_workers, preparing = 1, 0.0

    def __init__(self, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._answer = answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def run(self, requests: Sequence[dict[str, Any]]) -> Iterator[Started | Finished]:
        """Yield the start and the end of each request as they happen."""
        for index, request in enumerate(requests):
            yield Started(index)
            yield Finished(index, self._answer(request), "")


def _next(events: SimpleQueue[Started | Finished]) -> Started | Finished:
    while True:
        try:  # with a timeout, so that Ctrl-C is heard on every system
            return events.get(timeout=0.5)
        except Empty:
            continue


def worker_environment(n_workers: int) -> dict[str, str]:
    """Return the environment of a worker: the processors are shared out as threads."""
    share = max(1, count_processors() // n_workers)
    environment = dict(os.environ)
    for name in THREADS:
        threads = environment.get(name, "")
        environment[name] = str(min(share, int(threads)) if threads.isdigit() else share)
    return environment


def count_processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
