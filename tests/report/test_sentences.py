"""The finding in words: every outcome of a comparison has its own honest sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vicinal.report import Comparison, Duel, Row, best_neighbors, best_row, mark_best
from vicinal.report._sentences import list_blind, list_caveats, summarize

MakeRow = Callable[..., Row]
MakeComparison = Callable[..., Comparison]

MLNG: dict[str, Any] = {
    "method": "mlng", "title": "MLNG", "error_mean": 0.021, "gain": 0.028, "p_value": 0.001,
    "fit_cpu_seconds": 3.2,
}  # fmt: skip
FAILED: dict[str, Any] = {
    "method": "nca", "title": "NCA", "errors": (), "error_mean": math.nan, "error_sd": math.nan,
    "status": "failed", "message": "out of memory",
}  # fmt: skip


def words(comparison: Comparison) -> str:
    return summarize(comparison).replace("\u00a0", " ")


def test_a_clear_gain_is_stated_with_its_test_and_its_cost(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    assert words(make_comparison(make_row(), make_row(**MLNG))) == (
        "MLNG cuts the 3-NN error on letter from 4.9 % to 2.1 % (paired test p = 0.001), "
        "for 3.2 CPU-seconds of fitting."
    )


def test_a_gain_that_may_be_noise_is_not_called_a_cut(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    row = make_row(**MLNG | {"error_mean": 0.047, "p_value": 0.31})
    assert words(make_comparison(make_row(), row)) == (
        "MLNG has the smallest 3-NN error on letter, 4.7 % against 4.9 % for plain Euclidean "
        "distance, but the difference cannot be told from noise (paired test p = 0.31)."
    )


def test_without_a_p_value_no_claim_is_made_about_noise(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    for missing in (None, math.nan):
        row = make_row(**MLNG | {"p_value": missing, "errors": (0.021,)})
        assert words(make_comparison(make_row(errors=(0.049,)), row)) == (
            "MLNG cuts the 3-NN error on letter from 4.9 % to 2.1 %, for 3.2 CPU-seconds of "
            "fitting; whether that is more than noise could not be tested."
        )


def test_a_loss_is_stated_as_one(make_row: MakeRow, make_comparison: MakeComparison) -> None:
    row = make_row(**MLNG | {"error_mean": 0.062, "gain": -0.013, "p_value": 0.002})
    assert words(make_comparison(make_row(), row)) == (
        "No learned metric does better than plain Euclidean distance on letter: its 3-NN error "
        "of 4.9 % is the smallest; the closest, MLNG, has 6.2 %, clearly more "
        "(paired test p = 0.002)."
    )


def test_a_loss_within_noise_says_so(make_row: MakeRow, make_comparison: MakeComparison) -> None:
    row = make_row(**MLNG | {"error_mean": 0.050, "gain": -0.001, "p_value": 0.6})
    assert words(make_comparison(make_row(), row)).endswith(
        "MLNG, has 5.0 %, which cannot be told from noise (paired test p = 0.60)."
    )


def test_a_rival_at_another_k_is_named_with_its_k_and_without_a_test(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    rows = (
        make_row(),
        make_row(k=7, error_mean=0.06),
        make_row(**MLNG | {"k": 7, "error_mean": 0.055}),
    )
    assert words(make_comparison(*rows)).endswith("the closest, MLNG (at k = 7), has 5.5 %.")


def test_a_tie_goes_to_the_plain_distance(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    comparison = make_comparison(make_row(**MLNG | {"error_mean": 0.049}), make_row())
    assert best_row(comparison.rows) == comparison.rows[1]
    assert words(comparison) == (
        "No learned metric does better than plain Euclidean distance on letter: MLNG only equals "
        "its 3-NN error of 4.9 %."
    )


def test_the_euclidean_distance_alone_is_reported_as_such(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    head = "Plain Euclidean distance has a 3-NN error of 4.9 % on letter; "
    assert words(make_comparison(make_row())) == head + "no learned metric was compared."
    assert words(make_comparison(make_row(), make_row(**FAILED))) == (
        head + "every learned metric failed, and the table says why."
    )


def test_without_a_euclidean_row_the_gain_is_not_known(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    expected = (
        "MLNG has the smallest 3-NN error on letter: 2.1 %. Plain Euclidean distance was not "
        "measured, so what was gained is not known."
    )
    mlng = make_row(**MLNG | {"gain": None, "p_value": None})
    failed = make_row(**FAILED | {"method": "euclidean", "title": "Euclidean"})
    assert words(make_comparison(mlng)) == expected
    assert words(make_comparison(mlng, failed)) == expected


def test_all_failing_and_nothing_run_are_said_plainly(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    other = FAILED | {"method": "lda"}
    assert words(make_comparison()) == "Nothing was measured on letter."
    assert words(make_comparison(make_row(**FAILED), make_row(**FAILED | {"k": 7}))) == (
        "The only method failed on letter; the table says why."
    )
    assert words(make_comparison(make_row(**FAILED), make_row(**other))) == (
        "All 2 methods failed on letter; the table says why."
    )
    assert list_caveats(make_comparison(make_row(**FAILED))) == []


def test_regression_speaks_of_nmse_without_percent(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    rows = make_row(error_mean=0.312), make_row(**MLNG | {"error_mean": 0.1204})
    assert words(make_comparison(*rows, task="regression", dataset="puma")) == (
        "MLNG cuts the 3-NN error (nMSE) on puma from 0.312 to 0.120 (paired test p = 0.001), "
        "for 3.2 CPU-seconds of fitting."
    )


def test_answers_that_are_numbers_are_off_by_so_much_in_their_own_unit(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    plain = make_row(error_mean=0.5, scores={"error": 0.5, "mae": 79012.0})
    egop = make_row(method="egop", title="EGOP", error_mean=0.2, scores={"mae": 39261.0})
    flats = make_comparison(plain, egop, task="regression", unit="€")
    assert words(flats).endswith(" Its answers are off by 39,300 € on average instead of 79,000 €.")
    alone = make_comparison(egop, task="regression")
    assert words(alone).endswith(" Its answers are off by 39,300 on average.")
    ranked_by_it = make_comparison(plain, egop, task="regression", unit="€", loss="mae")
    assert "on average" not in words(ranked_by_it)  # the sentence before has said so


def test_a_cost_that_was_not_measured_is_not_made_up(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    row = make_row(**MLNG | {"fit_cpu_seconds": math.nan})
    assert words(make_comparison(make_row(), row)).endswith("at a cost that was not measured.")


def test_a_row_that_lacks_folds_does_not_win_against_whole_ones(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    lucky = make_row(**MLNG | {"error_mean": 0.001, "status": "partial", "title": "Lucky"})
    whole = make_row(**MLNG | {"method": "lda", "title": "LDA"})
    assert words(make_comparison(make_row(), lucky, whole)).startswith("LDA cuts")
    assert words(make_comparison(lucky)).startswith("Lucky has the smallest")
    assert "Some folds failed for Lucky" in " ".join(
        list_caveats(make_comparison(make_row(), lucky, whole))
    )


def test_the_best_is_set_against_euclidean_at_its_own_best_k(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    rows = make_row(), make_row(k=1, error_mean=0.045), make_row(**MLNG)
    duels = (Duel("euclidean", 0.01),)
    said = words(replace(make_comparison(*rows), duels=duels))
    assert "from 4.5 % (Euclidean at k = 1) to 2.1 % (paired test p = 0.010)" in said
    noise = words(replace(make_comparison(*rows), duels=(Duel("euclidean", 0.3),)))
    assert "against 4.5 % for plain Euclidean distance (at k = 1), but the difference" in noise
    assert list_caveats(make_comparison(make_row(), make_row(**MLNG))) == []


def test_errors_that_differ_by_rounding_are_ties(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    rows = make_row(error_mean=0.04), make_row(**MLNG | {"error_mean": 0.039999999999999994})
    assert best_row(rows) is rows[0]
    assert [row.best for row in mark_best(rows)] == [True, True]
    assert "only equals its 3-NN error of 4.0 %" in words(make_comparison(*rows))


def test_a_majority_that_does_as_well_is_said(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    comparison = make_comparison(make_row(), make_row(**MLNG))
    assert list_blind(replace(comparison, majority={"error": 0.5})) == []
    (said,) = list_blind(replace(comparison, majority={"error": 0.02}))
    assert said.replace("\u00a0", " ").startswith(
        "Always predicting the most frequent class does as well: 2.0 %."
    )


def test_failures_shortcuts_and_notes_stand_below_the_finding(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    comparison = make_comparison(
        make_row(),
        make_row(**MLNG | {"notes": ("fitted on 2,000 rows",)}),
        make_row(**FAILED),
        make_row(**MLNG | {"k": 7, "status": "failed"}),
        notes=("Rows with missing values were left out.",),
    )
    assert [caveat.replace("\u00a0", " ") for caveat in list_caveats(comparison)] == [
        "Not measured: NCA and MLNG at k = 7. The table says why.",
        "MLNG: fitted on 2,000 rows",
        "Rows with missing values were left out.",
    ]


def test_a_data_set_with_an_endless_name_is_shortened(make_comparison: MakeComparison) -> None:
    assert len(words(make_comparison(dataset="x" * 10_000))) < 200


def test_where_neighbours_stand_against_references_is_said_with_its_test(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    ours = make_row(method="mlng", title="MLNG", error_mean=0.03, gain=0.019, p_value=0.001)
    worse = make_row(method="svm", title="SVM", k=None, error_mean=0.04, reference=True)
    better = make_row(method="hgb", title="boosting", k=None, error_mean=0.01, reference=True)
    told = list_caveats(make_comparison(make_row(), ours, worse, duels=(Duel("svm", 0.2),)))
    assert told[0].replace("\u00a0", " ") == (
        "None of the references does better than MLNG at k = 3 (3.0 %); the closest is SVM, 4.0 %, "
        "which cannot be told from noise (paired test p = 0.20)."
    )
    both = make_comparison(make_row(), ours, worse, better, duels=(Duel("hgb", 0.001),))
    assert list_caveats(both)[0].replace("\u00a0", " ") == (
        "At least as good as MLNG at k = 3 (3.0 %): 1 of 2 references; the best is boosting, "
        "1.0 %, more than noise (paired test p = 0.001)."
    )
    assert summarize(both).startswith("MLNG cuts the 3-NN error")
    best = best_neighbors(both.rows)
    assert best is not None
    assert best.method == "mlng"
