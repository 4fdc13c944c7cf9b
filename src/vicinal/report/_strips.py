"""The error at a single k: one dot a method on a shared axis, with its spread."""

from __future__ import annotations

from dataclasses import dataclass

from .._types import Comparison, Row, Task
from ._curves import error_steps, error_ticks, group_by_method, phrase_spread, spread
from ._numbers import join_words
from ._scales import Scale, Tick


@dataclass(frozen=True)
class Strip:
    """One method's mean and whisker, in percent of the axis."""

    title: str
    at: float
    low: float
    width: float
    words: str
    best: bool


@dataclass(frozen=True)
class StripPlot:
    """Everything the drawing needs: strips from the smallest error to the largest."""

    k: int
    strips: tuple[Strip, ...]
    ticks: tuple[Tick, ...]
    alt: str


def draw_strips(comparison: Comparison) -> StripPlot | None:
    """Lay out the errors of all methods; None unless exactly one k was measured."""
    rows = [row for group in group_by_method(comparison.rows) for row in group]
    if len({row.k for row in rows}) != 1:
        return None
    rows.sort(key=lambda row: row.error_mean)
    values = error_steps(rows)
    scale = Scale(values[0], values[-1], 0.0, 100.0)
    words = [f"{row.title} {phrase_spread(row, comparison.task)}" for row in rows]
    head = f"Dot plot of the {rows[0].k}-NN error on {comparison.dataset} by method"
    return StripPlot(
        k=rows[0].k,
        strips=tuple(_lay_out(row, scale, comparison.task) for row in rows),
        ticks=error_ticks(values, scale, comparison.task),
        alt=f"{head}, smallest first: {join_words(words, limit=12)}.",
    )


def _lay_out(row: Row, scale: Scale, task: Task) -> Strip:
    low = scale(max(row.error_mean - spread(row), scale.low))
    high = scale(row.error_mean + spread(row))
    return Strip(
        title=row.title,
        at=scale(row.error_mean),
        low=low,
        width=round(high - low, 1),
        words=phrase_spread(row, task),
        best=row.best,
    )
