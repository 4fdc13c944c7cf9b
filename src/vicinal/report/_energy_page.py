"""A training that learned energies: errors of folds, of all molecules, and the worst of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._types import FloatArray
from ._drawings import Drawing, render_svg
from ._figures import draw_misses
from ._training_page import Training, render_training, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARE = 0.99  # of the molecules that the drawing's frame holds


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
    def summary(self) -> str:
        """How far energies are off."""
        mae, rmse = np.abs(self.errors).mean(), np.sqrt((self.errors**2).mean())
        return (
            f"Energies of {len(self.energies):,} test molecules are off by {mae:.2f} "
            f"{self.unit} on average, {rmse:.2f} in the root mean square."
        )


def write_energy_page(report: EnergyReport, path: Path) -> Path:
    """Write the page of a training on molecules, whole or not at all; return where."""
    return write_whole(render_energy_page(report), path)


def render_energy_page(report: EnergyReport) -> str:
    """The page as HTML text."""
    return render_training(report, "energies.html", misses=draw_energies(report))


def draw_energies(report: EnergyReport) -> Drawing:
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
    alt = (
        f"Errors of {len(errors)} molecules, {np.abs(errors).mean():.2f} {report.unit} on average."
    )
    return Drawing(render_svg(draw, "misses", alt, (7.2, 3.4)), caption)
