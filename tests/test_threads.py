"""Threads: how many, and that the linear algebra library gets its own back."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
import threadpoolctl

from vicinal import _threads
from vicinal._threads import _blas, map_blocks, split_rows, thread_count


def blas_threads():
    """Return the threads of the libraries loaded first, NumPy's among them."""
    return [library["num_threads"] for library in _blas().info()]


@pytest.fixture
def two_blas_threads():
    """Give libraries something to limit, however few threads this process began with."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        yield
        _threads._take_control()


def test_no_wish_means_as_many_as_the_linear_algebra_library():
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert thread_count(None) == 1


COUNT = "from vicinal._threads import thread_count; print(thread_count(None))"


def counted(code, **environment):
    """Return what the last line printed by a process of its own says."""
    # Other tests may have told libraries by names of their own, which outweigh the common one.
    inherited = {n: v for n, v in os.environ.items() if not n.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | {"OMP_NUM_THREADS": "2"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout.split()[-1])


@pytest.mark.skipif(joblib.cpu_count() < 2, reason="needs two processors")
def test_no_wish_heeds_the_environment_and_the_affinity():
    assert counted(COUNT) == 2
    assert counted(COUNT, OMP_NUM_THREADS="1") == 1
    if hasattr(os, "sched_setaffinity"):
        one = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
        assert counted(one + COUNT) == 1


def test_a_worker_of_joblib_with_one_thread_uses_one():
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        assert joblib.Parallel(2)(joblib.delayed(thread_count)(None) for _ in range(2)) == [1, 1]


@pytest.mark.skipif(joblib.cpu_count() < 2, reason="needs two processors")
def test_the_threads_torch_was_told_to_use_are_torchs_alone():
    pytest.importorskip("torch", reason="needs the extra torch")
    assert counted("import numpy, torch; torch.set_num_threads(1); " + COUNT) == 2


@pytest.mark.skipif(joblib.cpu_count() < 2, reason="needs two processors")
@pytest.mark.parametrize(
    ("told", "libraries", "expected"),
    [
        ("2", [("numpy.libs/libopenblas.so", "pthreads", 1)], 1),
        # A library on everyone's OpenMP says what torch was told.
        ("2", [("lib/libopenblas.so", "openmp", 1)], 2),
        ("1", [("lib/libopenblas.so", "openmp", 2)], 1),
        ("2,4", [("lib/libopenblas.so", "openmp", 1)], 2),
        ("2", [("numpy.libs/a.so", "pthreads", 1), ("torch/lib/b.so", "pthreads", 2)], 1),
        ("2", [("numpy.libs/a.so", "pthreads", 1), ("faiss_cpu.libs/b.so", "pthreads", 2)], 1),
        ("", [], joblib.cpu_count()),
    ],
)
def test_libraries_are_counted_by_whose_threads_they_use(monkeypatch, told, libraries, expected):
    names = ("filepath", "threading_layer", "num_threads")
    known = [dict(zip(names, library, strict=True)) for library in libraries]
    monkeypatch.setattr(_threads, "_blas", lambda: SimpleNamespace(info=lambda: known))
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert thread_count(None) == expected


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


def test_any_thread_can_hold_linear_algebra_to_one_after_the_main_thread_has(two_blas_threads):
    before = blas_threads()
    with _threads.one_blas_thread():
        pass  # from here on threadpoolctl would listen to this thread alone

    both = Barrier(2, timeout=30)

    def held(_):
        with _threads.one_blas_thread():
            both.wait()
            inside = blas_threads()
            both.wait()
        return inside

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(held, range(2))) == [[1] * len(before)] * 2
    assert blas_threads() == before


def test_after_a_fit_in_a_thread_others_can_set_limits_of_their_own(two_blas_threads):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: map_blocks(len, ["a"], 1)).result()
        with threadpoolctl.threadpool_limits(1, user_api="blas"):
            assert max(blas_threads()) == 1


def test_no_kernel_has_threads_of_numba():
    """Those of OpenMP end a forked child, those of its work queue a process with two callers."""
    folder = Path(_threads.__file__).parent
    texts = [path.read_text() for path in folder.rglob("*.py")]
    assert not [text for text in texts if "prange" in text or "parallel=True" in text]


FORK = """
import os, sys
import numpy as np
from vicinal.data._signals import project_images

images, angles = np.random.default_rng(0).random((40, 9, 9)), np.linspace(0.1, 1.5, 30)
drawn = project_images(images, angles, angles)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(project_images(images, angles, angles), drawn) else 3)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_draws_as_its_parent():
    assert counted(FORK) == 0
