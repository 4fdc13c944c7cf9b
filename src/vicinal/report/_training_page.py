"""A training as one page: its curves, its confusions, and what was misread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from .._types import AnyArray
from .._writing import write_atomically
from ._drawings import Drawing, render_svg
from ._figures import draw_epochs
from ._images import data_address
from ._page import _environment, _source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def draw_errors(report: TrainingReport) -> Drawing | None:
    """Draw the errors of each epoch; None where no epoch has a positive one."""
    named = {"training": report.train_errors, "validation": report.validation_errors}
    curves = {title: errors for title, errors in named.items() if any(errors)}
    if not curves:
        return None
    caption = (
        "Share of samples given a wrong class, on a logarithmic scale. Training samples are "
        "counted while the weights change"
    )
    if "validation" in curves:
        caption += "; validation samples are not trained on and choose the epoch"

    def draw(ax: Axes) -> None:
        draw_epochs(ax, curves)

    last = {title: next(e for e in reversed(errors) if e) for title, errors in curves.items()}
    told = ", ".join(f"{title} {_percent(error)}" for title, error in last.items())
    alt = f"Errors of {len(report.train_errors)} epochs, in the end {told}."
    return Drawing(render_svg(draw, "epochs", alt, (6.4, 3.2)), f"{caption}.")


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


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
