"""From a plan to records: every cell that has no result yet, in worker processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vicinal.runs._cells import Cell
from vicinal.runs._folder import RunFolder
from vicinal.runs._journal import Record
from vicinal.runs._pool import Finished, WorkerPool, Workers
from vicinal.runs._records import fail_cell


@dataclass(frozen=True)
class RunProgress:
    """How far a run is. ``ended`` and its ``records`` are set when a cell has just ended."""

    n_cells: int
    n_done: int
    n_failed: int
    running: tuple[Cell, ...]
    seconds_left: float | None
    ended: Cell | None = None
    records: tuple[Record, ...] = ()
    folder: Path | None = None


Listener = Callable[[RunProgress], None]

# Who measures cells, by name: learners are above the engine that runs them.
MEASURER = "vicinal.comparison:Measurer"


def cell_request(cell: Cell, *, exhibits: Path | None = None) -> dict[str, Any]:
    """Return the request to measure a cell; the reply holds its ``records``.

    What each fit learned goes to the folder ``exhibits``, where that is given.
    """
    place = None if exhibits is None else str(exhibits)
    return {"job": MEASURER, "do": "measure", "cell": asdict(cell), "exhibits": place}


def unmeasured(cells: Iterable[Cell], folder: RunFolder) -> list[Cell]:
    """Return what is left to do: cells without a result, cut to the k they lack."""
    left = (
        replace(c, ks=tuple(k for k, key in c.keys().items() if not folder.measured(key)))
        for c in cells
    )
    return [cell for cell in left if cell.ks]


def run_cells(
    cells: Sequence[Cell],
    folder: RunFolder,
    *,
    jobs: int = 1,
    listener: Listener | None = None,
    pool: Workers | None = None,
    exhibits: bool = False,
) -> list[Record]:
    """Measure every cell that has no result yet, and return the records of all, in their order.

    Each record is on the disk before the next cell is looked at. A cell that fails, or takes
    its worker with it, becomes a failed record; the rest go on.

    Parameters
    ----------
    cells : sequence of Cell
    folder : RunFolder
        Opened; it says what is known and keeps what is new.
    jobs : int
        Worker processes; the processors are shared out among them.
    pool : Workers, optional
        Ask these instead, and leave them running.
    listener : callable, optional
        Called with a :class:`RunProgress` when a cell starts or ends.
    exhibits : bool
        Keep in the folder, for the cells of the first fold, what each metric learned.

    Raises
    ------
    WriteError
        Where a record cannot be written. What was written before is safe.
    """
    left = unmeasured(cells, folder)
    if pool is None:
        with WorkerPool(max(1, min(jobs, len(left)))) as pool:
            return run_cells(cells, folder, listener=listener, pool=pool, exhibits=exhibits)
    tally = _Tally(left, cells, folder, pool.n_workers, listener)
    requests = [
        cell_request(cell, exhibits=folder.path if exhibits and cell.fold == 0 else None)
        for cell in left
    ]
    for event in pool.run(requests):
        cell = left[event.index]
        if isinstance(event, Finished):
            records = _records_of(event, cell)
            folder.add(records)
            tally.end(cell, records)
        else:
            tally.start(cell)
    return known_records(cells, folder)


def _records_of(event: Finished, cell: Cell) -> list[Record]:
    if event.reply is None:
        return fail_cell(cell, event.crash)
    records: list[Record] = event.reply["records"]
    return records


def known_records(cells: Iterable[Cell], folder: RunFolder) -> list[Record]:
    """Return the records a folder has of some cells, in the order of cells and k."""
    keys = (key for cell in cells for key in cell.keys().values())
    return [folder.known[key] for key in keys if key in folder.known]


class _Tally:
    """Keeps count, and an eye on the time."""

    def __init__(
        self,
        left: Sequence[Cell],
        cells: Sequence[Cell],
        folder: RunFolder,
        jobs: int,
        listener: Listener | None,
    ) -> None:
        self._waiting = list(left)
        self._running: list[Cell] = []
        self._n_cells, self._n_failed, self._jobs = len(cells), 0, jobs
        self._folder = folder.path
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._listener = listener or (lambda progress: None)
        self._learn(known_records(cells, folder))
        self._tell(None, ())

    def _learn(self, records: Iterable[Record]) -> None:
        for record in records:
            if record["status"] == "ok":
                taken = record["fit_seconds"] + record["predict_seconds"]
                self._seconds[record["method"]].append(taken)

    def start(self, cell: Cell) -> None:
        self._waiting.remove(cell)
        self._running.append(cell)
        self._tell(None, ())

    def end(self, cell: Cell, records: Sequence[Record]) -> None:
        self._running.remove(cell)
        self._learn(records)
        self._n_failed += any(record["status"] != "ok" for record in records)
        self._tell(cell, records)

    def _tell(self, ended: Cell | None, records: Sequence[Record]) -> None:
        self._listener(
            RunProgress(
                n_cells=self._n_cells,
                n_done=self._n_cells - len(self._waiting) - len(self._running),
                n_failed=self._n_failed,
                running=tuple(self._running),
                seconds_left=self._seconds_left(),
                ended=ended,
                records=tuple(records),
                folder=self._folder,
            )
        )

    def _seconds_left(self) -> float | None:
        left = [cell.method for cell in (*self._waiting, *self._running)]
        return estimate_seconds(left, self._seconds, self._jobs)


def estimate_seconds(
    methods_left: Sequence[str], seconds: dict[str, list[float]], jobs: int
) -> float | None:
    """Return the time left: each method's own mean, the mean of all where it has not run yet."""
    taken = [value for values in seconds.values() for value in values]
    if not taken:
        return None
    typical = sum(taken) / len(taken)
    means = {method: sum(values) / len(values) for method, values in seconds.items()}
    return sum(means.get(method, typical) for method in methods_left) / jobs
