"""What the page of a training shows, as records: made by the sphere, drawn by the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vicinal._types import AnyArray, FloatArray


def percent(share: float) -> str:
    """Return "6.20 %"."""
    return f"{100 * share:.2f} %"


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
    template: ClassVar[str]
    error_words: str = "Share of samples given a wrong class"

    @property
    def summary(self) -> str:
        """The sentence a reader takes away."""
        raise NotImplementedError

    def tell(self, error: float) -> str:
        """Return an error with its unit."""
        return percent(error)


@dataclass(frozen=True, kw_only=True)
class TrainingReport(Training):
    """The page of a training on images."""

    template = "training.html"
    classes: Sequence[str]
    tests: Sequence[JudgedPart]

    @property
    def summary(self) -> str:
        """How many of the test images were read right."""
        parts = [f"{percent(1 - test.error)} of the {test.heading}" for test in self.tests]
        return f"{self.title} finds the class of {' and '.join(parts)}."


def show_energy(value: float, like: float | None = None) -> str:
    """Return an energy, or its error, with as many decimals as show three digits of an error.

    ``like`` is that error, the value itself unless told; two decimals at least, since units differ:
    a thousand kcal/mol is one and a half hartree.
    """
    size = abs(value if like is None else like)
    decimals = 2 - math.floor(math.log10(size)) if 0 < size < 1 else 2
    return f"{value:.{decimals}f}"


@dataclass(frozen=True)
class FoldErrors:
    """The errors of one method on one fold, or their means over folds."""

    method: str
    fold: str
    mae: float
    rmse: float
    cpu_seconds: float


@dataclass(frozen=True)
class MissedMolecule:
    """A molecule whose energy was far off: what it is made of, and what was said of it."""

    name: str
    row: int
    energy: float
    predicted: float


@dataclass(frozen=True, kw_only=True)
class EnergyReport(Training):
    """The page of a training on molecules; energies in ``unit``."""

    template = "energies.html"
    unit: str
    folds: Sequence[FoldErrors]
    energies: FloatArray  # of the test molecules of all folds
    predicted: FloatArray
    worst: Sequence[MissedMolecule]

    @property
    def errors(self) -> FloatArray:
        """Predicted minus true energies."""
        return self.predicted - self.energies

    @property
    def mae(self) -> float:
        """The mean absolute error."""
        return float(np.abs(self.errors).mean())

    @property
    def rmse(self) -> float:
        """The root mean square error."""
        return float(np.sqrt((self.errors**2).mean()))

    @property
    def summary(self) -> str:
        """How far energies are off."""
        return (
            f"Energies of {len(self.energies):,} test molecules are off by "
            f"{show_energy(self.mae)} {self.unit} on average, {show_energy(self.rmse)} in the root "
            "mean square."
        )


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

    template = "retrieval.html"
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
