"""Search of a database in partitions: one exact index's answer, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal import ExactIndex, QueryAdapter, nearest_distributed

da = pytest.importorskip("dask.array")


def rows(n: int = 500) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    # Whole numbers: ties abound.
    return rng.integers(3, size=(n, 5)).astype(float), rng.integers(3, size=(40, 5)).astype(float)


@pytest.mark.parametrize("chunk", [3, 77, 500])
@pytest.mark.parametrize("distributed_queries", [False, True])
def test_partitions_give_what_one_index_gives(chunk, distributed_queries):
    database, queries = rows()
    asked = da.from_array(queries, chunks=(13, 2)) if distributed_queries else queries
    found = nearest_distributed(da.from_array(database, chunks=(chunk, 2)), asked, 20)
    for got, right in zip(found, ExactIndex(database).query(queries, 20), strict=True):
        assert_array_equal(got, right)


def test_a_query_adapter_is_applied_where_rows_lie():
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(60, 6))
    relevant = rng.integers(60, size=400)
    queries = documents[relevant] @ rng.normal(size=(6, 6))
    adapter = QueryAdapter(regularization=0.01, loss="softmax", random_state=0)
    adapter.fit(queries, documents, relevant)
    found = nearest_distributed(
        da.from_array(documents, chunks=(17, 6)), queries[:30], 5, metric=adapter
    )
    index = ExactIndex(adapter.transform(documents))
    assert_array_equal(found[1], index.query(adapter.transform_queries(queries[:30]), 5)[1])


def test_empty_and_unknown_chunks_are_no_trouble():
    database, queries = rows()
    some = da.from_array(database, chunks=(50, 5))
    kept = some[some[:, 0] > 0]
    right = ExactIndex(database[database[:, 0] > 0]).query(queries, 4)[1]
    assert_array_equal(nearest_distributed(kept, queries, 4)[1], right)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d, q: (np.asarray(d), q, 3), "must be a dask array"),
        (lambda d, q: (d, q[:, :2], 3), "2 columns.*have 5"),
        (lambda d, q: (d, q, 501), "501"),
    ],
)
def test_bad_input_is_refused(change, words):
    database, queries = rows()
    with pytest.raises(ValueError, match=words):
        nearest_distributed(*change(da.from_array(database, chunks=(100, 5)), queries))


def slow(block: Any) -> Any:
    import time

    time.sleep(0.3)
    return block


@pytest.mark.timeout(120)
def test_a_worker_killed_in_the_middle_changes_nothing():
    from threading import Timer

    from distributed import Client, LocalCluster

    database, queries = rows()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        chunks = da.from_array(database, chunks=(50, 5)).map_blocks(slow, dtype=float)
        victim = next(iter(client.run(os.getpid).values()))
        timer = Timer(0.8, os.kill, (victim, signal.SIGKILL))
        timer.start()
        found = nearest_distributed(chunks, queries, 9, client=client)
        timer.join()
    assert_array_equal(found[1], ExactIndex(database).query(queries, 9)[1])
