"""A training as one page: its curves, and how what it learned was judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._trainings import EnergyReport, JudgedPart, Training, TrainingReport, show_energy
from .._writing import write_atomically
from ._drawings import PageDrawing, render_svg
from ._figures import draw_epochs, draw_misses
from ._images import data_address
from ._page import FORBIDDEN, _environment

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHADES = 6
SHARE = 0.99  # of the molecules that the drawing's frame holds


@dataclass(frozen=True)
class ConfusionCell:
    """How often a class was taken for another; ``shade`` 0 is none, the diagonal has none."""

    count: int
    shade: int
    right: bool
    words: str


def write_training_page(report: Training, path: Path) -> Path:
    """Write the page of a training, whole or not at all; return where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, render_training_page(report).encode("utf-8", errors="replace"))
    return path


def render_training_page(report: Training) -> str:
    """The page as HTML text."""
    drawn: dict[str, Any] = {}
    if isinstance(report, TrainingReport):
        drawn["confusions"] = [shade_confusion(test, report.classes) for test in report.tests]
    elif isinstance(report, EnergyReport):
        drawn["misses"] = draw_energies(report)
    page = _environment().get_template(report.template).render(
        report=report, plot=draw_errors(report), address=data_address, **drawn
    )  # fmt: skip
    return page.translate(FORBIDDEN)


def draw_errors(report: Training) -> PageDrawing | None:
    """Draw the errors of each epoch; None where no epoch has a positive one."""
    named = {"training": report.train_errors, "validation": report.validation_errors}
    curves = {title: errors for title, errors in named.items() if any(errors)}
    if not curves:
        return None
    caption = (
        f"{report.error_words}, on a logarithmic scale. Training samples are judged while the "
        "weights change"
    )
    if "validation" in curves:
        caption += "; validation samples are not trained on and choose the epoch"

    def draw(ax: Axes) -> None:
        draw_epochs(ax, curves)

    last = {title: next(e for e in reversed(errors) if e) for title, errors in curves.items()}
    summary = ", ".join(f"{title} {report.tell(error)}" for title, error in last.items())
    alt = f"Errors of {len(report.train_errors)} epochs, in the end {summary}."
    return PageDrawing(render_svg(draw, "epochs", alt, (6.4, 3.2)), f"{caption}.")


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


def draw_energies(report: EnergyReport) -> PageDrawing:
    """Draw predicted minus true energies against true ones; what is far off lies at the edge."""
    errors = report.errors
    reach = float(np.quantile(np.abs(errors), SHARE)) or 1.0
    shown = np.clip(errors, -reach, reach)
    n_far = int(np.sum(np.abs(errors) > reach))

    def draw(ax: Axes) -> None:
        draw_misses(ax, report.energies, shown, report.unit)

    caption = (
        f"Predicted minus true energy of each test molecule; {n_far} that are farther off lie at "
        "the edge."
    )
    alt = f"Errors of {len(errors)} molecules, {show_energy(report.mae)} {report.unit} on average."
    return PageDrawing(render_svg(draw, "misses", alt, (7.2, 3.4)), caption)
