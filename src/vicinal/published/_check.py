"""Do records still hold? Some cells of them, drawn at random, measured again.

    records ─▶ the folds that cost little ─▶ N of them ─▶ measured again ─▶ Remeasured each

A fold is as it was where its error is the recorded one to six digits. One that moved has moved
beyond noise where the difference is larger than the standard deviation of a share over its test
rows, or, for numbers, one hundredth of the error.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vicinal.published._experiments import Experiment
from vicinal.published._reproduce import experiment_cells
from vicinal.runs import Listener, RunFolder, WorkerPool, record_key, run_cells

# CPU-seconds of a fit that is measured again without a thought.
CHEAP = 10.0
_DIGITS = 6
_SHARE_OF_NMSE = 0.01


@dataclass(frozen=True)
class Remeasured:
    """A fold as recorded and as measured now, and how much of a difference is noise.

    ``code`` is what the record says of the code it came from; ``measured`` is NaN where the fold
    failed.
    """

    experiment: str
    fold: int
    recorded: float
    measured: float
    noise: float
    code: str
    message: str = ""

    @property
    def moved(self) -> bool:
        """Whether the error is another one."""
        return not abs(self.measured - self.recorded) < 10.0**-_DIGITS

    @property
    def moved_far(self) -> bool:
        """Whether it is another one by more than noise."""
        return not abs(self.measured - self.recorded) <= self.noise

    def describe(self) -> str:
        """Return a line for people."""
        name = f"{self.experiment}, fold {self.fold}"
        if not self.moved:
            return f"{name}: {self.recorded:.4f}, as recorded"
        if math.isnan(self.measured):
            return f"{name}: recorded {self.recorded:.4f}, not measured: {self.message}"
        how = "moved" if self.moved_far else "moved within noise"
        of = f" (recorded by code {self.code})" if self.code else " (recorded by unknown code)"
        return f"{name}: recorded {self.recorded:.4f}, measured {self.measured:.4f}, {how}{of}"


def draw_folds(
    records: Sequence[Mapping[str, Any]], n_folds: int, seed: int, most_seconds: float = CHEAP
) -> list[tuple[Mapping[str, Any], int]]:
    """Return records and folds of theirs, drawn at random from those that cost little."""
    cheap = [
        (record, fold)
        for record in records
        if record["status"] == "ok" and record["fit_cpu_seconds"] <= most_seconds
        for fold in range(len(record["errors"]))
    ]
    return random.Random(seed).sample(cheap, min(n_folds, len(cheap)))


def check_records(
    drawn: Sequence[tuple[Mapping[str, Any], int]],
    experiments: Sequence[Experiment],
    path: Path,
    *,
    jobs: int = 1,
    listener: Listener | None = None,
) -> list[Remeasured]:
    """Measure folds of records again, in a run folder of their own.

    Parameters
    ----------
    drawn : sequence of (record, fold)
        Of :func:`draw_folds`.
    experiments : sequence of Experiment
        All there are: a record names its own.
    path : Path
        An empty folder.
    jobs : int
        Worker processes.
    listener : callable or None
    """
    by_name = {experiment.name: experiment for experiment in experiments}
    cells = [experiment_cells(by_name[record["experiment"]])[fold] for record, fold in drawn]
    # One cell a fit: experiments that differ in k alone may share it.
    alone = {record_key(cell, cell.ks[0]): replace(cell) for cell in cells}
    with RunFolder(path) as folder, WorkerPool(jobs) as pool:
        run_cells(list(alone.values()), folder, pool=pool, listener=listener)
        done = [folder.known.get(record_key(cell, cell.ks[0])) for cell in cells]
    return [_compare(record, fold, now) for (record, fold), now in zip(drawn, done, strict=True)]


def _compare(record: Mapping[str, Any], fold: int, now: Mapping[str, Any] | None) -> Remeasured:
    recorded = record["errors"][fold]
    is_done = now is not None and now["status"] == "ok"
    measured = float(now["error"]) if now is not None and is_done else math.nan
    message = "" if now is None or is_done else str(now["message"])
    share = min(1.0, recorded)
    of_share = math.sqrt(share * (1 - share) / max(1, record["n_test"]))
    noise = _SHARE_OF_NMSE * recorded if record.get("unit") == "nmse" else of_share
    code = str(record.get("code", ""))
    return Remeasured(record["experiment"], fold, recorded, measured, noise, code, message)
