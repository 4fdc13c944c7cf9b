"""A training that learned to find: its measures, and what is listed for samples, as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .._types import AnyArray
from ._training_page import Training, render_training, write_whole


@dataclass(frozen=True)
class RankedPicture:
    """A sample in a list: its picture, the name of its class, and whether it is the wanted one."""

    pixels: AnyArray  # uint8 (h, w), (h, w, 2) with opacity, or (h, w, 3)
    label: str
    right: bool


@dataclass(frozen=True)
class RankedList:
    """What one sample asks for, and the nearest others, nearest first."""

    query: RankedPicture
    found: Sequence[RankedPicture]
    precision: float  # its average precision, over the whole list
    n_wanted: int


@dataclass(frozen=True)
class MeasuredMethod:
    """One row of the table of measures; None where a method has no such measure."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class RetrievalReport(Training):
    """The page of a training on shapes."""

    kind: str  # what samples are called: "meshes"
    measures: Sequence[str]
    methods: Sequence[MeasuredMethod]  # the network first, then its rivals
    nearest: float
    average_precision: float
    lists: Sequence[RankedList]

    @property
    def summary(self) -> str:
        """How well samples find each other."""
        return (
            f"For {100 * self.nearest:.1f} % of the test {self.kind} the nearest other one is of "
            f"their class; the mean average precision is {self.average_precision:.3f}."
        )


def write_retrieval_page(report: RetrievalReport, path: Path) -> Path:
    """Write the page of a training that learned to find, whole or not at all; return where."""
    return write_whole(render_retrieval_page(report), path)


def render_retrieval_page(report: RetrievalReport) -> str:
    """The page as HTML text."""
    return render_training(report, "retrieval.html")
