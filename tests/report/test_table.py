"""The table in the terminal: every figure, the best marked, failures with their reasons."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console

from vicinal.report import Comparison, Row, render_table

EUCLIDEAN = Row(
    dataset="letter",
    method="euclidean",
    title="Euclidean",
    k=3,
    errors=(0.05, 0.052),
    error_mean=0.051,
    error_sd=0.0014,
    gain=None,
    p_value=None,
    fit_seconds=0.5,
    fit_cpu_seconds=1.0,
    predict_seconds=0.25,
    predict_cpu_seconds=0.5,
    peak_mb=123.4,
    n_train=16000,
    n_test=4000,
    best=False,
)
LDA = replace(
    EUCLIDEAN,
    method="lda",
    title="LDA",
    error_mean=0.038,
    gain=0.013,
    p_value=0.0004,
    best=True,
    notes=("half the rows were used",),
)
NCA = replace(
    EUCLIDEAN,
    method="nca",
    title="NCA",
    error_mean=math.nan,
    status="failed",
    message="not enough memory.",
    gain=None,
)
COMPARISON = Comparison(
    dataset="letter",
    task="classification",
    n_rows=20000,
    n_features=16,
    n_classes=26,
    protocol="5-fold cross-validation",
    preparation="z-scored",
    seed=0,
    version="0",
    rows=(EUCLIDEAN, LDA, NCA, replace(EUCLIDEAN, k=7), replace(NCA, k=7)),
    notes=("A sample.",),
)


def show(comparison: Comparison, width: int = 100) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(render_table(comparison))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_the_heading_says_what_was_measured_on():
    assert show(COMPARISON)[0] == (
        "letter: 20,000 rows, 16 features, 26 classes; z-scored; 5-fold cross-validation; seed 0"
    )


def test_each_row_holds_error_spread_gain_test_and_costs():
    lines = show(COMPARISON)
    assert lines[1].split() == [
        "k", "method", "error,", "%", "gain", "p", "CPU", "s", "wall", "s", "MB"]  # fmt: skip
    assert lines[2].split() == ["3", "Euclidean", "5.10", "±", "0.14", "1.50", "0.750", "123"]
    assert lines[3].split() == [
        "3", "LDA", "3.80", "±", "0.14", "*", "+1.30", "<", "0.001", "1.50", "0.750", "123",
        "[1]"]  # fmt: skip


def test_a_failed_method_shows_its_reason_once():
    lines = show(COMPARISON)
    assert lines[4].split() == ["3", "NCA", "failed", "[2]"]
    assert lines[5] == ""
    assert lines[7].split() == ["7", "NCA", "failed", "[2]"]
    assert " [2] NCA failed: not enough memory." in lines
    assert " [1] LDA: half the rows were used" in lines
    assert " A sample." in lines


def test_some_failed_folds_are_told_apart_from_all():
    partial = replace(LDA, status="partial", message="once", best=False, notes=())
    lines = show(replace(COMPARISON, rows=(EUCLIDEAN, partial)))
    assert " [1] LDA failed on some folds: once" in lines


def test_one_split_has_no_spread():
    rows = (replace(EUCLIDEAN, error_sd=math.nan),)
    assert show(replace(COMPARISON, rows=rows))[2].split()[:4] == ["3", "Euclidean", "5.10", "1.50"]


def test_regression_errors_are_shares_of_the_variance():
    lines = show(replace(COMPARISON, task="regression", rows=(EUCLIDEAN,)))
    assert "26 classes" not in lines[0]
    assert "nMSE" in lines[1]
    assert "0.0510 ± 0.0014" in lines[2]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_figure_is_lost_on_a_narrow_terminal(width):
    text = " ".join(show(COMPARISON, width))
    for figure in ("5.10", "3.80", "+1.30", "123", "failed"):
        assert figure in text


def test_names_with_brackets_are_shown_as_they_are():
    odd = replace(EUCLIDEAN, title="[bold]x[/bold]", message="list index [0]", status="partial")
    lines = show(replace(COMPARISON, rows=(odd,)))
    assert lines[2].split()[1] == "[bold]x[/bold]"
    assert " [1] [bold]x[/bold] failed on some folds: list index [0]" in lines


def test_the_finding_stands_at_the_end():
    assert "LDA cuts the 3-NN error on letter from 5.1 % to 3.8 %" in " ".join(show(COMPARISON))
