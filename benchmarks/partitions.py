"""A database in partitions on two workers, one killed in the middle, beside the same undisturbed.

CPU-seconds are those of the process that asks; what counts here is the wall time that a lost worker
costs, and the memory a worker takes, which the note tells.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from threading import Event, Thread, Timer
from typing import Any

import dask.array as da
import numpy as np
import psutil

from benchmarks._measure import Case
from distributed import Client, LocalCluster
from vicinal import KNNClassifier, QueryAdapter

WIDTH = 384


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield a vote and an adapter over made-up rows of unit length."""
    n, m = (40_000, 200) if quick else (1_000_000, 1_000)
    yield vote(n, m)
    yield adapter(n, 500 if quick else 5_000)


def made_up(n: int) -> Any:
    """Return n rows of unit length in forty chunks that any worker can make again."""

    def unit(block: Any) -> Any:
        return block / np.linalg.norm(block, axis=1, keepdims=True)

    random = da.random.default_rng(0)
    rows = random.standard_normal((n, WIDTH), chunks=(n // 40, WIDTH), dtype=np.float32)
    return rows.map_blocks(unit, dtype=np.float32)


def vote(n: int, m: int) -> Case:
    """The vote of ten neighbours, for queries that are a dask array too."""
    labels = np.random.default_rng(1).integers(5, size=n)

    def predict() -> Any:
        rows = made_up(n)
        return KNNClassifier(10).fit(rows, labels).predict_proba(rows[:m] + rows[-m:])

    return on_two_workers(f"KNNClassifier, {n:,} × {WIDTH} in 40 chunks, {m:,} queries", predict, 8)


def adapter(n: int, m: int) -> Case:
    """A map learned from queries that are documents turned; the documents stay where they are."""
    rng = np.random.default_rng(2)
    turn = np.eye(WIDTH) + rng.normal(size=(WIDTH, WIDTH)) / WIDTH**0.5
    relevant = np.sort(rng.choice(n, m, replace=False))
    queries: list[Any] = []

    def learn() -> Any:
        rows = made_up(n)
        if not queries:
            queries.append(rows[relevant].compute() @ turn)
        adapter = QueryAdapter(loss="softmax", regularization=0.01, random_state=0)
        return adapter.fit(queries[0], rows, relevant).query_components_

    return on_two_workers(f"QueryAdapter, {n:,} × {WIDTH} in 40 chunks, {m:,} queries", learn, 4)


def on_two_workers(name: str, work: Callable[[], Any], seconds: float) -> Case:
    """Work with one of two workers killed after so many seconds, beside the same undisturbed."""
    peaks: list[float] = []

    def disturbed() -> Any:
        return run(work, peaks, seconds)

    def check(found: Any, undisturbed: Any) -> Mapping[str, Any]:
        np.testing.assert_array_equal(found, undisturbed)
        return {"note": f"the same answer; at most {max(peaks):.2f} GB a worker"}

    return Case(
        name=name,
        peer_name="the same, no worker killed",
        ours=disturbed,
        peer=lambda: run(work, peaks, None),
        warm_up=lambda: None,
        check=check,
    )


def run(work: Callable[[], Any], peaks: list[float], kill_after: float | None) -> Any:
    """Return what work gives on two workers, and note the largest memory of either."""
    over = Event()

    def watch() -> None:
        while not over.wait(0.1):
            for process in psutil.Process().children(recursive=True):
                try:
                    peaks.append(process.memory_info().rss / 2**30)
                except psutil.NoSuchProcess:
                    continue

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        timer = Timer(kill_after or 0, os.kill, (victim, signal.SIGKILL))
        if kill_after is not None:
            timer.start()
        try:
            result = work()
        finally:
            over.set()
            timer.cancel()
            watcher.join()
    return result
