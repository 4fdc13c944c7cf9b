"""A training as one page: its curves, its confusions, and what was misread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._types import AnyArray
from .._writing import write_atomically
from ._drawings import Drawing, render_svg
from ._figures import draw_epochs
from ._images import data_address
from ._page import FORBIDDEN, _environment

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


@dataclass(frozen=True, kw_only=True)
class Training:
    """What every page of a training shows; errors are of the unit that ``tell`` writes."""

    dataset: str
    title: str
    facts: Sequence[tuple[str, str]]
    train_errors: Sequence[float]
    validation_errors: Sequence[float | None]
    notes: Sequence[str]
    version: str
    error_words: str = "Share of samples given a wrong class"

    @property
    def summary(self) -> str:
        """The sentence a reader takes away."""
        raise NotImplementedError

    def tell(self, error: float) -> str:
        """Return an error with its unit."""
        return _percent(error)


@dataclass(frozen=True, kw_only=True)
class TrainingReport(Training):
    """The page of a training on images."""

    classes: Sequence[str]
    tests: Sequence[JudgedPart]

    @property
    def summary(self) -> str:
        """How many of the test images were read right."""
        parts = [f"{_percent(1 - test.error)} of the {test.heading}" for test in self.tests]
        return f"{self.title} finds the class of {' and '.join(parts)}."


@dataclass(frozen=True)
class ConfusionCell:
    """How often a class was taken for another; ``shade`` 0 is none, the diagonal has none."""

    count: int
    shade: int
    right: bool
    words: str


def write_training_page(report: TrainingReport, path: Path) -> Path:
    """Write the page of a training on images, whole or not at all; return where."""
    return write_whole(render_training_page(report), path)


def render_training_page(report: TrainingReport) -> str:
    """The page as HTML text."""
    confusions = [shade_confusion(test, report.classes) for test in report.tests]
    return render_training(report, "training.html", confusions=confusions)


def write_whole(page: str, path: Path) -> Path:
    """Write a page, whole or not at all; return where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode("utf-8", errors="replace"))
    return path


def render_training(report: Training, template: str, **more: Any) -> str:
    """Return what a template makes of a training."""
    page = _environment().get_template(template).render(
        report=report, plot=draw_errors(report), address=data_address, **more
    )  # fmt: skip
    return page.translate(FORBIDDEN)


def draw_errors(report: Training) -> Drawing | None:
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
    told = ", ".join(f"{title} {report.tell(error)}" for title, error in last.items())
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
