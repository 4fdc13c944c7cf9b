"""Gradient metrics on dask collections: the fit of the whole, wherever its rows are."""

from __future__ import annotations

import os
import signal
import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed.diagnostics.plugin import SchedulerPlugin
from sklearn.base import clone

import vicinal
from distributed import Client, LocalCluster
from vicinal.scale import fit_distributed

N_CHUNKS, CHUNK_ROWS, N_FEATURES = 16, 1500, 20


def make_data(n_rows=700, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_rows, 4))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]


def letters(y):
    return np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]


def assert_same_fit(found, expected):
    for name in ("estimator_", "n_local_", "ridge_", "power_", "n_iter_", "n_evaluations_"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.bandwidth_ == pytest.approx(expected.bandwidth_)
    scale = np.abs(expected.outer_product_).max()
    np.testing.assert_allclose(found.outer_product_, expected.outer_product_, atol=2e-5 * scale)
    np.testing.assert_allclose(found.components_, expected.components_, atol=2e-4)
    assert found.n_features_in_ == expected.n_features_in_


# On threads: what is computed --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "target"),
    [
        (vicinal.EGOP("analytic"), lambda y: y),
        (vicinal.EGOP("analytic", bandwidth=0.7, n_evaluations=300), lambda y: y),
        (vicinal.EGOP(n_evaluations=100), lambda y: y),
        (vicinal.EGOP("local-linear", bandwidth="rule", n_iter=3), lambda y: y),
        (vicinal.EGOP("analytic"), lambda y: y > 0),
        (vicinal.EGOP("analytic"), lambda y: np.where(y > 0, "high", "low")),
        (
            vicinal.EGOP("local-linear", smoothing=vicinal.Smoothing(n_local=12, ridge=0.3)),
            lambda y: (100 * y).astype(int),
        ),
        (vicinal.EJOP("analytic"), letters),
        (
            vicinal.EJOP(
                "local-linear", smoothing=vicinal.Smoothing(n_local=20), n_evaluations=100
            ),
            letters,
        ),
        (
            vicinal.EJOP("analytic", smoothing=vicinal.Smoothing(temperature=None)),
            lambda y: np.round(y),
        ),
        (vicinal.GradientWeights("analytic"), letters),
        (vicinal.GradientWeights("analytic"), lambda y: y),
    ],
)
def test_the_distributed_fit_is_the_fit_in_memory(learner, target):
    X, y = make_data()
    y = target(y)
    expected = clone(learner).set_params(random_state=0).fit(X, y)
    found = fit_distributed(
        clone(learner).set_params(random_state=0),
        da.from_array(X, chunks=(200, 3)),
        da.from_array(y, chunks=300),
    )
    assert_same_fit(found, expected)
    np.testing.assert_allclose(found.feature_spread_, X.std(axis=0), rtol=1e-10)
    if hasattr(expected, "classes_"):
        np.testing.assert_array_equal(found.classes_, expected.classes_)


def test_more_rows_than_settings_are_chosen_on_give_the_same_draws():
    X, y = make_data(n_rows=4000, seed=1)
    learner = vicinal.EGOP("analytic", n_evaluations=500, random_state=3)
    expected = clone(learner).fit(X, y)
    found = fit_distributed(clone(learner), da.from_array(X, chunks=(1000, 4)), y)
    assert_same_fit(found, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_number_of_chunks_does_not_matter(dtype):
    X, y = make_data(n_rows=600, seed=2)
    learner = vicinal.EGOP("analytic", bandwidth=0.8)
    fits = [
        fit_distributed(clone(learner), da.from_array(X.astype(dtype), chunks=(rows, 4)), y)
        for rows in (600, 170, 37)
    ]
    for fit in fits[1:]:
        assert_same_fit(fit, fits[0])
        assert fit.components_.dtype == dtype


def test_frames_with_unknown_lengths_and_empty_parts_keep_their_column_names():
    X, y = make_data(n_rows=500)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(target=y, part=np.arange(500) // 100)
    table = dd.from_pandas(frame, npartitions=5)
    table = table[table.part != 2]
    kept = frame[frame.part != 2]
    learner = vicinal.EGOP("analytic", bandwidth=0.8)
    expected = clone(learner).fit(kept[list("abcd")], kept.target)
    found = fit_distributed(clone(learner), table[list("abcd")], table.target)
    assert_same_fit(found, expected)
    assert list(found.feature_names_in_) == list("abcd")


def test_stored_gradients_come_in_the_order_of_the_rows():
    X, y = make_data(n_rows=400)
    for learner, target in ((vicinal.EGOP, y), (vicinal.EJOP, letters(y))):
        metric = learner("analytic", bandwidth=0.8, store_gradients=True)
        expected = clone(metric).fit(X, target)
        found = fit_distributed(clone(metric), da.from_array(X, chunks=(90, 4)), target)
        np.testing.assert_allclose(found.gradients_, expected.gradients_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("estimator", ["difference", "analytic", "local-linear", "kernel-ridge"])
def test_all_rows_drawn_as_the_reference_are_all_rows(estimator):
    X, y = make_data(n_rows=500)
    learner = vicinal.EGOP(estimator, bandwidth=1.5)
    found = fit_distributed(clone(learner), da.from_array(X, chunks=(120, 4)), y, n_reference=500)
    assert_same_fit(found, clone(learner).fit(X, y))


def test_a_drawn_reference_comes_near_to_the_whole():
    X, y = make_data(n_rows=3000)
    learner = vicinal.EGOP("analytic", bandwidth=0.8, random_state=0)
    whole = clone(learner).fit(X, y)
    found = fit_distributed(clone(learner), da.from_array(X, chunks=(500, 4)), y, n_reference=1500)
    gap = np.linalg.norm(found.outer_product_ - whole.outer_product_)
    assert 1e-6 < gap / np.linalg.norm(whole.outer_product_) < 0.2


def test_points_cannot_be_added_to_a_sample_that_is_not_there():
    X, y = make_data(n_rows=200)
    found = fit_distributed(
        vicinal.EGOP("analytic", bandwidth=0.8), da.from_array(X, chunks=(50, 4)), y
    )
    before = found.outer_product_
    with pytest.raises(ValueError, match=r"fitted to chunks it does not hold.*rows in memory"):
        found.partial_fit(X)
    np.testing.assert_array_equal(found.outer_product_, before)


# Bad input ---------------------------------------------------------------------------------------


def test_what_cannot_be_fitted_is_refused_in_words():
    X, y = make_data(n_rows=200)
    chunked, target = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    egop = vicinal.EGOP("analytic", bandwidth=0.8)
    for learner in (egop, vicinal.EJOP(), vicinal.GradientWeights()):
        with pytest.raises(ValueError, match=r"X is a dask collection.*scale.fit_distributed"):
            learner.fit(chunked, y)
    with pytest.raises(ValueError, match=r"X is a dask.*GradientDiffusionMap.*pass X.compute"):
        vicinal.GradientDiffusionMap().fit(chunked, y)
    with pytest.raises(ValueError, match="X is a dask collection"):
        clone(egop).fit(X, y).partial_fit(chunked)
    with pytest.raises(ValueError, match=r"takes .* EGOP, EJOP, MeanMetric or AutoMetric"):
        fit_distributed(vicinal.LDA(), chunked, target)
    with pytest.raises(ValueError, match="X must be a dask array or frame, got ndarray"):
        fit_distributed(egop, X, target)
    with pytest.raises(ValueError, match="chunk 2 contains NaN or infinity"):
        fit_distributed(egop, da.where(da.arange(200, chunks=50)[:, None] == 101, np.nan, X), y)
    with pytest.raises(ValueError, match="y is constant"):
        fit_distributed(egop, chunked, 0 * target)
    with pytest.raises(ValueError, match="one class"):
        fit_distributed(vicinal.EJOP(), chunked, np.zeros(200, int))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        fit_distributed(vicinal.EJOP(), chunked, target)
    with pytest.raises(ValueError, match="y holds 3 classes; EGOP takes"):
        fit_distributed(egop, chunked, letters(y))
    with pytest.raises(ValueError, match="give both the same"):
        fit_distributed(egop, chunked, target[:150])
    with pytest.raises(ValueError, match="no gradient could be estimated with bandwidth=1e-05"):
        fit_distributed(vicinal.EGOP("analytic", bandwidth=1e-5), chunked, target)
    with pytest.raises(ValueError, match="n_components=5 is more than the 4 features"):
        fit_distributed(vicinal.EGOP(n_components=5), chunked, target)
    with pytest.raises(ValueError, match="give n_reference"):
        fit_distributed(vicinal.EGOP("difference", bandwidth=1.0), chunked, target)


# On two worker processes: where it is computed ---------------------------------------------------


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def make_large():
    """Return collections whose chunks are made on the workers, and never all in one."""
    X = da.random.default_rng(0).normal(
        size=(N_CHUNKS * CHUNK_ROWS, N_FEATURES), chunks=(CHUNK_ROWS, N_FEATURES)
    )
    return X, da.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2]


LARGE = vicinal.EGOP("analytic", bandwidth=2.5, n_evaluations=800, random_state=0)


@pytest.fixture(scope="module")
def expected():
    """Return the fit in memory."""
    with warnings.catch_warnings():  # dask of 2024 wonders whether workers were meant
        warnings.filterwarnings("ignore", "Running on a single-machine scheduler")
        parts = [part.compute(scheduler="threads") for part in make_large()]
    return clone(LARGE).fit(*parts)


class Watch(SchedulerPlugin):
    """Notes the size of results and what workers hold; kills a worker after some pairs."""

    def __init__(self, scheduler, kill_after=None, pids=None):
        self.scheduler, self.kill_after, self.pids = scheduler, kill_after, pids
        self.n_pairs, self.largest, self.most_held, self.killed = 0, 0, 0, None

    def transition(self, key, start, finish, *args, nbytes=None, **kwargs):
        if finish != "memory":
            return
        self.largest = max(self.largest, nbytes or 0)
        held = [worker.nbytes for worker in self.scheduler.workers.values()]
        self.most_held = max([self.most_held, *held])
        self.n_pairs += str(key).startswith("pair_parts")
        if self.kill_after is not None and self.killed is None and self.n_pairs >= self.kill_after:
            self.killed = self.pids.pop()
            os.kill(self.killed, signal.SIGKILL)


def watched_fit(client, **how):
    scheduler = client.cluster.scheduler
    watch = Watch(scheduler, **how)
    scheduler.add_plugin(watch, name="watch")
    try:
        return fit_distributed(clone(LARGE), *make_large(), client=client), watch
    finally:
        scheduler.remove_plugin("watch")


def test_two_workers_fit_the_whole_and_neither_holds_it(client, expected):
    found, watch = watched_fit(client)
    assert_same_fit(found, expected)
    chunk_bytes = CHUNK_ROWS * N_FEATURES * 8
    assert watch.n_pairs >= 2 * N_CHUNKS
    assert watch.largest <= 1.1 * chunk_bytes
    assert watch.most_held <= 0.6 * N_CHUNKS * chunk_bytes


def test_a_worker_killed_in_the_middle_changes_nothing(client, expected):
    pids = list(client.run(os.getpid).values())
    found, watch = watched_fit(client, kill_after=N_CHUNKS + N_CHUNKS // 2, pids=pids)
    assert watch.killed is not None
    assert watch.killed not in client.run(os.getpid).values()
    assert_same_fit(found, expected)
