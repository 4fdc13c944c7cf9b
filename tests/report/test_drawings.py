"""The page's drawings of a metric: in words what they show, in the page's colours, no harm."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from vicinal.report import Comparison, Exhibit, Row, plot_errors, render_page
from vicinal.report._drawings import (
    draw_comparison,
    draw_relevance,
    draw_spectrum,
    draw_summary,
    render_svg,
)
from vicinal.report._errors import error_lines
from vicinal.report._palette import LIGHT
from vicinal.report._shares import as_shares, count_for

RNG = np.random.default_rng(0)
MakeExhibit = Callable[..., Exhibit]
MakeRow = Callable[..., Row]
MakeComparison = Callable[..., Comparison]


def alt_of(drawing) -> str:
    found = re.search(r'aria-label="([^"]*)"', drawing.svg)
    assert found is not None
    return found[1]


def texts_of(drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg)


# Shares ----------------------------------------------------------------------------------------


def test_shares_sum_to_one_and_ignore_what_is_no_weight() -> None:
    shares = as_shares(np.array([3.0, -1.0, np.nan, 1.0]))
    assert shares.tolist() == [0.75, 0.0, 0.0, 0.25]
    assert as_shares(np.full(4, 1e308)).tolist() == [0.25] * 4
    assert as_shares(np.zeros(3)).tolist() == [0.0] * 3


@pytest.mark.parametrize(("part", "n"), [(0.5, 1), (0.6, 2), (0.8, 2), (0.81, 3), (1.0, 3)])
def test_how_many_shares_reach_a_part(part: float, n: int) -> None:
    assert count_for(np.array([0.2, 0.5, 0.3]), part) == n


# Relevance and spectrum ------------------------------------------------------------------------


def test_the_twenty_most_relevant_of_a_thousand_features(make_exhibit: MakeExhibit) -> None:
    names = tuple(f"x{i}" for i in range(1001))
    plot = draw_relevance(make_exhibit(relevance=np.arange(1001.0), feature_names=names))
    assert plot is not None
    shown = [text for text in texts_of(plot) if text.startswith("x")]
    assert sorted(shown) == sorted(f"x{i}" for i in range(1000, 980, -1))
    assert "The 20 most relevant of 1,001\u00a0features" in plot.caption
    assert "Most relevant: x1000" in alt_of(plot)


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3), (200, 130)])
def test_pixels_become_a_picture_whose_words_name_the_brightest(
    shape: tuple[int, ...], make_exhibit: MakeExhibit
) -> None:
    relevance = np.full(shape, 0.001)
    relevance[2, 4] = 5
    plot = draw_relevance(make_exhibit(relevance=relevance.ravel(), image_shape=shape))
    assert plot is not None
    assert "data:image/png;base64," in plot.svg
    assert "row 3, column 5" in alt_of(plot)
    assert f"{shape[0]} × {shape[1]} pixels" in alt_of(plot)
    assert len(plot.svg) < 30_000


def test_a_shape_that_does_not_fit_falls_back_to_bars(make_exhibit: MakeExhibit) -> None:
    names = tuple(f"x{i}" for i in range(10))
    exhibit = make_exhibit(relevance=np.ones(10), image_shape=(8, 8), feature_names=names)
    plot = draw_relevance(exhibit)
    assert plot is not None
    assert "Bar chart" in alt_of(plot)


def test_the_spectrum_says_how_many_directions_count(make_exhibit: MakeExhibit) -> None:
    plot = draw_spectrum(make_exhibit(eigenvalues=np.array([0.0, 1.0, 5.0, 4.0])))
    assert plot is not None
    assert "It takes 2 of 4\u00a0directions to carry 90\u00a0%" in plot.caption
    assert f"effectively it uses {100 / 42:.1f}" in plot.caption
    assert "The first carries 50\u00a0%" in alt_of(plot)
    assert "bootstrap" not in plot.caption


def test_long_spectra_are_cut_and_intervals_told(make_exhibit: MakeExhibit) -> None:
    plot = draw_spectrum(make_exhibit(eigenvalues=np.ones(784)))
    assert plot is not None
    assert "40\u00a0eigenvalues" in alt_of(plot)
    assert "effectively it uses 784.0" in plot.caption
    sure = make_exhibit(
        eigenvalues=np.array([60.0, 30.0, 10.0]),
        intervals=np.array([[50.0, 75.0], [25.0, 33.0], [8.0, 12.0]]),
        carries="the mean squared gradient",
        n_evaluations=353,
    )
    plot = draw_spectrum(sure)
    assert plot is not None
    assert "90\u00a0% of the mean squared gradient" in plot.caption
    assert "bootstrap intervals over 353\u00a0points" in plot.caption
    assert "between 50\u00a0% and 75\u00a0%" in alt_of(plot)


def test_nothing_known_draws_nothing(make_exhibit: MakeExhibit) -> None:
    for values in (np.empty(0), np.zeros(5)):
        assert draw_relevance(make_exhibit(relevance=values)) is None
        assert draw_spectrum(make_exhibit(eigenvalues=values)) is None


# Summary plots ---------------------------------------------------------------------------------


def regression(n: int = 400) -> dict[str, np.ndarray]:
    places = RNG.normal(size=(n, 2))
    return {"places": places, "targets": 100 * np.sin(places[:, 0]) + 500}


def classes(n_classes: int, n: int = 600) -> dict[str, np.ndarray]:
    codes = np.arange(n) % n_classes
    names = np.array([f"class {c:02d}" for c in range(n_classes)])
    return {"places": RNG.normal(size=(n, 2)) + 3 * codes[:, None], "targets": names[codes]}


WORDS = ("0.80 width + 0.60 depth", "height")


def test_a_number_is_drawn_against_the_direction_with_what_the_curve_explains(
    make_exhibit: MakeExhibit,
) -> None:
    one, two = draw_summary(make_exhibit(**regression(), directions=WORDS), "regression")
    assert re.search(r"The curve explains (9\d|100)\u00a0% of the variance", one.caption)
    assert "400\u00a0training rows" in one.caption
    assert WORDS[0] in texts_of(one)
    assert {*WORDS} <= {*texts_of(two)}


@pytest.mark.parametrize("n_classes", [2, 12, 26])
def test_every_class_has_a_ridge_up_to_the_largest_twelve(
    n_classes: int, make_exhibit: MakeExhibit
) -> None:
    one, _ = draw_summary(make_exhibit(**classes(n_classes), directions=WORDS), "classification")
    shown = [text for text in texts_of(one) if text.startswith("class")]
    assert len(shown) == min(n_classes, 12)
    left_out = "the 12 largest of 26 classes" in texts_of(one)
    assert left_out == (n_classes > 12)


def test_one_direction_is_drawn_alone_and_too_little_not_at_all(make_exhibit: MakeExhibit) -> None:
    data = regression()
    line = make_exhibit(**{**data, "places": data["places"][:, :1]}, directions=WORDS[:1])
    assert len(draw_summary(line, "regression")) == 1
    for places in (np.empty((0, 2)), np.empty((9, 0)), np.ones((2, 2))):
        few = make_exhibit(places=places, targets=np.ones(len(places)))
        assert draw_summary(few, "regression") == []


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones(50), np.arange(50.0)),
        (np.arange(50.0), np.ones(50)),
        (1e-12 * np.arange(50.0), 1e12 * np.arange(50.0)),
        (1e12 * np.arange(50.0), 1e-12 * np.arange(50.0)),
    ],
)
def test_constant_and_extreme_values_are_drawn_in_finite_numbers(
    x: np.ndarray, y: np.ndarray, make_exhibit: MakeExhibit
) -> None:
    places = np.column_stack([x, x[::-1]])
    drawn = draw_summary(make_exhibit(places=places, targets=y, directions=WORDS), "regression")
    assert len(drawn) == 2
    assert all("nan" not in plot.svg for plot in drawn)


# Errors ----------------------------------------------------------------------------------------


def test_errors_stand_where_the_axis_says(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    rows = make_row(error_mean=0.02, error_sd=0.01), make_row(k=7, error_mean=0.04, error_sd=0.0)
    axes = plot_errors(make_comparison(*rows))
    line = axes.get_lines()[0]
    assert np.asarray(line.get_ydata()).tolist() == [0.02, 0.04]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["3", "7"]
    assert axes.yaxis.get_major_formatter()(0.02, 0) == "2 %"


def test_failed_rows_are_left_out_and_lines_run_by_k(make_row: MakeRow) -> None:
    failed = make_row(k=5, status="failed", error_mean=math.nan, error_sd=math.nan)
    (line,) = error_lines((make_row(k=15), failed, make_row(k=1)))
    assert line.ks == (1, 15)


def test_a_reference_is_a_level_line(make_row: MakeRow) -> None:
    level = make_row(method="svm", title="SVM", k=None, error_mean=0.02, reference=True)
    lines = error_lines((make_row(k=3), make_row(k=7), level))
    assert (lines[1].title, lines[1].ks, lines[1].means) == ("SVM", (3, 7), (0.02, 0.02))


def test_one_k_gives_dots_with_the_smallest_error_on_top(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    one = make_comparison(make_row(), make_row(method="m", title="M", error_mean=0.02))
    axes = plot_errors(one)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["M", "Euclidean"]
    low, high = axes.get_ylim()
    assert low > high, "the first is on top"


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_measured_draws_no_errors(
    rows: int, make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    comparison = make_comparison(*[make_row(status="failed", error_mean=math.nan)] * rows)
    assert draw_comparison(comparison) is None
    with pytest.raises(ValueError, match="nothing was measured"):
        comparison.plot()


# On the page -----------------------------------------------------------------------------------


def test_a_drawing_wears_the_colours_of_the_page_and_styles_nothing_else() -> None:
    svg = render_svg(lambda ax: ax.bar([0, 1], [1, 2], color=LIGHT[0]), "x", "y", (3, 2))
    assert "fill: var(--c0)" in svg
    assert LIGHT[0] not in svg
    assert "<style" not in svg
    assert "font-family" not in svg
    assert svg == render_svg(lambda ax: ax.bar([0, 1], [1, 2], color=LIGHT[0]), "x", "y", (3, 2))


def test_what_looks_like_a_formula_or_like_markup_is_text() -> None:
    svg = render_svg(lambda ax: ax.set(xlabel="$a$ <b> 0.123456 日本"), "x", "<i>", (3, 2))
    assert "$a$ &lt;b&gt; 0.123456 日本" in svg
    assert 'aria-label="&lt;i&gt;"' in svg


def test_methods_come_best_first(wine_comparison: Comparison, make_exhibit: MakeExhibit) -> None:
    rows = tuple(replace(row, error_mean=row.error_mean + 0.01) for row in wine_comparison.rows)
    better = replace(rows[1], method="ejop", title="EJOP", error_mean=0.0, errors=(0.0,))
    (lda,) = wine_comparison.exhibits
    other = make_exhibit(method="ejop", title="EJOP", **classes(3), directions=WORDS)
    page = render_page(replace(wine_comparison, rows=(*rows, better), exhibits=(lda, other)))
    assert re.findall(r"<h2>What (\w+) learned</h2>", page) == ["EJOP", "LDA"]


def test_names_from_a_file_are_escaped(
    wine_comparison: Comparison, make_exhibit: MakeExhibit
) -> None:
    data = classes(2)
    data["targets"] = np.where(data["targets"] == "class 00", "<u>0</u>", "1")
    evil = make_exhibit(method="ejop", directions=("<script>x", "<i>y"), **data)
    page = render_page(replace(wine_comparison, exhibits=(evil,)))
    for tag in ("<script>x", "<i>y", "<u>0</u>"):
        assert tag not in page


def test_values_of_one_column_are_added_up(make_exhibit: Callable[..., Exhibit]) -> None:
    names = ("size", "colour=green", "colour=red")
    exhibit = make_exhibit(
        relevance=np.array([0.4, 0.35, 0.25]),
        feature_names=names,
        columns=("size", "colour", "colour"),
    )
    plot = draw_relevance(exhibit)
    assert plot is not None
    assert "Most relevant: colour (60\u00a0%) and size (40\u00a0%)" in plot.svg
    assert "of 2\u00a0columns" in plot.caption
    assert "colour=red" not in plot.svg
