"""The seam: what is learned (a :class:`Problem`), apart from how it is chosen and descended on.

A learner brings a problem: its rows, the settings it leaves open, the maps, the neighbour sets and
their gradient, and how held-out rows are scored. Selection and descent know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from vicinal._lines import Lines
from vicinal._types import FloatArray, IntArray
from vicinal.rows import Rows


class Objective(Protocol):
    """A loss summed over rows, with what a stochastic descent asks of it.

    ``parameters`` are one array of any shape: a factor, a matrix, two stacked maps.
    """

    @property
    def n_rows(self) -> int:
        """How many rows the loss is summed over."""

    def look(self, parameters: FloatArray, epoch: int) -> None:
        """Look again, before an epoch, where the candidates for neighbour sets lie."""

    def infer(self, parameters: FloatArray, rows: IntArray) -> Any:
        """Return the neighbour sets of the rows."""

    def gradient(self, parameters: FloatArray, sets: Any, part: slice) -> tuple[float, FloatArray]:
        """Return the summed loss of a part of the sets, and the gradient of its mean loss."""

    def settle(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters made fit for inference: a projection, a norm, or as they are."""

    def components(self, parameters: FloatArray) -> FloatArray:
        """Return the map, or stacked maps, these settled parameters stand for."""


class Rule(Protocol):
    """How a gradient moves the parameters; ``progress`` runs from 0 to 1 over the descent."""

    def step(self, parameters: FloatArray, gradient: FloatArray, progress: float) -> FloatArray:
        """Return the new parameters."""


class DescentSetting(Protocol):
    """What a problem leaves open: a start, a rate, a weight. Hashable, and known by its label."""

    @property
    def start(self) -> Any:
        """Where it sets out."""

    def label(self) -> str:
        """Return a short description for progress lines."""

    def describe(self) -> dict[str, Any]:
        """Return its values by the names users know."""


class Problem(Protocol):
    """Rows and what is to be learned from them."""

    @property
    def rows(self) -> Rows:
        """The rows it is learned from."""

    def on(self, rows: Any) -> Self:
        """Return the same problem on other rows, such as a part of its own."""

    def settings(self) -> Sequence[Any]:
        """Return every :class:`DescentSetting` that was left open, the likeliest first."""

    def begin(self, setting: Any, seed: Sequence[int]) -> Any:
        """Return a :class:`~vicinal.metric.descent.Descent` at a setting's start."""

    @property
    def has_mean(self) -> bool:
        """Whether several maps have a mean, as those of one linear map have; settings a start."""

    def mean(self, maps: Sequence[FloatArray]) -> FloatArray:
        """Return the map of the mean of several maps' metrics."""

    def score(self, components: FloatArray, held: Any) -> FloatArray:
        """Return the loss (m,) of each held-out row, predicted from these rows under a map."""


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
    inner_error: float | None = None
    seconds_left: float | None = None

    def describe(self) -> str:
        """Return a line for people: "fit, lda: epoch 3 of 12, loss 0.0512, 4 s left"."""
        line = f"{self.stage}, {self.setting}: epoch {self.epoch} of {self.n_epochs}"
        line += f", loss {self.loss:.4f}"
        if self.inner_error is not None:
            line += f", inner error {self.inner_error:.4f}"
        return line if self.seconds_left is None else f"{line}, {self.seconds_left:.0f} s left"


# Told of every epoch; a true answer ends the fit with the best that was found.
Watch = Callable[[Progress], bool]


@dataclass(frozen=True)
class Watcher:
    """Prints a line an epoch, and asks a user's callback whether that was enough."""

    lines: Lines
    callback: Callable[[Progress], Any] | None = None

    def __call__(self, progress: Progress) -> bool:
        """Tell of an epoch; those of settings are for who wants to see more."""
        self.lines.say(progress.describe(), level=2 if progress.stage == "settings" else 1)
        return bool(self.callback(progress)) if self.callback is not None else False


def watch_of(learner: Any) -> Watcher:
    """Return the watch that a learner's ``verbose`` and ``callback`` (where it has one) ask for."""
    lines = Lines(type(learner).__name__, learner.verbose)
    return Watcher(lines, getattr(learner, "callback", None))
