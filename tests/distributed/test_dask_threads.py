"""Fits inside the tasks of a worker with two threads: as quick as in turn, and the same."""

from __future__ import annotations

import os
import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_digits

from vicinal import LMNN, MLNG
from vicinal._threads import thread_count

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

X, y = (values[:300] for values in load_digits(return_X_y=True))
LEARNERS = {
    "LMNN": LMNN(max_iter=15, random_state=0),
    "MLNG": MLNG(max_iter=2, random_state=0),
}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def fit(name, number):
    return LEARNERS[name].fit(X.astype(float), y).components_


def cpu_seconds(work):
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


@pytest.mark.parametrize("name", LEARNERS)
def test_two_fits_at_once_cost_what_two_in_turn_cost(client, name):
    def in_tasks():
        return client.gather(client.map(fit, [name] * 2, range(2), pure=False))

    fit(name, 0)  # kernels are compiled, or read
    in_turn, alone = cpu_seconds(lambda: [fit(name, number) for number in range(2)])
    at_once, both = min((cpu_seconds(in_tasks) for _ in range(2)), key=lambda found: found[1])
    for components in at_once:
        np.testing.assert_allclose(components, in_turn[0])
    assert both < 2 * alone + 0.5  # threads that spin against each other took fifty times as much


def threads_of_processes(number):
    count = joblib.delayed(thread_count)
    return joblib.Parallel(2, backend="loky")(count(None) for _ in range(2))


def test_processes_begun_in_a_task_share_the_processors(client):
    found = client.submit(threads_of_processes, 0).result()
    assert max(found) <= max(1, (os.cpu_count() or 1) // 2)
