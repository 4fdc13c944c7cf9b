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

from vicinal._lazy import lazy_names

__getattr__, __all__ = lazy_names(
    __name__,
    {
        "vicinal.runs._cells": "CHOSEN Cell HNN KNN LEARNED Neighbors Setting Source digest_of "
        "record_from_json record_key",
        "vicinal.runs._folder": "RUNS RunFolder WriteError",
        "vicinal.runs._journal": "Record",
        "vicinal.runs._meter": "Elapsed PeakMemory Stopwatch",
        "vicinal.runs._pool": "ThisProcess WorkerPool Workers ask count_processors",
        "vicinal.runs._records": "fail_cell fail_record record_head",
        "vicinal.runs._runner": "Listener MEASURER RunProgress known_records run_cells unmeasured",
    },
)
