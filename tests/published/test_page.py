"""The results page says what the records say, and nothing of a quick run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from vicinal.published import (
    Outcome,
    figure,
    outcome_record,
    read_results,
    records_citing,
    results_markdown,
    select_experiments,
    signed,
)


def records_of(*names: str, share: float = 0.02, quick: bool = False) -> list[dict[str, object]]:
    return [
        outcome_record(Outcome(e, (share, share + 0.002), expected=2, n_test=1000, quick=quick))
        for e in select_experiments(names)
    ]


def table_rows(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("| ") and "---" not in line]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "method"]


def test_a_row_holds_published_measured_and_difference() -> None:
    page = results_markdown(records_of("trivedi2014_mlng_letter_zscore_k3"))
    (row,) = table_rows(page)
    assert row == [
        "MLNG",
        "letter",
        "3",
        "2.32 ± 0.1",
        "2.10 ± 0.1",
        "−0.22",
        "lower",
        "GB-LMNN 2.92",
    ]


def test_a_variant_is_a_second_measured_column_once_it_has_records() -> None:
    plain = {e.k: e for e in select_experiments(["*_mlng_letter_zscore_*"])}
    (variant,) = select_experiments(["trivedi2014_mlng-as-published_letter_zscore_k3"])
    own = [outcome_record(Outcome(plain[k], (0.02,) * 5, expected=5)) for k in (3, 7)]
    assert "as published |" not in results_markdown(own)
    record = outcome_record(Outcome(variant, (0.023,) * 5, expected=5))
    page = results_markdown([*own, record])
    assert "| spread | measured, as published | best other published |" in page
    cells = [row[2:8] for row in table_rows(page)]
    assert cells == [
        ["3", "2.32 ± 0.1", "2.00 ± 0.0", "−0.32", "lower", "2.30 ± 0.0 (−0.02)"],
        ["7", "2.54 ± 0.1", "2.00 ± 0.0", "−0.54", "lower", "–"],
    ]
    assert "MLNG as published: 1 of 1 errors are below" in page
    (alone,) = table_rows(results_markdown([record]))
    assert alone[3:8] == ["2.32 ± 0.1", "–", "–", "–", "2.30 ± 0.0 (−0.02)"]


def test_a_method_that_is_not_printed_is_a_column_beside_the_one_that_is() -> None:
    own = records_of("trivedi2014_mlng_letter_zscore_k3")
    beside = records_of("trivedi2014_lda_letter_zscore_k3", share=0.03)
    page = results_markdown([*own, *beside])
    assert "| spread | measured, LDA | best other published |" in page
    (row,) = table_rows(page)
    assert row[0] == "MLNG"
    assert row[4] == "2.10 ± 0.1"
    assert row[7] == "3.10 ± 0.1 (+0.78)"
    assert "LDA: " not in page  # what is not printed cannot be below what is printed
    (alone,) = table_rows(results_markdown(beside))
    assert alone[:5] == ["MLNG", "letter", "3", "2.32 ± 0.1", "–"]
    assert "letter (k = 3, 7, 11)" in results_markdown(beside)  # of MLNG's own, none is measured


def test_seconds_stand_beside_the_published_ones_of_their_k() -> None:
    outcomes = [
        Outcome(e, (0.02, 0.03), expected=2, fit_cpu_seconds=seconds)
        for name, seconds in (("lmnn_letter", 2.345), ("mlng_letter", 3.0), ("lmnn_dslr", 0.5))
        for e in select_experiments([f"trivedi2014_{name}_zscore_*"])
    ]
    page = results_markdown(outcome_record(outcome) for outcome in outcomes)
    assert "Seconds of a fit at k = 7" in page
    assert "| data set | LMNN | MLNG |" in page
    assert "| letter | 2.35 (180) | 3 (6657) |" in page
    assert "| dslr | 0.5 (358) | – |" in page


def test_every_record_has_one_row_and_every_table_its_section() -> None:
    picked = [f"trivedi2014:{m}:{d}" for m in ("euclidean", "mlng") for d in ("letter", "isolet")]
    records = records_of(*picked)
    assert len(records) == 24
    page = results_markdown(records)
    assert len(table_rows(page)) == len(records)
    assert re.findall(r"^## (.*)$", page, flags=re.MULTILINE) == [
        "Features z-scored",
        "Features as they come",
        "What the sources leave open",
    ]


def test_the_page_depends_on_the_records_not_on_their_order() -> None:
    records = records_of("mlng")
    assert results_markdown(records) == results_markdown(records[::-1])


def test_the_summary_counts_cells() -> None:
    page = results_markdown(records_of("*_mlng_letter_zscore_*"))
    assert "MLNG: 3 of 3 errors are below the published ones, 3 by more than the spread; " in page


def test_each_doubt_is_told_once() -> None:
    page = results_markdown(records_of("letter"))
    assert page.count("folds and their seeds are not published") == 1


def test_a_failed_experiment_is_shown_as_failed() -> None:
    (experiment,) = select_experiments(["trivedi2014_mlng_letter_zscore_k3"])
    page = results_markdown([outcome_record(Outcome(experiment, (), expected=5))])
    assert table_rows(page)[0][4:7] == ["–", "–", "failed"]


def test_figures_of_a_quick_run_never_reach_a_page() -> None:
    with pytest.raises(ValueError, match=r"on a subsample \(quick\)"):
        results_markdown(records_of("letter", quick=True))


def test_records_are_read_from_all_files_of_a_folder(tmp_path: Path) -> None:
    for number, name in enumerate(("letter", "usps")):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps({"records": records_of(f"*_mlng_{name}_zscore_k3")}))
    assert [record["dataset"] for record in read_results(tmp_path)] == ["letter", "usps"]


@pytest.mark.parametrize(
    ("error", "spread", "percent", "text"),
    [
        (0.0232, 0.1, True, "2.32 ± 0.1"),
        (0.5, None, True, "50.00"),
        (0.1804, 0.02, False, "0.180 ± 0.020"),
    ],
)
def test_figures_are_printed_in_their_unit(
    error: float, spread: float | None, percent: bool, text: str
) -> None:
    assert figure(error, spread, percent=percent) == text


def test_differences_carry_their_sign() -> None:
    assert signed(-0.0022, percent=True) == "−0.22"
    assert signed(0.01, percent=False) == "+0.010"
    assert signed(-0.00001, percent=True) == "+0.00"
    assert signed(None, percent=True) == "–"


def test_tables_of_methods_have_a_column_each_and_the_published_figure_in_brackets() -> None:
    page = results_markdown(records_of("trivedi2014egop_*_concrete_knn", share=0.25))
    assert "| data set | neighbours | training rows | Euclidean | GW | EGOP |" in page
    row = table_rows(page)[-1]
    assert row[:3] == ["concrete", "k-NN", "730"]
    assert row[3] == "**0.251 ± 0.001** (0.288 ± 0.031)"
    assert "EGOP is below Euclidean on 0 of 1 lines, as published on 1." in page


def test_shares_are_shown_in_percent_like_percentages() -> None:
    page = results_markdown(records_of("trivedi2014egop_egop_shuttle_hnn", share=0.01))
    assert "| 1.10 ± 0.1 (1.23 ± 0.4) |" in page


def test_a_curve_is_a_row_a_size_with_the_seconds_of_the_fit() -> None:
    (experiment,) = select_experiments(["trivedi2014egop_egop_barrett_1_llr_knn_n3000"])
    outcome = Outcome(experiment, (0.1, 0.2), expected=2, fit_cpu_seconds=1.5)
    row = table_rows(results_markdown([outcome_record(outcome)]))[-1]
    assert row == ["barrett_1", "k-NN", "3,000", "0.150 ± 0.071, 1.50 s (1651 s)"]


def test_pages_take_the_records_of_the_works_they_are_about() -> None:
    records = records_of("letter")
    chosen = records_citing(records, ["trivedi2018"])
    assert {str(record["experiment"]).split("_")[0] for record in chosen} == {"trivedi2018"}


def test_printed_figures_without_a_measured_one_are_named() -> None:
    text = results_markdown(records_of("trivedi2014_euclidean_usps_zscore_k3"))
    assert "167 of 168 printed figures have no measured one" in text
    assert "MLNG on isolet (k = 3, 7, 11), usps (k = 3, 7, 11)" in text
