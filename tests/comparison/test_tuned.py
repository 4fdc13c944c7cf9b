"""Numbers of neighbours and radii chosen on the training part: oracles, one fit, resumption."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import euclidean_distances

from vicinal._types import AnyArray, Task
from vicinal.comparison._execute import Executor
from vicinal.comparison._tuned import (
    KS,
    Half,
    Mapped,
    candidate_radii,
    choose_k,
    choose_radius,
    follow_nearest,
    nearest,
    radius_errors,
    split_in_halves,
    squared_distances,
)
from vicinal.data._protocols import kfold
from vicinal.experiments._published import Experiment
from vicinal.experiments._reproduce import plan_experiments, reproduce
from vicinal.predict import RadiusClassifier, RadiusRegressor
from vicinal.runs._cells import (
    HNN,
    KNN,
    Cell,
    Setting,
    Source,
    cell_from_json,
    cell_to_json,
    record_key,
)
from vicinal.runs._meter import Elapsed
from vicinal.runs._runner import Progress

DIABETES = Setting(
    Source("diabetes"),
    preparation={"scale": "zscore"},
    protocol="repeated",
    folds={"n_repeats": 2, "train_size": 200, "test_size": 100},
)
EXPERIMENT = Experiment(
    name="nobody2000_euclidean_diabetes_knn",
    citation="nobody2000",
    document="nobody2000",
    table="table:nobody, k-NN",
    line=1,
    dataset="diabetes",
    protocol="repeated",
    folds={"n_repeats": 2, "train_size": 200, "test_size": 100, "seed": 0},
    preparation={"scale": "zscore"},
    method="euclidean",
    parameters={},
    k=KNN,
    error=0.5,
    spread=0.1,
    unit="nmse",
)
WITHIN = replace(EXPERIMENT, name="nobody2000_euclidean_diabetes_hnn", k=HNN)
LEARNED = replace(
    EXPERIMENT,
    name="nobody2000_gw_diabetes_knn",
    method="gw",
    parameters={"estimator": "analytic", "bandwidth": "rule"},
)


def made_up(task: Task, n: int = 120) -> tuple[AnyArray, AnyArray]:
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 3))
    score = X[:, 0] + 0.3 * random.normal(size=n)
    return X, np.digitize(score, [-0.5, 0.5]) if task == "classification" else score


@given(st.integers(0, 1000), st.integers(1, 8))
def test_squared_distances_are_scikit_learns(seed: int, d: int) -> None:
    random = np.random.default_rng(seed)
    A, B = 100 + random.normal(size=(5, d)), 100 + random.normal(size=(7, d))
    assert_allclose(squared_distances(A, B), euclidean_distances(A, B) ** 2, atol=1e-8)


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 12))
def test_the_nearest_are_those_of_a_whole_sort(seed: int, k: int) -> None:
    squared = np.random.default_rng(seed).random((6, 9))
    assert_array_equal(nearest(squared, k), np.argsort(squared, axis=1)[:, :k])


def vote(labels: AnyArray) -> int:
    """The commonest label; of several, the one that comes first."""
    return int(max(labels, key=lambda label: (labels == label).sum()))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_number_of_neighbours_is_the_best_of_two_folds(task: Task) -> None:
    X, y = made_up(task)
    labels = y if task == "classification" else None
    totals = []
    for k in (k for k in KS if k <= len(y) // 2):
        errors = []
        for fold in kfold(len(y), 2, labels=labels, seed=0):
            order = np.argsort(euclidean_distances(X[fold.test], X[fold.train]), axis=1)[:, :k]
            near, truth = y[fold.train][order], y[fold.test]
            if labels is None:
                errors.append(np.mean((near.mean(axis=1) - truth) ** 2) / truth.var())
            else:
                errors.append(np.mean([vote(row) for row in near] != truth))
        totals.append((np.mean(errors), k))
    assert choose_k(split_in_halves(X, y, task, 0), task) == min(totals)[1]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_errors_within_a_radius_are_those_of_the_predictor(task: Task) -> None:
    X, y = made_up(task)
    fold = kfold(len(y), 2, labels=y if task == "classification" else None, seed=0)[0]
    half = Half(squared_distances(X[fold.test], X[fold.train]), y[fold.train], y[fold.test])
    radii = np.array([0.2, 0.7, 1.5])
    errors = radius_errors(half, radii**2, task)
    model = RadiusClassifier if task == "classification" else RadiusRegressor
    for radius, error in zip(radii, errors, strict=True):
        predicted = model(radius).fit(X[fold.train], y[fold.train]).predict(X[fold.test])
        alone = half.squared.min(axis=1) > radius**2
        predicted = np.where(alone, half.targets[half.squared.argmin(axis=1)], predicted)
        truth = half.truth
        if task == "regression":
            assert error == pytest.approx(np.mean((predicted - truth) ** 2) / truth.var())
        else:  # ties the nearest row is no part of may fall otherwise
            assert error == pytest.approx(np.mean(predicted != truth), abs=0.05)


def test_radii_reach_from_half_a_row_to_half_of_all() -> None:
    X, y = made_up("regression")
    halves = split_in_halves(X, y, "regression", 0)
    radii = candidate_radii(halves)
    assert np.all(np.diff(radii) > 0)
    shares = [np.mean([(h.squared <= r).mean() for h in halves]) for r in radii]
    assert shares[0] < 1.5 / 60
    assert shares[-1] == pytest.approx(0.5, abs=0.01)
    assert choose_radius(halves, "regression") ** 2 == pytest.approx(
        radii[np.argmin(np.mean([radius_errors(h, radii, "regression") for h in halves], axis=0))]
    )


def test_a_query_without_neighbours_follows_the_nearest_row() -> None:
    mapped = Mapped(np.array([[0.0], [1.0], [5.0]]), np.array([[0.4], [4.0]]), Elapsed(0.0, 0.0))
    predicted, alone = follow_nearest(np.array([7.0, 8.0]), 0.5, mapped, np.array([1.0, 2.0, 3.0]))
    assert_array_equal(alone, [False, True])
    assert_array_equal(predicted, [7.0, 3.0])


def test_rows_that_are_all_equal_leave_a_radius() -> None:
    halves = split_in_halves(np.ones((20, 2)), np.arange(20.0), "regression", 0)
    assert choose_radius(halves, "regression") == 1.0


def test_one_fit_gives_a_record_for_each_kind_with_what_it_chose() -> None:
    cell = Cell(DIABETES, 0, "gw", (HNN, KNN), {"estimator": "analytic", "bandwidth": "rule"})
    within, nearest_k = Executor().run(cell)
    assert [within["k"], nearest_k["k"]] == [HNN, KNN]
    assert within["status"] == nearest_k["status"] == "ok"
    assert within["fit_cpu_seconds"] == nearest_k["fit_cpu_seconds"] > 0
    assert nearest_k["chosen"] in KS
    assert within["chosen"] > 0
    assert (nearest_k["n_train"], nearest_k["n_test"], nearest_k["n_fallbacks"]) == (200, 100, 0)
    assert 0.3 < nearest_k["error"] < 1
    json.dumps([within, nearest_k], allow_nan=False)


def test_a_kind_nobody_knows_is_a_failed_record() -> None:
    (record,) = Executor().run(Cell(DIABETES, 0, "euclidean", ("parzen",)))
    assert record["status"] == "failed"
    assert "'knn' or 'hnn', got 'parzen'" in record["message"]


def test_cells_survive_the_way_to_a_worker() -> None:
    source = Source("page_blocks", sides="text | rest", n_features=4)
    cell = Cell(replace(DIABETES, source=source), 1, "egop", (HNN, KNN))
    assert cell_from_json(json.loads(json.dumps(cell_to_json(cell)))) == cell


def test_a_view_makes_other_results_and_none_leaves_the_keys_as_they_were() -> None:
    plain = Cell(DIABETES, 0, "euclidean", (3,))
    viewed = replace(plain, setting=replace(DIABETES, source=Source("diabetes", n_features=2)))
    assert record_key(plain, 3) != record_key(viewed, 3)
    assert "n_features" not in DIABETES.identify()["source"]


def test_both_kinds_share_a_fit_and_numbers_of_neighbours_have_their_own() -> None:
    number = replace(EXPERIMENT, name="nobody2000_euclidean_diabetes_k3", k=3)
    cells = plan_experiments([EXPERIMENT, WITHIN, number])
    assert sorted((cell.fold, cell.ks) for cell in cells if cell.tuned) == [
        (0, (HNN, KNN)),
        (1, (HNN, KNN)),
    ]
    assert sorted((cell.fold, cell.ks) for cell in cells if not cell.tuned) == [
        (0, (3,)),
        (1, (3,)),
    ]


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (first,) = reproduce([EXPERIMENT], tmp_path / "run")
    seen: list[Progress] = []
    outcomes = reproduce([EXPERIMENT, WITHIN, LEARNED], tmp_path / "run", listener=seen.append)
    assert outcomes[0].errors == first.errors
    assert all(outcome.complete for outcome in outcomes)
    assert len(outcomes[2].chosen) == 2
    ended = [(p.ended.method, p.ended.ks) for p in seen if p.ended is not None]
    assert sorted(ended) == [("euclidean", (HNN,))] * 2 + [("gw", (KNN,))] * 2


def test_a_quick_run_takes_shares_in_place_of_numbers_of_rows(tmp_path: Path) -> None:
    (outcome,) = reproduce([EXPERIMENT], tmp_path / "run", quick=True)
    assert (outcome.complete, outcome.n_train, outcome.n_test) == (True, 221, 111)
