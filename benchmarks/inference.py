"""Exact inference: over all points against the bare matrix product, and on candidate lists."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._measure import Case
from vicinal import ExactIndex, load_dataset
from vicinal._kernels._targeted import infer_sets, new_inferred
from vicinal.metric.inference import infer_all

K = 7
COLD = """
import time, numpy as np
from numba import njit
njit(lambda a: a)(1)  # what any first compilation takes is numba's
from vicinal import gerrymandering_loss
from vicinal.metric.inference import infer_all
start = time.process_time()
gerrymandering_loss(np.ones(3, np.float32), [0, 0, 1], 0, 1)
X, y = np.eye(9, dtype=np.float32), np.arange(9, dtype=np.int32) % 2
infer_all(X, y, np.arange(9), 3, 1 - np.eye(2))
print(time.process_time() - start)
"""


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield the training set of letters where its data are at hand, else normal vectors."""
    X, y = letters() if "VICINAL_DATA" in os.environ else normal()
    n = 2_000 if quick else 16_000
    X, y = X[:n], y[:n]
    yield all_points(X, y)
    yield candidate_lists(X, y)


def letters() -> tuple[Any, Any]:
    """Return the first 16,000 rows, the usual training part, scaled to unit variance."""
    X, y = load_dataset("letter")
    X = X[:16_000] - X[:16_000].mean(axis=0)
    return (X / X.std(axis=0)).astype(np.float32), y[:16_000].astype(np.int32)


def normal() -> tuple[Any, Any]:
    """Return points about 26 centres, as many as letters has."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 26, 16_000).astype(np.int32)
    X = rng.normal(size=(26, 16))[y] + rng.normal(size=(16_000, 16))
    return X.astype(np.float32), y


def all_points(X: Any, y: Any) -> Case:
    """Leave-one-out h* and ĥ of every point; the limit is 25,000 queries a CPU-second."""
    n, costs = len(X), 1.0 - np.eye(26)

    def ours(rows: int = n) -> Any:
        return infer_all(X, y, np.arange(rows), K, costs)

    def peer() -> None:
        points, out = np.ascontiguousarray(X.T), np.empty((64, n), np.float32)
        with threadpool_limits(1):
            for start in range(0, n - n % 64, 64):
                np.matmul(X[start : start + 64], points, out=out)

    def check(found: Any, nothing: Any) -> Mapping[str, Any]:
        at_rest = float(np.mean(found.loss == 0))
        return {
            "cold_compile_seconds": cold_compile_seconds(),
            "note": f"loss 0 at {100 * at_rest:.1f} % of the points",
        }

    return Case(
        name=f"{n:,} × {X.shape[1]}, 26 classes, k={K}, h* and ĥ over all points, one thread",
        peer_name="the matrix product alone",
        ours=ours,
        peer=peer,
        warm_up=lambda: ours(100),
        check=check,
        limits={"cpu_seconds": n / 25_000, "cold_compile_seconds": 5.0},
    )


def candidate_lists(X: Any, y: Any) -> Case:
    """Infer on the 64 nearest of each point; sorting the same lists is the measure."""
    squared, indices = ExactIndex(X, n_jobs=1).query(X, 65)
    # A metric that has moved on finds its lists in no order.
    shuffled = np.random.default_rng(0).permutation(64) + 1
    squared, labels = squared[:, shuffled], y[indices[:, shuffled]]
    found, costs = new_inferred(len(X), K), 1.0 - np.eye(26)

    def ours(rows: int = len(X)) -> None:
        chosen = slice(rows)
        infer_sets(squared[chosen], labels[chosen], y[chosen], costs, found.of(chosen))

    return Case(
        name=f"{len(X):,} candidate lists of 64, 26 classes, k={K}",
        peer_name="sorting the lists",
        ours=ours,
        peer=lambda: np.argsort(squared, axis=1),
        warm_up=lambda: ours(10),
        check=lambda *_: {"note": f"{np.mean(found.star[:, 0] < 0):.1%} of own classes cannot win"},
    )


def cold_compile_seconds() -> float:
    """Return the CPU seconds a fresh process spends on compiling all inference kernels."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", COLD]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return round(float(done.stdout), 2)
