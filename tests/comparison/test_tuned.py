"""Numbers of neighbours and radii chosen on the training part: oracles, one fit, ties."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import euclidean_distances

from vicinal._types import AnyArray, Fold, Task
from vicinal.comparison import Measurer, _tuned
from vicinal.comparison._tuned import (
    KS,
    candidate_radii,
    choose_k,
    choose_radius,
    predict_within,
)
from vicinal.data import kfold
from vicinal.predict import RadiusClassifier, RadiusRegressor
from vicinal.runs import HNN, KNN, Cell, Setting, Source, record_from_json, record_key

DIABETES = Setting(
    Source("diabetes"),
    preparation={"scale": "zscore"},
    protocol="repeated",
    folds={"n_repeats": 2, "train_size": 200, "test_size": 100},
)


def made_up(task: Task, n: int = 120) -> tuple[AnyArray, AnyArray, tuple[Fold, ...]]:
    """Return rows, targets and the two halves they are judged by."""
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 3))
    score = X[:, 0] + 0.3 * random.normal(size=n)
    y = np.digitize(score, [-0.5, 0.5]) if task == "classification" else score
    labels = y.astype(np.int64) if task == "classification" else None
    return X, y, kfold(n, 2, labels=labels, seed=0)


def error_of(predicted: AnyArray, truth: AnyArray, task: Task) -> float:
    if task == "classification":
        return float(np.mean(predicted != truth))
    return float(np.mean((predicted - truth) ** 2) / truth.var())


def vote(labels: AnyArray) -> int:
    """The commonest label; of several, the one that comes first."""
    return int(max(labels, key=lambda label: (labels == label).sum()))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_number_of_neighbours_is_the_best_of_two_folds(task: Task) -> None:
    X, y, halves = made_up(task)
    totals = []
    for k in (k for k in KS if k <= len(y) // 2):
        errors = []
        for fold in halves:
            order = np.argsort(euclidean_distances(X[fold.test], X[fold.train]), axis=1)[:, :k]
            near = y[fold.train][order]
            found = near.mean(axis=1) if task == "regression" else [vote(row) for row in near]
            errors.append(error_of(np.asarray(found), y[fold.test], task))
        totals.append((np.mean(errors), k))
    assert choose_k(X, y, task, halves) == min(totals)[1]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("block", [2**22, 100])
def test_predictions_within_a_radius_are_the_predictors_own(task: Task, block, monkeypatch) -> None:
    monkeypatch.setattr(_tuned, "MOST_PAIRS", block)
    X, y, (fold, _) = made_up(task)
    parts = X[fold.train], y[fold.train], X[fold.test]
    distances = euclidean_distances(parts[2], parts[0])
    model = RadiusClassifier if task == "classification" else RadiusRegressor
    for radius in (0.2, 0.7, 1.5):
        expected = model(radius).fit(*parts[:2]).predict(parts[2])
        alone = distances.min(axis=1) > radius
        expected = np.where(alone, parts[1][distances.argmin(axis=1)], expected)
        predicted, found = predict_within(radius, *parts, task)
        assert_array_equal(predicted, expected)
        assert_array_equal(found, alone)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_radius_is_the_best_of_two_folds(task: Task) -> None:
    X, y, halves = made_up(task)
    radii = candidate_radii(X, halves)
    assert np.all(np.diff(radii) > 0)
    pairs = [euclidean_distances(X[half.test], X[half.train]) for half in halves]
    shares = [np.mean([(each <= r).mean() for each in pairs]) for r in radii]
    assert shares[0] < 1.5 / 60
    assert shares[-1] == pytest.approx(0.5, abs=0.01)
    errors = []
    for radius in radii:
        found = [predict_within(radius, X[h.train], y[h.train], X[h.test], task) for h in halves]
        each = [error_of(f[0], y[h.test], task) for f, h in zip(found, halves, strict=True)]
        errors.append(np.mean(each))
    assert choose_radius(X, y, task, halves) == radii[int(np.argmin(errors))]


def test_radii_of_a_part_of_the_pairs_are_close_to_those_of_all(monkeypatch) -> None:
    X, _, halves = made_up("regression", n=1200)
    whole = candidate_radii(X, halves)
    monkeypatch.setattr(_tuned, "MOST_PAIRS", 40_000)
    part = candidate_radii(X, halves)
    np.testing.assert_allclose(part[5:], whole[5:], rtol=0.1)


def test_a_query_without_neighbours_follows_the_nearest_row() -> None:
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([1.0, 2.0, 3.0])
    predicted, alone = predict_within(0.5, X, y, np.array([[0.4], [4.0]]), "regression")
    assert_array_equal(alone, [False, True])
    assert_array_equal(predicted, [1.0, 3.0])


def test_a_tie_within_the_radius_goes_to_the_nearest_of_the_tied() -> None:
    X, y = np.array([[0.1], [0.2], [0.3], [0.4], [0.05]]), np.array([0, 1, 1, 0, 2])
    predicted, _ = predict_within(1.0, X, y, np.array([[0.0]]), "classification")
    assert_array_equal(predicted, [0])


def test_rows_that_are_all_equal_leave_a_radius() -> None:
    halves = kfold(20, 2, seed=0)
    assert choose_radius(np.ones((20, 2)), np.arange(20.0), "regression", halves) == 1.0


def test_one_fit_gives_a_record_for_each_kind_with_what_it_chose() -> None:
    cell = Cell(DIABETES, 0, "gw", (HNN, KNN), {"estimator": "analytic", "bandwidth": "rule"})
    within, nearest_k = Measurer().measure(cell)
    assert [within["k"], nearest_k["k"]] == [HNN, KNN]
    assert within["status"] == nearest_k["status"] == "ok"
    assert within["fit_cpu_seconds"] == nearest_k["fit_cpu_seconds"] > 0
    assert nearest_k["chosen"] in KS
    assert within["chosen"] > 0
    assert (nearest_k["n_train"], nearest_k["n_test"], nearest_k["n_fallbacks"]) == (200, 100, 0)
    assert 0.3 < nearest_k["error"] < 1
    json.dumps([within, nearest_k], allow_nan=False)


def test_a_kind_nobody_knows_is_a_failed_record() -> None:
    (record,) = Measurer().measure(Cell(DIABETES, 0, "euclidean", ("parzen",)))
    assert record["status"] == "failed"
    assert "'knn' or 'hnn', got 'parzen'" in record["message"]


def test_cells_survive_the_way_to_a_worker() -> None:
    source = Source("page_blocks", sides="text | rest", n_features=4)
    cell = Cell(replace(DIABETES, source=source), 1, "egop", (HNN, KNN))
    assert record_from_json(Cell, json.loads(json.dumps(asdict(cell)))) == cell


def test_a_view_makes_other_results_and_none_leaves_the_keys_as_they_were() -> None:
    plain = Cell(DIABETES, 0, "euclidean", (3,))
    viewed = replace(plain, setting=replace(DIABETES, source=Source("diabetes", n_features=2)))
    assert record_key(plain, 3) != record_key(viewed, 3)
    assert "n_features" not in DIABETES.identify()["source"]
