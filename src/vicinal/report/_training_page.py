"""A training as one page: its curves, its confusions, and what was misread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from .._types import AnyArray
from .._writing import write_atomically
from ._images import data_address
from ._page import _environment, _source
from ._scales import Scale, Tick, round_steps

WIDTH, HEIGHT = 460, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 8, 10, 42
_SHADES = 6


@dataclass(frozen=True)
class MisreadPicture:
    """One misread sample: a picture and the classes it has and was given."""

    pixels: AnyArray  # uint8 (h, w)
    label: str
    found: str


@dataclass(frozen=True)
class JudgedPart:
    """How the network did on one kind of test samples."""

    heading: str
    error: float
    n_samples: int
    confusion: Sequence[Sequence[int]]  # rows are true classes
    misread: Sequence[MisreadPicture]
    n_misread: int


@dataclass(frozen=True)
class TrainingReport:
    """All a page shows of one training; errors are shares."""

    dataset: str
    title: str
    facts: Sequence[tuple[str, str]]
    train_errors: Sequence[float]
    validation_errors: Sequence[float | None]
    classes: Sequence[str]
    tests: Sequence[JudgedPart]
    notes: Sequence[str]
    version: str


@dataclass(frozen=True)
class ErrorCurve:
    """A line of errors against epochs, placed on paper."""

    title: str
    colour: int
    points: tuple[tuple[float, float, str], ...]

    @property
    def path(self) -> str:
        return "M" + "L".join(f"{x:g} {y:g}" for x, y, _ in self.points)


@dataclass(frozen=True)
class ErrorPlot:
    """Errors against epochs on a logarithmic scale."""

    curves: tuple[ErrorCurve, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    alt: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    bottom: int = HEIGHT - _BOTTOM


@dataclass(frozen=True)
class ConfusionCell:
    """How often a class was taken for another; ``shade`` 0 is none, the diagonal has none."""

    count: int
    shade: int
    right: bool
    words: str


def write_training_page(report: TrainingReport, path: Path) -> Path:
    """Write the page of a training, whole or not at all; return where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, render_training_page(report).encode("utf-8", errors="replace"))
    return path


def render_training_page(report: TrainingReport) -> str:
    """The page as HTML text."""
    return (
        _environment()
        .get_template("training.html")
        .render(
            report=report,
            summary=summarise(report),
            plot=draw_errors(report),
            confusions=[shade_confusion(test, report.classes) for test in report.tests],
            address=data_address,
            style=Markup(_source("style.css")),
        )
    )


def summarise(report: TrainingReport) -> str:
    """Return the sentence a reader takes away."""
    parts = [f"{_percent(1 - test.error)} of the {test.heading}" for test in report.tests]
    return f"{report.title} finds the class of {' and '.join(parts)}."


def draw_errors(report: TrainingReport) -> ErrorPlot | None:
    """Place the errors of each epoch; None where no epoch has a positive one."""
    known = [e for e in (*report.train_errors, *report.validation_errors) if e]
    if not known:
        return None
    low, high = min(known) / 1.2, max(known) * 1.2
    n = len(report.train_errors)
    x = Scale(1, max(n, 2), _LEFT, WIDTH - _RIGHT - 8)
    y = Scale(low, high, HEIGHT - _BOTTOM, _TOP, log=True)
    named = (("training", report.train_errors), ("validation", report.validation_errors))
    curves = tuple(
        ErrorCurve(title, colour, _place(errors, x, y, title))
        for colour, (title, errors) in enumerate(named)
        if any(errors)
    )
    steps = [s for s in round_steps(1, n, min(n, 8)) if s >= 1 and s == int(s) and s <= n]
    return ErrorPlot(
        curves,
        tuple(Tick(x(s), f"{s:.0f}") for s in steps),
        tuple(Tick(y(s), _percent(s)) for s in _powers(low, high)),
        f"Errors of {n} epochs; the last training error is {_percent(report.train_errors[-1])}.",
    )


def shade_confusion(test: JudgedPart, classes: Sequence[str]) -> list[list[ConfusionCell]]:
    """Return the table of true against given classes; mistakes are shaded by their number."""
    mistakes = [
        count for i, row in enumerate(test.confusion) for j, count in enumerate(row) if i != j
    ]
    most = max(mistakes, default=0)
    return [
        [
            ConfusionCell(
                count,
                0 if i == j or not most else math.ceil(_SHADES * count / most),
                i == j,
                f"{count} × {classes[i]} taken for {classes[j]}",
            )
            for j, count in enumerate(row)
        ]
        for i, row in enumerate(test.confusion)
    ]


def _place(
    errors: Sequence[float | None], x: Scale, y: Scale, title: str
) -> tuple[tuple[float, float, str], ...]:
    return tuple(
        (x(number + 1), y(error), f"epoch {number + 1}: {title} error {_percent(error)}")
        for number, error in enumerate(errors)
        if error
    )


def _powers(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten within [low, high]."""
    first = math.floor(math.log10(low))
    last = math.ceil(math.log10(high))
    return [
        m * 10.0**p for p in range(first, last + 1) for m in (1, 2, 5) if low <= m * 10.0**p <= high
    ]


def _percent(share: float) -> str:
    value = 100 * share
    return f"{value:.2f} %" if value not in (1, 2, 5, 10, 20, 50, 100) else f"{value:.0f} %"
