"""Error against k: one line a method, with its spread over the folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .._types import Comparison, Row, Task
from ._numbers import MINUS, NBSP, count_of, format_error
from ._palette import N_COLOURS
from ._scales import Scale, Tick, decimals_for, round_steps
from ._sentences import is_measured

WIDTH, HEIGHT = 460, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 8, 10, 44
MARKERS = ("circle", "square", "diamond", "triangle", "cross", "bar")
_DODGE = 3.5  # neighbouring methods' error bars stand side by side
_LEAST_LABEL_GAP = 24.0


@dataclass(frozen=True)
class Point:
    """A mean error with its whisker (positions on paper) and the words of its tooltip."""

    x: float
    y: float
    y_low: float
    y_high: float
    words: str


@dataclass(frozen=True)
class Curve:
    """One method's points; ``style`` counts methods and chooses colour, marker and dash."""

    title: str
    style: int
    points: tuple[Point, ...]

    @property
    def colour(self) -> int:
        return self.style % N_COLOURS

    @property
    def marker(self) -> str:
        return MARKERS[self.style % len(MARKERS)]

    @property
    def dash(self) -> str:
        return ("none", "7 4", "2 4")[self.style // N_COLOURS % 3]  # colours come round again

    @property
    def path(self) -> str:
        return "M" + "L".join(f"{p.x:g} {p.y:g}" for p in self.points)


@dataclass(frozen=True)
class CurvePlot:
    """Everything the drawing of error against k needs."""

    curves: tuple[Curve, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    alt: str
    width: int = WIDTH
    height: int = HEIGHT
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    top: float = _TOP
    bottom: float = HEIGHT - _BOTTOM


def draw_curves(comparison: Comparison) -> CurvePlot | None:
    """Lay out error against k; None where fewer than two k were measured."""
    groups = group_by_method(comparison.rows)
    rows = [row for group in groups for row in group]
    ks = sorted({row.k for row in rows})
    if len(ks) < 2:
        return None
    x_scale = _k_scale(ks)
    y_values = error_steps(rows)
    y_scale = Scale(y_values[0], y_values[-1], HEIGHT - _BOTTOM, _TOP)
    curves = tuple(
        _lay_out(group, style, len(groups), x_scale, y_scale, comparison.task)
        for style, group in enumerate(groups)
    )
    return CurvePlot(
        curves=curves,
        x_ticks=_k_ticks(ks, x_scale),
        y_ticks=error_ticks(y_values, y_scale, comparison.task),
        alt=_describe(comparison, groups, ks),
    )


def group_by_method(rows: Sequence[Row]) -> list[list[Row]]:
    """Measured rows, one list a method in order of appearance, each ascending in k."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if is_measured(row):
            groups.setdefault(row.method, []).append(row)
    return [sorted(group, key=lambda row: row.k) for group in groups.values()]


def spread(row: Row) -> float:
    """The standard deviation over folds, zero where there is none."""
    return row.error_sd if math.isfinite(row.error_sd) else 0.0


def _k_scale(ks: list[int]) -> Scale:
    inset = 26.0
    log = ks[0] > 0 and ks[-1] / ks[0] > 12
    return Scale(ks[0], ks[-1], _LEFT + inset, WIDTH - _RIGHT - inset, log=log)


def _k_ticks(ks: list[int], scale: Scale) -> tuple[Tick, ...]:
    ticks, last = [], -math.inf
    for k in ks:
        at = scale(k)
        shown = at - last >= _LEAST_LABEL_GAP
        ticks.append(Tick(at, str(k) if shown else ""))
        last = at if shown else last
    return tuple(ticks)


def error_steps(rows: list[Row]) -> list[float]:
    """Round errors that cover all means and their spreads."""
    lows = [max(row.error_mean - spread(row), 0.0) for row in rows]
    highs = [row.error_mean + spread(row) for row in rows]
    # Zero belongs on the axis unless the errors would then be squeezed into its upper third.
    low = 0.0 if min(lows) < 0.65 * max(highs) else min(lows)
    return round_steps(low, max(max(highs), low + 1e-4), 5)


def error_ticks(values: list[float], scale: Scale, task: Task) -> tuple[Tick, ...]:
    """Those errors placed along an axis and written with just enough decimals."""
    factor, unit = (100, f"{NBSP}%") if task == "classification" else (1, "")
    decimals = decimals_for(factor * (values[1] - values[0]))
    return tuple(
        Tick(scale(v), f"{factor * v:.{decimals}f}".replace("-", MINUS) + unit) for v in values
    )


def _lay_out(
    group: list[Row], style: int, n_methods: int, x_scale: Scale, y_scale: Scale, task: Task
) -> Curve:
    dodge = min(_DODGE, 20 / n_methods) * (style - (n_methods - 1) / 2)
    return Curve(
        title=group[0].title,
        style=style,
        points=tuple(
            Point(
                x=round(x_scale(row.k) + dodge, 1),
                y=y_scale(row.error_mean),
                y_low=y_scale(max(row.error_mean - spread(row), y_scale.low)),
                y_high=y_scale(row.error_mean + spread(row)),
                words=f"{row.title}, k = {row.k}: {phrase_spread(row, task)}",
            )
            for row in group
        ),
    )


def phrase_spread(row: Row, task: Task) -> str:
    """ "4.93 ± 0.21 %", or the mean alone after a single fold."""
    decimals = 2 if task == "classification" else 4
    mean = format_error(row.error_mean, task, decimals)
    if len(row.errors) < 2 or not math.isfinite(row.error_sd):
        return mean
    return f"{mean} ± {format_error(row.error_sd, task, decimals)}"


def _describe(comparison: Comparison, groups: list[list[Row]], ks: list[int]) -> str:
    """What the plot shows, in words and figures."""
    head = (
        f"Line plot of the error on {comparison.dataset} against k from {ks[0]} to {ks[-1]}, "
        f"{count_of(len(groups), 'line')}."
    )
    return " ".join([head, *(_describe_curve(g, comparison.task) for g in groups[:12])])


def _describe_curve(group: list[Row], task: Task) -> str:
    first, last = group[0], group[-1]
    low = min(group, key=lambda row: row.error_mean)
    words = [f"{format_error(r.error_mean, task)} at k = {r.k}" for r in (first, last)]
    words = words[:1] if first is last else words
    lowest = "" if low in (first, last) else f", lowest {format_error(low.error_mean, task)}"
    lowest += f" at k = {low.k}" if lowest else ""
    return f"{first.title}: {' and '.join(words)}{lowest}."
