from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal._types import Comparison, Row
from vicinal.report._curves import draw_curves
from vicinal.report._scales import Scale, round_steps
from vicinal.report._strips import draw_strips

MakeRow = Callable[..., Row]
MakeComparison = Callable[..., Comparison]


@given(low=st.floats(0, 1), span=st.floats(1e-6, 1), n=st.integers(2, 8))
def test_round_steps_cover_the_range_evenly_with_about_as_many_as_asked(
    low: float, span: float, n: int
) -> None:
    steps = round_steps(low, low + span, n)
    assert steps[0] <= low + 1e-9
    assert steps[-1] >= low + span - 1e-9
    assert 2 <= len(steps) <= n + 2
    step = steps[1] - steps[0]
    assert all(math.isclose(b - a, step, rel_tol=1e-6) for a, b in pairwise(steps))


def test_a_scale_meets_both_ends_and_halves_a_point() -> None:
    scale = Scale(1, 100, 0, 200)
    assert (scale(1), scale(100)) == (0, 200)
    assert Scale(1, 100, 0, 200, log=True)(10) == 100
    assert Scale(3, 3, 0, 200)(3) == 100


def test_errors_are_drawn_where_the_axis_says(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    comparison = make_comparison(
        make_row(error_mean=0.02, error_sd=0.01), make_row(k=7, error_mean=0.04, error_sd=0.0)
    )
    plot = draw_curves(comparison)
    assert plot is not None
    ticks = {tick.label.replace("\u00a0", " "): tick.at for tick in plot.y_ticks}
    first, second = plot.curves[0].points
    assert first.y == ticks["2 %"]
    assert (first.y_low, first.y_high) == (ticks["1 %"], ticks["3 %"])
    assert second.y == second.y_low == second.y_high == ticks["4 %"]
    assert [tick.label for tick in plot.x_ticks] == ["3", "7"]
    assert first.x < second.x


def test_methods_differ_by_more_than_colour(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    rows = [make_row(method=f"m{i}", title=f"M{i}", k=k) for i in range(36) for k in (1, 3)]
    plot = draw_curves(make_comparison(*rows))
    assert plot is not None
    looks = {(curve.colour, curve.marker, curve.dash) for curve in plot.curves}
    assert len(looks) == 36
    assert len({curve.marker for curve in plot.curves[:6]}) == 6


def test_failed_rows_are_left_out_and_lines_run_by_k(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    failed = make_row(k=5, status="failed", error_mean=math.nan, error_sd=math.nan)
    plot = draw_curves(make_comparison(make_row(k=15), failed, make_row(k=1)))
    assert plot is not None
    xs = [point.x for point in plot.curves[0].points]
    assert len(xs) == 2
    assert xs == sorted(xs)


def test_the_alt_text_names_every_line_with_its_errors(digits_comparison: Comparison) -> None:
    plot = draw_curves(digits_comparison)
    assert plot is not None
    assert plot.alt.startswith("Line plot of the error on digits against k from 1 to 15")
    assert re.search(r"LDA: \d\.\d\s% at k = 1 and \d\.\d\s% at k = 15", plot.alt)


def test_many_k_keep_their_ticks_but_not_all_labels(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    plot = draw_curves(make_comparison(*(make_row(k=k) for k in range(1, 101))))
    assert plot is not None
    shown = [tick.at for tick in plot.x_ticks if tick.label]
    assert len(plot.x_ticks) == 100
    assert min(b - a for a, b in pairwise(shown)) >= 24


def test_one_k_gives_dots_and_several_k_give_lines(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    one = make_comparison(make_row(), make_row(method="m", title="M", error_mean=0.02))
    two = make_comparison(make_row(), make_row(k=7))
    strips = draw_strips(one)
    assert strips is not None
    assert [strip.title for strip in strips.strips] == ["M", "Euclidean"]
    assert strips.strips[0].at < strips.strips[1].at
    assert "smallest first: M 2.00" in strips.alt
    assert draw_curves(one) is None
    assert draw_strips(two) is None
    assert draw_curves(two) is not None


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_measured_draws_nothing(
    rows: int, make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    failed = make_row(status="failed", error_mean=math.nan)
    comparison = make_comparison(*[failed] * rows)
    assert draw_curves(comparison) is None
    assert draw_strips(comparison) is None


def test_perfect_prediction_everywhere_still_has_an_axis(
    make_row: MakeRow, make_comparison: MakeComparison
) -> None:
    perfect = {"error_mean": 0.0, "error_sd": 0.0}
    plot = draw_curves(make_comparison(make_row(**perfect), make_row(k=7, **perfect)))
    assert plot is not None
    assert len({tick.at for tick in plot.y_ticks}) >= 2
    assert plot.curves[0].points[0].y == plot.bottom
