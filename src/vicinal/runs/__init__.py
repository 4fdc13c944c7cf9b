"""Runs: a plan of cells in, records in a folder out; stop at any moment and go on later.

::

    cells ──► runner ──► pool ──► worker, worker, ...    (processes of their own)
                │                    │
                ▼                    ▼
              folder ◄── records ────┘
              (config.json, records.jsonl, run.lock)

============  =================================================================================
``_cells``    what is to be measured, as plain values with keys
``_records``  what a record of it says
``_folder``   the run folder: one writer, one configuration (``_journal``: its records)
``_runner``   from cells to records, the missing ones only
``_pool``     worker processes (``_worker``: one of them), so that a crash costs one cell
``_meter``    what a piece of work cost
============  =================================================================================

The engine knows no learner: a request names who answers it, and the worker looks that up.
"""

from vicinal.runs._cells import (
    HNN,
    KNN,
    Cell,
    Neighbors,
    Setting,
    Source,
    cell_from_json,
    digest_of,
    record_key,
)
from vicinal.runs._folder import RUNS, RunFolder, WriteError
from vicinal.runs._journal import Record
from vicinal.runs._meter import Elapsed, PeakMemory, Stopwatch
from vicinal.runs._pool import ThisProcess, WorkerPool, Workers, ask
from vicinal.runs._records import fail_cell, fail_record, record_head
from vicinal.runs._runner import MEASURER, Listener, Progress, known_records, run_cells

__all__ = [
    "HNN",
    "KNN",
    "MEASURER",
    "RUNS",
    "Cell",
    "Elapsed",
    "Listener",
    "Neighbors",
    "PeakMemory",
    "Progress",
    "Record",
    "RunFolder",
    "Setting",
    "Source",
    "Stopwatch",
    "ThisProcess",
    "WorkerPool",
    "Workers",
    "WriteError",
    "ask",
    "cell_from_json",
    "digest_of",
    "fail_cell",
    "fail_record",
    "known_records",
    "record_head",
    "record_key",
    "run_cells",
]
