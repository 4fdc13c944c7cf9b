"""Blocks of queries shared out among threads, each with one thread of linear algebra."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from vicinal._types import AnyArray

Block = TypeVar("Block")
Result = TypeVar("Result")

_lock = threading.Lock()
_users = 0
_limit: Any = None


def thread_count(n_jobs: Any) -> int:
    """Return how many threads to use.

    None means as many as the linear algebra library is set to use, so that ``OMP_NUM_THREADS``,
    threadpoolctl and joblib's workers are all respected; otherwise joblib's meaning of ``n_jobs``.
    """
    if n_jobs is None:
        libraries = _blas().info()
        threads = max((library["num_threads"] for library in libraries), default=1)
        return max(1, min(threads, joblib.cpu_count()))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}.")
    return int(joblib.effective_n_jobs(n_jobs))


def split_rows(rows: AnyArray, block_size: int, n_threads: int) -> list[AnyArray]:
    """Return consecutive blocks of at most ``block_size`` rows, as even as threads can share."""
    n_blocks = max(1, -(-len(rows) // block_size))
    n_blocks = min(max(1, len(rows)), -(-n_blocks // n_threads) * n_threads)
    return np.array_split(rows, n_blocks)


def map_blocks(
    function: Callable[[Block], Result], blocks: Sequence[Block], n_threads: int
) -> list[Result]:
    """Return ``function`` of every block, in order."""
    with one_blas_thread():
        if n_threads == 1 or len(blocks) == 1:
            return [function(block) for block in blocks]
        # Some libraries count threads for each caller, so every worker says it again.
        with ThreadPoolExecutor(n_threads, initializer=lambda: _blas().limit(limits=1)) as pool:
            return list(pool.map(function, blocks))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold linear algebra to one thread: its threads spin between small products."""
    # The limit is the process's, not the thread's: the first caller sets it and the last lifts it,
    # or two overlapping searches would restore each other's limit.
    global _users, _limit
    with _lock:
        _users += 1
        if _users == 1:
            _limit = _blas().limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.restore_original_limits()


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")
