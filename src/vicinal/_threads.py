"""Blocks of queries shared out among threads, each with one thread of linear algebra."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import OpenBLASController, ThreadpoolController

from vicinal._types import AnyArray

Block = TypeVar("Block")
Result = TypeVar("Result")

_lock = threading.Lock()
_users = 0
_limit: Any = None


def thread_count(n_jobs: Any) -> int:
    """Return how many threads to use.

    None means as many as NumPy's linear algebra library is set to use, at most as many as the
    process may use processors, so that ``OMP_NUM_THREADS``, threadpoolctl, joblib's workers and
    the process's affinity are all respected; otherwise joblib's meaning of ``n_jobs``.
    """
    if n_jobs is None:
        return max(1, min(_linear_algebra_threads(), joblib.cpu_count()))
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
    # A library on OpenMP counts threads for each caller, so every caller tells it.
    own = _blas().select(threading_layer="openmp").limit(limits=1)
    with _lock:
        _users += 1
        if _users == 1:
            _take_control()
            _limit = _blas().limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _take_control()
                _limit.restore_original_limits()
                _take_control()  # and leave it to the next, whoever that is
        own.restore_original_limits()


def _take_control() -> None:
    """Let the calling thread set OpenBLAS's threads.

    Since 3.7 threadpoolctl lets only the first thread that asked set them and ignores all others
    without a word, for as long as that thread lives: a fit in any other thread would run with
    threads that spin against those of the next fit.
    """
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


def _linear_algebra_threads() -> int:
    """Return the threads that NumPy's and SciPy's libraries have, or may have.

    A library that shares its threads with everyone's OpenMP tells what torch was last told, not
    what it was told itself: there the environment is asked, as the library did when it was loaded.
    """
    ours = [library for library in _blas().info() if not _is_foreign(library["filepath"])]
    own = [lib["num_threads"] for lib in ours if lib.get("threading_layer") != "openmp"]
    if own:
        return int(min(own))  # a limit set before one of them was loaded holds for the other alone
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(setting) if setting.isdecimal() else int(joblib.cpu_count())


def _is_foreign(path: str) -> bool:
    """Return whether a library came along with one that has threads of its own."""
    return any(part.startswith(("torch", "faiss")) for part in Path(path).parts)


@cache
def _blas() -> Any:
    import scipy.linalg  # noqa: F401  (brings a library of its own, which has to be there to be found)

    return ThreadpoolController().select(user_api="blas")
