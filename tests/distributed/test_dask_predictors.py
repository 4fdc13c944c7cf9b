"""Predictors of rows in partitions: what one machine with all rows would predict."""

from __future__ import annotations

import os
import signal
from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.frozen import FrozenEstimator

from distributed import Client, LocalCluster
from vicinal import (
    LDA,
    ExactIndex,
    KernelClassifier,
    KNNClassifier,
    KNNRegressor,
    MeanMetric,
    NearestNeighbors,
    QueryAdapter,
    RadiusClassifier,
    RadiusRegressor,
    fit_distributed,
)


def rows(n: int = 400) -> tuple[Any, Any, Any]:
    """Return rows of whole numbers (ties abound), their classes, and queries."""
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(n, 5)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.integers(2, size=n)) % 3, rng.normal(size=(41, 5))


def parts(X: Any, size: int = 70) -> Any:
    return da.from_array(X, chunks=(size, 2))


@settings(max_examples=15, deadline=None)
@given(
    size=st.integers(1, 90),
    asked=st.sampled_from([None, 7, 41]),
    metric=st.sampled_from(["euclidean", "cosine", "manhattan"]),
    in_parts=st.booleans(),
)
def test_an_index_of_partitions_answers_as_one_of_all_rows(size, asked, metric, in_parts):
    X, _, queries = rows(90)
    X += 1
    index = ExactIndex(X, metric=metric)
    other = ExactIndex(parts(X, size) if in_parts else X, metric=metric)
    wanted = queries if asked is None else parts(queries, asked)
    for got, right in zip(other.query(wanted, 11), index.query(queries, 11), strict=True):
        assert_array_equal(got, right)
    nearness = float(np.median(index.distances(index.query(queries, 5)[0])))
    answers = other.query_radius(wanted, nearness), index.query_radius(queries, nearness)
    for got, right in zip(*answers, strict=True):
        assert_array_equal(got, right)


@pytest.mark.parametrize(
    "model",
    [
        KNNClassifier(7),
        KNNClassifier("auto"),
        KNNClassifier(weights="learned", class_weight="balanced"),
        KNNRegressor(4, weights="distance"),
        KNNClassifier(3, "manhattan"),
        RadiusClassifier(1.5),
        RadiusRegressor(1.5),
    ],
    ids=repr,
)
def test_predictions_are_those_of_a_fit_in_memory(model):
    X, y, queries = rows()
    right = model.fit(X, y).predict(queries)
    everyone = X if isinstance(model, RadiusClassifier | RadiusRegressor) else None
    others = model.predict(everyone)
    for targets in (y, da.from_array(y, chunks=33)):
        model.fit(parts(X), targets)
        assert_array_equal(model.predict(queries), right)
        assert_array_equal(model.predict(parts(queries, 9)), right)
        assert_array_equal(model.predict(everyone), others)


def test_a_metric_fitted_to_partitions_predicts_in_partitions():
    X, y, queries = rows()
    metric = fit_distributed(MeanMetric(LDA(), n_starts=1), parts(X), da.from_array(y, chunks=70))
    frozen = KNNClassifier(5, FrozenEstimator(metric))
    right = frozen.fit(X, y).predict_proba(queries)
    assert_array_equal(frozen.fit(parts(X), y).predict_proba(parts(queries, 20)), right)


def test_queries_and_rows_may_have_maps_of_their_own():
    X, y, queries = rows()
    adapter = QueryAdapter(regularization=0.1, loss="softmax", similarity="inner", random_state=0)
    model = KNNClassifier(5, FrozenEstimator(adapter.fit(X, y)), weights="learned")
    right = model.fit(X, y).predict_proba(queries)
    assert_array_equal(model.fit(parts(X), y).predict_proba(queries), right)
    assert_array_equal(model.predict_proba(parts(queries)), right)


def test_rows_without_weight_are_left_out():
    X, y, queries = rows()
    weights = np.arange(400) % 3
    right = KNNClassifier(5).fit(X, y, weights)
    model = KNNClassifier(5).fit(parts(X), y, weights)
    assert_array_equal(model.predict_proba(queries), right.predict_proba(queries))
    assert_array_equal(model.kneighbors(queries)[1], right.kneighbors(queries)[1])


def test_neighbours_without_targets_are_found_in_partitions():
    X, _, queries = rows()
    found = NearestNeighbors(n_neighbors=6).fit(parts(X)).kneighbors(queries)
    right = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(queries)
    for got, expected in zip(found, right, strict=True):
        assert_array_equal(got, expected)


def with_hole(X: Any) -> Any:
    hole = X.copy()
    hole[350, 2] = np.nan
    return hole


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda X, y, q: KNNClassifier(metric=LDA()).fit(parts(X), y), "FrozenEstimator"),
        (lambda X, y, q: KNNClassifier(weights="auto").fit(parts(X), y), "'learned'"),
        (lambda X, y, q: KNNClassifier(index="faiss").fit(parts(X), y), "index='exact'"),
        (lambda X, y, q: KNNClassifier().fit(parts(X), y[:-1]), "400 rows"),
        (lambda X, y, q: KNNClassifier(401).fit(parts(X), y), "401"),
        (lambda X, y, q: KNNClassifier().fit(parts(X), y).predict(q[:, :3]), "3 features"),
        (lambda X, y, q: KNNClassifier().fit(parts(X), y).predict(parts(q[:, :3])), "3 features"),
        (lambda X, y, q: KNNClassifier().fit(parts(with_hole(X)), y).predict(q), "350 to 399.*NaN"),
        (lambda X, y, q: ExactIndex(parts(X)).query(parts(with_hole(X)), 3), "queries.*NaN"),
        (lambda X, y, q: ExactIndex(parts(X * 1e200)).query(q, 3), "rescale"),
        (lambda X, y, q: ExactIndex(parts(X)).add_rows(q), "neither come nor go"),
        (lambda X, y, q: ExactIndex(parts(X.astype(str))), "real numbers"),
        (lambda X, y, q: KernelClassifier().fit(parts(X), y), r"pass X.compute\(\)"),
    ],
)
def test_what_cannot_be_done_in_partitions_is_said(act, words):
    with pytest.raises(ValueError, match=words):
        act(*rows())


def slow(block: Any) -> Any:
    import time

    time.sleep(0.3)
    return block


@pytest.mark.timeout(120)
def test_predictions_outlive_a_worker_that_is_killed_in_the_middle():
    from threading import Timer

    X, y, queries = rows()
    right = KNNClassifier(9).fit(X, y).predict_proba(queries)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        model = KNNClassifier(9).fit(parts(X, 40).map_blocks(slow, dtype=float), y)
        victim = next(iter(client.run(os.getpid).values()))
        timer = Timer(0.8, os.kill, (victim, signal.SIGKILL))
        timer.start()
        shares = model.predict_proba(parts(queries, 20))
        timer.join()
    assert_array_equal(shares, right)
