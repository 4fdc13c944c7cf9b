"""Threads: how many, and that the linear algebra library gets its own back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import threadpoolctl

from vicinal._threads import _blas, map_blocks, split_rows, thread_count


def blas_threads():
    """Return the threads of the libraries loaded first, NumPy's among them."""
    return [library["num_threads"] for library in _blas().info()]


def test_no_wish_means_as_many_as_the_linear_algebra_library():
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert thread_count(None) == 1


def test_a_wish_is_joblibs_n_jobs():
    assert thread_count(3) == thread_count(np.int64(3)) == 3
    assert thread_count(-1) >= 1


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "2"])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        thread_count(n_jobs)


def test_while_blocks_are_worked_on_each_has_one_thread_of_linear_algebra():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        seen = map_blocks(lambda block: blas_threads(), [1, 2, 3], 2)
        assert {n for threads in seen for n in threads} == {1}
        assert set(blas_threads()) == {2}


def test_overlapping_searches_give_the_threads_back():
    started = Barrier(2, timeout=60)

    def search(lasts_longer):
        def work(block):
            started.wait()
            return lasts_longer and sum(range(10**6))

        return map_blocks(work, [None], 1)

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(search, [False, True]))
        assert set(blas_threads()) == {2}


def test_a_failure_gives_the_threads_back():
    def fail(block):
        raise KeyError(block)

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        with pytest.raises(KeyError):
            map_blocks(fail, [1, 2], 2)
        assert set(blas_threads()) == {2}


@pytest.mark.parametrize(
    ("rows", "block_size", "n_threads", "sizes"),
    [
        (10, 4, 1, [4, 3, 3]),
        (10, 4, 2, [3, 3, 2, 2]),
        (3, 100, 2, [2, 1]),
        (1, 100, 4, [1]),
        (0, 5, 2, [0]),
    ],
)
def test_rows_are_shared_out_evenly(rows, block_size, n_threads, sizes):
    blocks = split_rows(np.arange(rows), block_size, n_threads)
    assert [len(block) for block in blocks] == sizes
    assert np.concatenate(blocks).tolist() == list(range(rows))
