"""Published beside measured: the difference, and whether it lies within the published spread."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from vicinal import __version__
from vicinal.published._experiments import Experiment

VERDICTS = ("lower", "within", "higher")
# One unit of the last digit that sources print: half of it is no difference.
LAST_DIGIT = {"percent": 0.01, "share": 0.0001, "nmse": 0.0001}


@dataclass(frozen=True)
class Outcome:
    """What one experiment gave: all errors as shares (or nMSE), one a fold.

    ``expected`` is the number of folds there should be; ``messages`` say why some are missing.
    ``chosen`` holds the numbers of neighbours, or the radii, that cross-validation took.
    """

    experiment: Experiment
    errors: tuple[float, ...]
    expected: int
    fit_seconds: float = math.nan
    fit_cpu_seconds: float = math.nan
    n_train: int = 0
    n_test: int = 0
    quick: bool = False
    messages: tuple[str, ...] = ()
    chosen: tuple[float, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every fold was measured."""
        return len(self.errors) == self.expected

    @property
    def published(self) -> float:
        """The published error, as a share where it is printed in percent; NaN where it is not."""
        error = self.experiment.error
        return math.nan if error is None else error * _unit(self.experiment)

    @property
    def measured(self) -> float:
        """The mean error over the folds; NaN where none was measured."""
        return fmean(self.errors) if self.errors else math.nan

    @property
    def deviation(self) -> float | None:
        """The standard deviation over folds (n − 1); None for fewer than two."""
        return stdev(self.errors) if len(self.errors) > 1 else None

    @property
    def difference(self) -> float:
        """Measured minus published: negative is better than published."""
        return self.measured - self.published

    @property
    def spread(self) -> float | None:
        """The published spread; for a single test part of n rows, √(p (1 − p) / n)."""
        if self.experiment.spread is not None:
            return self.experiment.spread * _unit(self.experiment)
        if self.experiment.unit != "nmse" and self.experiment.error is not None and self.n_test:
            return math.sqrt(self.published * (1 - self.published) / self.n_test)
        return None

    @property
    def verdict(self) -> str | None:
        """Whether the measured error lies "within" the spread, "lower" or "higher"."""
        if self.experiment.error is None:
            return None
        if self.spread is None or not self.complete or self.quick:
            return None
        room = self.spread + LAST_DIGIT[self.experiment.unit] / 2 * _unit(self.experiment)
        return VERDICTS[1 + (self.difference > room) - (self.difference < -room)]


def _unit(experiment: Experiment) -> float:
    return 0.01 if experiment.unit == "percent" else 1.0


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON values; errors are shares, rounded to six digits."""
    experiment = outcome.experiment
    return {
        "experiment": experiment.name,
        "dataset": experiment.dataset,
        "method": experiment.label,
        "k": experiment.k,
        "error_mean": _rounded(outcome.measured),
        "error_sd": _rounded(outcome.deviation),
        "errors": [round(error, 6) for error in outcome.errors],
        "published_error": _rounded(outcome.published),
        "published_spread": _rounded(outcome.spread),
        "difference": _rounded(outcome.difference),
        "verdict": outcome.verdict,
        "fit_seconds": _rounded(outcome.fit_seconds, 3),
        "fit_cpu_seconds": _rounded(outcome.fit_cpu_seconds, 3),
        "n_train": outcome.n_train,
        "n_test": outcome.n_test,
        "n_folds": outcome.expected,
        "chosen": [float(f"{value:.6g}") for value in outcome.chosen],
        "seed": experiment.folds.get("seed", 0),
        "version": __version__,
        "code": code_digest(),
        "unit": experiment.unit,
        "quick": outcome.quick,
        "status": _status(outcome),
        "message": "; ".join(outcome.messages),
    }


@cache
def code_digest(room: str | None = None) -> str:
    """Return the first digits of a digest of all code that figures depend on, or of one room's.

    Pages, plots and commands can change without a figure doing so, and are left out; networks on
    the sphere are a room of their own.
    """
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package)
        counts = place.parts[0] not in _NO_FIGURES if room is None else place.parts[0] == room
        if counts:
            digest.update(f"{place.as_posix()}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


_NO_FIGURES = ("cli", "compat", "published", "report", "runs", "sphere", "testing.py")


def _status(outcome: Outcome) -> str:
    if outcome.complete:
        return "ok"
    return "partial" if outcome.errors else "failed"


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None or math.isnan(value) else round(value, digits)


def count_verdicts(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many records lie lower than, within and higher than published."""
    return {word: sum(record["verdict"] == word for record in records) for word in VERDICTS}


def tally(records: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence: how many errors are below the published ones, and by more than chance."""
    twins = [record for record in records if record["difference"] is not None]
    below = sum(record["difference"] < 0 for record in twins)
    counts = count_verdicts(records)
    return (
        f"{below} of {len(records)} errors are below the published ones, {counts['lower']} by "
        f"more than the spread; {counts['within']} lie within it and {counts['higher']} above it."
    )
