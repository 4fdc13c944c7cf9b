"""Records measured again: what holds, what moved, and by how much."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from vicinal.published import check_records, draw_folds, read_results, select_experiments
from vicinal.published._check import Remeasured
from vicinal.published._outcomes import outcome_record
from vicinal.published._reproduce import reproduce


@pytest.fixture(scope="module")
def experiments():
    return select_experiments(["trivedi2014egop_euclidean_sines_growth_hnn_n500"])


@pytest.fixture(scope="module")
def record(experiments, tmp_path_factory):
    (outcome,) = reproduce(experiments, tmp_path_factory.mktemp("run") / "run")
    return outcome_record(outcome)


def test_a_record_of_this_code_holds(experiments, record, tmp_path):
    drawn = draw_folds([record], 3, seed=0)
    assert len({fold for _, fold in drawn}) == 3
    remeasured = check_records(drawn, experiments, tmp_path / "check")
    assert not any(each.moved for each in remeasured)
    assert all(each.describe().endswith("as recorded") for each in remeasured)


def test_a_record_of_other_figures_is_named(experiments, record, tmp_path):
    false = record | {"errors": [error + 0.5 for error in record["errors"]], "code": "abc"}
    (only,) = check_records(draw_folds([false], 1, seed=1), experiments, tmp_path / "check")
    assert only.moved_far
    assert "moved (recorded by code abc)" in only.describe()


def test_what_costs_much_or_failed_is_not_drawn(record):
    assert (
        draw_folds([record | {"fit_cpu_seconds": 99.0}, record | {"status": "failed"}], 5, 0) == []
    )
    assert len(draw_folds([record], 10**6, 0)) == len(record["errors"])


def test_noise_is_that_of_a_share_over_its_test_rows():
    within = Remeasured("a", 0, 0.20, 0.22, math.sqrt(0.2 * 0.8 / 300), "")
    assert within.moved
    assert not within.moved_far
    assert Remeasured("a", 0, 0.20, 0.25, within.noise, "").moved_far
    failed = Remeasured("a", 0, 0.20, math.nan, 0.1, "", "no rows")
    assert failed.moved_far
    assert "not measured: no rows" in failed.describe()


@pytest.mark.skipif(
    "VICINAL_DATA" not in os.environ, reason="needs the data sets: set VICINAL_DATA"
)
def test_three_records_of_small_sets_still_hold(tmp_path):
    results = read_results(Path(__file__).parents[2] / "docs" / "results")
    small = [r for r in results if r.get("code") and r["n_train"] < 500]
    drawn = draw_folds(small, 3, seed=5, most_seconds=5.0)
    experiments = select_experiments(["all"])
    for each in check_records(drawn, experiments, tmp_path / "check"):
        assert not each.moved_far, each.describe()
