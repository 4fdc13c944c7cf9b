"""Published experiments whose number of neighbours, or radius, is chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vicinal.published import Experiment
from vicinal.published._reproduce import plan_experiments, reproduce
from vicinal.runs import HNN, KNN, RunProgress

EXPERIMENT = Experiment(
    name="nobody2000_euclidean_diabetes_knn",
    table="nobody2000_table",
    citation="nobody2000",
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


@pytest.mark.usefixtures("one_process")
def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (first,) = reproduce([EXPERIMENT], tmp_path / "run")
    seen: list[RunProgress] = []
    outcomes = reproduce([EXPERIMENT, WITHIN, LEARNED], tmp_path / "run", listener=seen.append)
    assert outcomes[0].errors == first.errors
    assert all(outcome.complete for outcome in outcomes)
    assert len(outcomes[2].chosen) == 2
    ended = [(p.ended.method, p.ended.ks) for p in seen if p.ended is not None]
    assert sorted(ended) == [("euclidean", (HNN,))] * 2 + [("gw", (KNN,))] * 2


@pytest.mark.usefixtures("one_process")
def test_a_quick_run_takes_shares_in_place_of_numbers_of_rows(tmp_path: Path) -> None:
    (outcome,) = reproduce([EXPERIMENT], tmp_path / "run", quick=True)
    assert (outcome.complete, outcome.n_train, outcome.n_test) == (True, 221, 111)
