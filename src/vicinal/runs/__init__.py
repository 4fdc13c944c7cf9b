"""Runs: a plan of cells in, records in a folder out; stop at any moment and go on later.

::

    cells ──► runner ──► pool ──► worker, worker, ...    (processes of their own)
                │                    │
                ▼                    ▼
              folder ◄── records ────┘
              (config.json, records.jsonl, run.lock)

===========  ==================================================================================
``_cells``   what is to be measured, as plain values with keys
``_folder``  the run folder: one writer, one configuration (``_journal``: its records)
``_runner``  from cells to records, the missing ones only
``_pool``    worker processes (``_worker``: one of them), so that a crash costs one cell
``_meter``   what a piece of work cost
===========  ==================================================================================
"""

from vicinal.runs._cells import Cell, Setting, Source, plan_cells
from vicinal.runs._folder import RunFolder, WriteError
from vicinal.runs._runner import Progress, run_cells

__all__ = [
    "Cell",
    "Progress",
    "RunFolder",
    "Setting",
    "Source",
    "WriteError",
    "plan_cells",
    "run_cells",
]
