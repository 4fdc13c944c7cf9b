"""MeanMetric and AutoMetric on dask collections: every partition is fitted where it lies."""

from __future__ import annotations

import os
import signal
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from sklearn.utils import check_random_state

from distributed import Client, LocalCluster
from vicinal import EGOP, EJOP, LDA, LMNN, MLNG, AutoMetric, Euclidean, MeanMetric, fit_distributed

CHUNK = 60


def wine(seed=0):
    """Return shuffled rows and classes: the last partition is smaller."""
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    return scale(X)[order], y[order]


def chunked(X, y, rows=CHUNK):
    return da.from_array(X, chunks=(rows, 5)), da.from_array(y, chunks=rows)


def near(X, components):
    """Return the mean squared distance of rows to their five nearest others."""
    mapped = X @ components.T
    squared = ((mapped[:, None] - mapped[None]) ** 2).sum(axis=2)
    return np.sort(squared, axis=1)[:, 1:6].mean()


def mean_by_hand(learner, parts, *, seed, n_starts=1, **given):
    """Return the mean Mahalanobis matrix of fits in memory, with the seeds drawn in order."""
    random, matrices = check_random_state(seed), []
    for X, y in parts:
        for _ in range(n_starts):
            drawn = int(random.randint(2**31 - 1))
            if "random_state" in learner.get_params():
                given["random_state"] = drawn
            fit = clone(learner).set_params(**given).fit(X, y)
            matrices.append(fit.get_mahalanobis_matrix() / near(X, fit.components_))
    return sum(matrices) / len(matrices)


def parts_of(X, y, rows=CHUNK):
    return [(X[i : i + rows], y[i : i + rows]) for i in range(0, len(X), rows)]


# On threads: what is computed --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "n_starts", "given"),
    [
        (LDA(), 1, {}),
        (MLNG(init="lda", max_iter=2), 2, {"n_neighbors": 3}),
        (EJOP("analytic"), 1, {}),
    ],
    ids=["lda", "mlng", "ejop"],
)
def test_the_mean_is_that_of_fits_in_memory_to_the_partitions(learner, n_starts, given):
    X, y = wine()
    mean = MeanMetric(learner, n_starts=n_starts, random_state=7, **given)
    assert fit_distributed(mean, *chunked(X, y)) is mean
    expected = mean_by_hand(learner, parts_of(X, y), seed=7, n_starts=n_starts, **given)
    assert_allclose(mean.get_mahalanobis_matrix(), expected, rtol=1e-6, atol=1e-9)
    assert_array_equal(mean.classes_, [0, 1, 2])
    assert_allclose(mean.feature_spread_, X.std(axis=0), rtol=1e-10)
    assert mean.n_features_in_ == 13
    assert hasattr(mean, "n_iter_") == hasattr(clone(learner).fit(X, y), "n_iter_")


def test_one_partition_is_the_fit_in_memory():
    X, y = wine()
    mean = MeanMetric(MLNG(init="lda"), n_starts=2, n_components=2, random_state=1)
    expected = clone(mean).fit(X, y)
    found = fit_distributed(clone(mean), *chunked(X, y, rows=len(X)))
    assert_allclose(found.components_, expected.components_, rtol=1e-8)
    assert found.n_iter_ == expected.n_iter_
    assert_allclose(found.feature_relevance_, expected.feature_relevance_, rtol=1e-7)


def test_frames_with_empty_partitions_class_names_and_single_precision():
    X, y = wine()
    names = [f"x{i}" for i in range(13)]
    frame = pd.DataFrame(X.astype(np.float32), columns=names)
    frame = frame.assign(target=np.array(["a", "b", "c"])[y], part=np.arange(len(X)) // CHUNK)
    table = dd.from_pandas(frame, chunksize=CHUNK)
    table = table[table.part != 1]
    mean = fit_distributed(MeanMetric(LDA(), n_starts=1), table[names], table.target)
    parts = [part for i, part in enumerate(parts_of(X.astype(np.float32), y)) if i != 1]
    expected = mean_by_hand(LDA(), parts, seed=0)
    assert_allclose(mean.get_mahalanobis_matrix(), expected, rtol=1e-3, atol=1e-4)
    assert list(mean.feature_names_in_) == names
    assert list(mean.classes_) == ["a", "b", "c"]
    assert mean.components_.dtype == np.float32


def test_a_mean_over_partitions_of_numbers_has_no_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    mean = fit_distributed(MeanMetric(EGOP(), n_starts=1), *chunked(X, np.sin(X[:, 2]), 100))
    assert mean.feature_relevance_.argmax() == 2
    assert not hasattr(mean, "classes_")


def test_a_second_fit_leaves_nothing_of_the_first():
    X, y = wine()
    mean = MeanMetric(LDA(), n_starts=1).fit(X, y)
    fit_distributed(mean, *chunked(X, y))
    assert not hasattr(mean, "estimators_")


# Partitions that cannot be fitted ----------------------------------------------------------------


def test_partitions_of_one_class_or_too_few_rows_are_left_out_with_a_warning():
    X, y = wine()
    y[:CHUNK] = 1
    with pytest.warns(UserWarning, match=r"1 of 3 partitions could not be fitted.*class") as caught:
        mean = fit_distributed(MeanMetric(LDA(), n_starts=1), *chunked(X, y))
    assert caught[0].filename == __file__
    assert_allclose(
        mean.get_mahalanobis_matrix(),
        mean_by_hand(LDA(), parts_of(X, y)[1:], seed=0),
        rtol=1e-6,
        atol=1e-9,
    )
    few = da.from_array(X, chunks=((176, 2), 13)), da.from_array(y, chunks=((176, 2),))
    with pytest.warns(UserWarning, match="1 of 2 partitions could not be fitted"):
        fit_distributed(MeanMetric(LMNN(n_neighbors=3), n_starts=1), *few)


def test_where_no_partition_can_be_fitted_the_reason_is_told():
    X, y = wine()
    with pytest.raises(ValueError, match=r"none of 3 partitions could be fitted: .*class"):
        fit_distributed(MeanMetric(LDA()), *chunked(X, 0 * y))


def test_what_is_wrong_with_rows_or_settings_is_refused_not_left_out():
    X, y = wine()
    rows, target = chunked(X, y)
    mean = MeanMetric(LDA(), n_starts=1)
    hole = X.copy()
    hole[70, 3] = np.nan
    with pytest.raises(ValueError, match="chunk 1 contains NaN or infinity"):
        fit_distributed(mean, *chunked(hole, y))
    with pytest.raises(ValueError, match="chunk 2 of X has 58 rows and that of y 57"):
        fit_distributed(mean, rows, target[:-1])
    with pytest.raises(ValueError, match=r"X has no rows"):
        fit_distributed(mean, *chunked(X[:0], y[:0]))
    with pytest.raises(ValueError, match="X must be a dask array or frame, got ndarray"):
        fit_distributed(mean, X, target)
    with pytest.raises(ValueError, match="n_components=14 is more than the 13 features"):
        fit_distributed(MeanMetric(LDA(), n_components=14), rows, target)
    with pytest.raises(ValueError, match="n_starts must be at least 1"):
        fit_distributed(MeanMetric(LDA(), n_starts=0), rows, target)
    with pytest.raises(ValueError, match="n_reference is for gradient metrics"):
        fit_distributed(mean, rows, target, n_reference=100)
    with pytest.raises(ValueError, match="must be a metric learner"):
        fit_distributed(MeanMetric(LDA), rows, target)
    with pytest.raises(ValueError, match=r"takes .*MeanMetric or AutoMetric; got LMNN\(\).*Mean"):
        fit_distributed(LMNN(), rows, target)


# AutoMetric --------------------------------------------------------------------------------------


def test_on_few_rows_the_choice_is_that_in_memory_and_the_winner_a_mean_over_partitions():
    X, y = wine()
    for seed in range(20):  # the mean of both is a candidate, too
        auto = AutoMetric({"plain": Euclidean(), "lda": LDA()}, random_state=seed)
        expected = clone(auto).fit(X, y)
        if expected.best_ == "lda":
            break
    found = fit_distributed(clone(auto), *chunked(X, y))
    told = [[row[key] for key in ("name", "score", "note")] for row in found.leaderboard_]
    assert told == [[r[key] for key in ("name", "score", "note")] for r in expected.leaderboard_]
    assert found.best_ == expected.best_ == "lda"
    assert isinstance(found.metric_, MeanMetric)
    assert_allclose(
        found.get_mahalanobis_matrix(), mean_by_hand(LDA(), parts_of(X, y), seed=0), atol=1e-8
    )
    assert_array_equal(found.classes_, [0, 1, 2])


def test_a_chosen_gradient_metric_is_fitted_to_all_rows_by_its_sums():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) * [1, 1, 5, 5, 5]
    auto = AutoMetric({"plain": Euclidean(), "egop": EGOP("analytic")}, random_state=0)
    y = np.sin(2 * X[:, 0])
    expected = clone(auto).fit(X, y)
    found = fit_distributed(clone(auto), *chunked(X, y, 100))
    assert found.best_ == expected.best_ == "egop"
    assert isinstance(found.metric_, EGOP)
    assert_allclose(found.components_, expected.components_, atol=2e-4)


def test_a_chosen_mean_of_two_learners_averages_their_fits_to_partitions():
    X, y = wine()
    candidates = {"ejop": EJOP("analytic"), "mean": MeanMetric(LDA(), n_starts=1)}
    for seed in range(20):
        auto = AutoMetric(candidates, random_state=seed)
        if clone(auto).fit(X, y).best_.startswith("mean of"):
            break
    found = fit_distributed(auto, *chunked(X, y))
    assert found.best_.startswith("mean of")
    assert {type(fit) for fit in found.metric_} == {EJOP, MeanMetric}
    each = [fit.get_mahalanobis_matrix() / near(X, fit.components_) for fit in found.metric_]
    assert_allclose(found.get_mahalanobis_matrix(), sum(each) / 2, rtol=1e-6, atol=1e-9)


def test_many_rows_are_chosen_on_a_sample_and_rare_classes_are_not_forgotten():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12000, 3))
    y = (X[:, 0] > 0).astype(int)
    y[5] = 2
    seen = []

    class Noted(Euclidean):
        def learn(self, rows):
            seen.append(rows.n_rows)
            return super().learn(rows)

    auto = fit_distributed(AutoMetric([Noted()], random_state=0), *chunked(X, y, 4000))
    # What ignores y is judged by its map of all drawn rows, and then fitted to every partition.
    assert sorted(seen) == [4000, 4000, 4000, 5000]
    assert_allclose(auto.feature_spread_, X.std(axis=0), rtol=1e-10)
    assert_array_equal(auto.classes_, [0, 1, 2])


def test_column_names_reach_a_chosen_metric():
    X, y = wine()
    names = [f"x{i}" for i in range(13)]
    table = dd.from_pandas(pd.DataFrame(X, columns=names).assign(target=y), npartitions=3)
    auto = AutoMetric([LDA(), Euclidean()], random_state=0)
    fit_distributed(auto, table[names], table.target)
    members = auto.metric_ if isinstance(auto.metric_, list) else [auto.metric_]
    assert all(list(each.feature_names_in_) == names for each in (auto, *members))
    assert auto.transform(pd.DataFrame(X, columns=names)).shape[0] == len(X)


# On two worker processes: what is lost -----------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    # Tasks stay where their rows are, so that it is known what a lost worker takes along.
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def load(part, path, action=None):
    """Return a part of wine; do something first, once for all workers."""
    if action is not None and not os.path.exists(path):
        with open(path, "w", encoding="utf-8"):
            pass
        if action == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError("the disk did not answer")
    if action == "never":
        raise OSError("the disk did not answer")
    return parts_of(*wine())[part]


def loaded(path, action):
    """Return collections of three partitions; loading the second meets with the action."""
    once = [dask.delayed(load)(i, str(path), action if i == 1 else None) for i in range(3)]
    sizes = [CHUNK, CHUNK, 178 - 2 * CHUNK]
    X = [da.from_delayed(p[0], (n, 13), float) for p, n in zip(once, sizes, strict=True)]
    y = [da.from_delayed(p[1], (n,), int) for p, n in zip(once, sizes, strict=True)]
    return da.concatenate(X), da.concatenate(y)


@pytest.mark.parametrize("action", ["die", "fail once"])
def test_a_worker_killed_or_a_load_that_fails_once_changes_nothing(client, tmp_path, action):
    pids = set(client.run(os.getpid).values())
    mean = MeanMetric(LDA(), n_starts=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_distributed(mean, *loaded(tmp_path / "once", action), client=client)
    assert (tmp_path / "once").exists()
    if action == "die":
        client.wait_for_workers(2)
        assert len(pids - set(client.run(os.getpid).values())) == 1
    expected = mean_by_hand(LDA(), parts_of(*wine()), seed=0)
    assert_allclose(mean.get_mahalanobis_matrix(), expected, rtol=1e-6, atol=1e-9)


def test_a_partition_that_cannot_be_loaded_is_left_out(client, tmp_path):
    mean = MeanMetric(LDA(), n_starts=1)
    with pytest.warns(UserWarning, match=r"1 of 3 partitions .* OSError: the disk did not answer"):
        fit_distributed(mean, *loaded(tmp_path / "once", "never"))
    parts = [part for i, part in enumerate(parts_of(*wine())) if i != 1]
    assert_allclose(
        mean.get_mahalanobis_matrix(), mean_by_hand(LDA(), parts, seed=0), rtol=1e-6, atol=1e-9
    )


class KillingLDA(LDA):
    """Kills the worker that holds the partition with a certain first row."""

    def __init__(self, first=0.0):
        self.first = first
        super().__init__()

    def learn(self, rows):
        if rows.X[0, 0] == self.first:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().learn(rows)


def test_rows_that_only_a_lost_worker_held_are_left_out(client):
    client.wait_for_workers(2)
    addresses = sorted(client.scheduler_info()["workers"])
    parts = parts_of(*wine())
    held = [
        client.scatter(part, workers=addresses[place], hash=False)
        for part, place in zip(parts, (0, 1, 0), strict=True)
    ]
    rows = [dask.delayed(tuple)(part) for part in held]
    X, y = (
        da.concatenate(
            [
                da.from_delayed(part[i], whole[i].shape, whole[i].dtype)
                for part, whole in zip(rows, parts, strict=True)
            ]
        )
        for i in range(2)
    )
    learner = MeanMetric(KillingLDA(parts[1][0][0, 0]), n_starts=1)
    with pytest.warns(UserWarning, match=r"[12] of 3 partitions could not be fitted"):
        fit_distributed(learner, X, y, client=client)
    # Which worker meets the deadly rows is the scheduler's choice; it takes its other rows along.
    left = [mean_by_hand(LDA(), some, seed=0) for some in (parts[::2], parts[:1], parts[2:])]
    found = learner.get_mahalanobis_matrix()
    assert any(np.allclose(found, mean, rtol=1e-6, atol=1e-9) for mean in left)
