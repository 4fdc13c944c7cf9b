"""Summary plots on the page: points where the rows lie, a curve through them, a ridge a class."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vicinal._types import Comparison, Portrait
from vicinal.report import render_page
from vicinal.report._relevance import draw_relevance, draw_spectrum
from vicinal.report._summaries import SIZE, draw_summary

RNG = np.random.default_rng(0)
MakePortrait = Callable[..., Portrait]


def points_of(path: str) -> np.ndarray:
    return np.array(re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path), dtype=float)


def regression(n: int = 400) -> dict[str, np.ndarray]:
    places = RNG.normal(size=(n, 2))
    return {"places": places, "targets": 100 * np.sin(places[:, 0]) + 500}


def classes(n_classes: int, n: int = 600) -> dict[str, np.ndarray]:
    codes = np.arange(n) % n_classes
    names = np.array([f"class {c:02d}" for c in range(n_classes)])
    return {"places": RNG.normal(size=(n, 2)) + 3 * codes[:, None], "targets": names[codes]}


def test_points_stand_where_the_rows_lie_and_the_curve_runs_through_them(
    make_portrait: MakePortrait,
) -> None:
    data = regression()
    plot = draw_summary(make_portrait(**data), "regression")
    assert plot is not None
    drawn = points_of(plot.one.dots)
    assert len(drawn) == 400
    inner = np.abs(data["places"][:, 0]) < 2
    # Affine: what lies on a line stays on a line, right of what is smaller, above what is less.
    for column, values in ((0, data["places"][:, 0]), (1, -data["targets"])):
        slope, level = np.polyfit(values[inner], drawn[inner, column], 1)
        assert slope > 0
        assert_allclose(drawn[inner, column], slope * values[inner] + level, atol=0.06)
    curve = points_of(plot.one.curve)
    assert np.all(np.diff(curve[:, 0]) >= 0)
    nearest = np.abs(curve[:, None, 0] - drawn[None, :, 0]).argmin(axis=1)
    assert np.abs(curve[:, 1] - drawn[nearest, 1]).mean() < 12
    assert "explains 9" in plot.caption or "explains 100" in plot.caption
    assert "400\u00a0training rows" in plot.caption


def test_everything_is_drawn_inside_the_frame_outliers_too(make_portrait: MakePortrait) -> None:
    data = regression(1000)
    data["places"][:2] = [[1e6, 0], [-1e6, 1e6]]
    data["targets"][2] = 1e9
    plot = draw_summary(make_portrait(**data), "regression")
    assert plot is not None
    assert plot.two is not None
    for path in (plot.one.dots, plot.one.curve, *(d.path for d in plot.two.dots)):
        drawn = points_of(path)
        assert np.all((drawn >= 0) & (drawn <= SIZE))
    assert any(
        "far points are drawn at the edge" in r.replace("\u00a0", " ") for r in plot.one.remarks
    )


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_every_class_has_a_ridge_at_its_own_place(
    n_classes: int, make_portrait: MakePortrait
) -> None:
    plot = draw_summary(make_portrait(**classes(n_classes)), "classification")
    assert plot is not None
    assert [ridge.code for ridge in plot.one.ridges] == list(range(n_classes))
    peaks = [points_of(r.path)[points_of(r.path)[:, 1].argmin(), 0] for r in plot.one.ridges]
    assert np.all(np.diff(peaks) > 0)
    highest = min(points_of(ridge.path)[:, 1].min() for ridge in plot.one.ridges)
    assert highest == pytest.approx(plot.one.top, abs=0.2)
    assert plot.one.ridges[-1].base == pytest.approx(plot.one.bottom, abs=0.2)
    assert len({ridge.colour for ridge in plot.one.ridges}) == n_classes


def test_of_many_classes_the_largest_are_shown_and_that_is_said(
    make_portrait: MakePortrait,
) -> None:
    data = classes(26)
    plot = draw_summary(make_portrait(**data), "classification")
    assert plot is not None
    assert len(plot.one.ridges) == 12
    assert "The 12 largest of 26 classes." in plot.one.remarks


def test_one_direction_is_drawn_alone(make_portrait: MakePortrait) -> None:
    data = regression()
    plot = draw_summary(make_portrait(**{**data, "places": data["places"][:, :1]}), "regression")
    assert plot is not None
    assert plot.two is None


@pytest.mark.parametrize("places", [np.empty((0, 2)), np.empty((9, 0)), np.ones((2, 2))])
def test_too_little_draws_nothing(places: np.ndarray, make_portrait: MakePortrait) -> None:
    portrait = make_portrait(places=places, targets=np.ones(len(places)))
    assert draw_summary(portrait, "regression") is None


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
    x: np.ndarray, y: np.ndarray, make_portrait: MakePortrait
) -> None:
    places = np.column_stack([x, x[::-1]])
    plot = draw_summary(make_portrait(places=places, targets=y), "regression")
    assert plot is not None
    assert "nan" not in plot.one.dots + plot.one.curve
    labels = [tick.label for tick in (*plot.one.x_ticks, *plot.one.y_ticks)]
    assert labels
    assert all(len(label) < 12 for label in labels)


def test_intervals_are_whiskers_on_the_scale_of_their_bars(make_portrait: MakePortrait) -> None:
    portrait = make_portrait(
        eigenvalues=np.array([60.0, 30.0, 10.0]),
        intervals=np.array([[50.0, 75.0], [25.0, 33.0], [8.0, 12.0]]),
        carries="the mean squared gradient",
        n_evaluations=353,
    )
    plot = draw_spectrum(portrait)
    assert plot is not None
    for (x, y, width, height), (at, low, high) in zip(plot.bars, plot.whiskers, strict=True):
        assert at == pytest.approx(x + width / 2, abs=0.1)
        assert high < y < low < y + height
    unit = plot.bars[0][3] / 60
    assert plot.whiskers[0][1] - plot.whiskers[0][2] == pytest.approx(25 * unit, abs=0.2)
    assert "90\u00a0% of the mean squared gradient" in plot.caption
    assert "bootstrap intervals over 353\u00a0points" in plot.caption
    assert "between 50\u00a0% and 75\u00a0%" in plot.alt


def test_a_portrait_without_intervals_says_nothing_of_them(make_portrait: MakePortrait) -> None:
    plot = draw_spectrum(make_portrait(eigenvalues=np.array([3.0, 1.0])))
    assert plot is not None
    assert plot.whiskers == ()
    assert "bootstrap" not in plot.caption


def test_relevance_bars_of_a_portrait_carry_its_names(make_portrait: MakePortrait) -> None:
    plot = draw_relevance(make_portrait(relevance=np.array([0.2, 0.8]), feature_names=("a", "b")))
    assert plot is not None
    assert [bar.name for bar in plot.bars] == ["b", "a"]


def test_methods_come_best_first_whether_by_exhibit_or_by_portrait(
    wine_comparison: Comparison, make_portrait: MakePortrait
) -> None:
    rows = tuple(replace(row, error_mean=row.error_mean + 0.01) for row in wine_comparison.rows)
    better = replace(rows[1], method="ejop", title="EJOP", error_mean=0.0, errors=(0.0,))
    portraits = (
        make_portrait(method="ejop", title="EJOP", **classes(3)),
        make_portrait(method="lda", title="LDA", **classes(3)),
    )
    page = render_page(replace(wine_comparison, rows=(*rows, better), portraits=portraits))
    headings = re.findall(r"<h2>What (\w+) learned</h2>", page)
    assert headings == ["EJOP", "LDA"]
    assert page.count("Classes along the leading directions") == 2
    assert page.count("Nearest neighbours of a few test points") == 1


def test_names_from_a_file_are_escaped(
    wine_comparison: Comparison, make_portrait: MakePortrait
) -> None:
    data = classes(2)
    data["targets"] = np.where(data["targets"] == "class 00", "<u>0</u>", "1")
    evil = make_portrait(method="ejop", directions=("<script>x", "<i>y"), **data)
    page = render_page(replace(wine_comparison, portraits=(evil,)))
    assert "<script>x" not in page
    assert "<i>y" not in page
    assert "<u>0</u>" not in page
