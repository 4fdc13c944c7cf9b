"""What travels between the parts of a fit: options, settings, progress, rows, the outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.gerrymander._initialisation import Start

# Below so many rows one inner split tells too little; several are affordable.
FEW_ROWS = 1500
# Between these a part of the rows teaches nearly what all do, in a fraction of the time; of more
# rows a part of the same size is too few.
PARTED_ROWS = (10_000, 20_000)


@dataclass(frozen=True)
class Options:
    """Everything the learner was told, checked."""

    n_neighbors: int
    training_neighbors: int
    n_components: int | None
    solver: str
    init: Any
    warm: bool
    costs: FloatArray
    learning_rate: float | None
    max_iter: int
    batch_size: int | None
    n_other: int | None
    refresh: int | None
    reuse: int
    tol: float
    validation_fraction: float
    regularizer: str | None
    regularization: float | None
    n_threads: int
    seed: int
    selection_rows: int = 6500
    search: str = "auto"


@dataclass(frozen=True)
class Setting:
    """What the inner split chooses: a start, a rate, a weight λ, and when to stop."""

    start: Start
    rate: float
    regularization: float = 0.0
    n_epochs: int = 0

    def label(self) -> str:
        """Return a short description for progress lines."""
        amount = f", λ {self.regularization:g}" if self.regularization else ""
        return f"{self.start.label()}, rate {self.rate:g}{amount}"


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each epoch.

    ``stage`` is "settings" or "fit"; ``inner_error`` is None where no rows are held out;
    ``seconds_left`` an estimate for the fit, None while settings are chosen.
    """

    stage: str
    setting: str
    epoch: int
    n_epochs: int
    loss: float
    inner_error: float | None
    seconds_left: float | None

    def describe(self) -> str:
        """Return a line for people: "fit, lda: epoch 3 of 12, loss 0.0512, 4 s left"."""
        line = f"{self.stage}, {self.setting}: epoch {self.epoch} of {self.n_epochs}"
        line += f", loss {self.loss:.4f}"
        if self.inner_error is not None:
            line += f", inner error {self.inner_error:.4f}"
        return line if self.seconds_left is None else f"{line}, {self.seconds_left:.0f} s left"


Watch = Callable[[Progress], bool]


@dataclass(frozen=True)
class Learned:
    """The map in the frame's coordinates and how it was found."""

    components: FloatArray
    setting: Setting
    losses: tuple[float, ...]
    scores: tuple[float, ...]
    start_scale: float


@dataclass(frozen=True)
class Rows:
    """Training rows in the frame's coordinates.

    ``plain`` (p, r) is the map under which distances are those of the original features; None
    means the identity.
    """

    X: AnyArray
    codes: IntArray
    n_features: int
    weights: FloatArray | None = None
    plain: FloatArray | None = None

    def take(self, rows: IntArray) -> Rows:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], codes=self.codes[rows], weights=weights)
