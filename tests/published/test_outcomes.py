"""Published beside measured: units, differences and verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal.published import select_experiments
from vicinal.published._outcomes import Outcome, count_verdicts, outcome_record, tally

(LETTER,) = select_experiments(["trivedi2014_mlng_letter_zscore_k3"])  # 2.32 ± 0.1 %
(ISOLET,) = select_experiments(["trivedi2014_mlng_isolet_zscore_k3"])  # 4.87 %, 1,559 test rows
SHARES = st.floats(0, 1)


def test_percent_and_shares_meet_in_one_unit() -> None:
    outcome = Outcome(LETTER, (0.02, 0.03), expected=2)
    assert outcome.published == pytest.approx(0.0232)
    assert outcome.measured == pytest.approx(0.025)
    assert outcome.difference == pytest.approx(0.0018)
    assert outcome.spread == pytest.approx(0.001)


@given(st.lists(SHARES, min_size=2, max_size=12))
def test_mean_and_deviation_are_numpys(errors: list[float]) -> None:
    outcome = Outcome(LETTER, tuple(errors), expected=len(errors))
    assert outcome.measured == pytest.approx(np.mean(errors))
    assert outcome.deviation == pytest.approx(np.std(errors, ddof=1), abs=1e-12)


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (0.0232, "within"),
        (0.0242, "within"),
        (0.0222, "within"),
        (0.0245, "higher"),
        (0.02, "lower"),
    ],
)
def test_the_verdict_is_about_the_published_spread(measured: float, verdict: str) -> None:
    assert Outcome(LETTER, (measured,) * 5, expected=5).verdict == verdict


def test_without_a_printed_spread_the_size_of_the_test_part_decides() -> None:
    one_sd = math.sqrt(0.0487 * (1 - 0.0487) / 1559)
    near, far = 0.0487 + 0.9 * one_sd, 0.0487 + 1.1 * one_sd
    assert Outcome(ISOLET, (near,), expected=1, n_test=1559).verdict == "within"
    assert Outcome(ISOLET, (far,), expected=1, n_test=1559).verdict == "higher"
    assert Outcome(ISOLET, (far,), expected=1).verdict is None


def test_a_quick_or_partial_run_gets_no_verdict() -> None:
    assert Outcome(LETTER, (0.0232,) * 2, expected=2, quick=True).verdict is None
    assert Outcome(LETTER, (0.0232,) * 2, expected=5).verdict is None


def test_regression_figures_are_not_divided_by_a_hundred() -> None:
    regression = replace(LETTER, unit="nmse", error=0.18, spread=0.02)
    outcome = Outcome(regression, (0.19, 0.19), expected=2)
    assert outcome.published == 0.18
    assert outcome.verdict == "within"
    assert Outcome(replace(regression, spread=None), (0.19,), 1, n_test=100).verdict is None


def test_records_are_strict_json_even_where_nothing_was_measured() -> None:
    failed = outcome_record(Outcome(LETTER, (), expected=5, messages=("no memory",)))
    assert json.loads(json.dumps(failed, allow_nan=False)) == failed
    assert (failed["status"], failed["error_mean"], failed["message"]) == (
        "failed",
        None,
        "no memory",
    )
    assert outcome_record(Outcome(LETTER, (0.1,), expected=5))["status"] == "partial"


def test_records_carry_what_every_json_output_of_the_commands_carries() -> None:
    record = outcome_record(Outcome(LETTER, (0.02,) * 5, expected=5, fit_seconds=1.0))
    promised = {"dataset", "method", "k", "error_mean", "error_sd", "fit_seconds"}
    assert promised | {"n_train", "n_test", "seed", "version"} <= record.keys()


def test_verdicts_are_counted() -> None:
    records = [
        outcome_record(Outcome(LETTER, (error,) * 5, expected=5))
        for error in (0.01, 0.023, 0.5, 0.6)
    ]
    assert count_verdicts(records) == {"lower": 1, "within": 1, "higher": 2}
    assert tally(records).startswith("2 of 4 errors are below the published ones, 1 by more than")
    failed = outcome_record(Outcome(LETTER, (), expected=5))
    assert tally([failed]).startswith("0 of 1 ")
