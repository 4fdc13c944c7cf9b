"""Experiments: a plan of cells in, records in a resumable folder out.

==================  ============================================================================
``_methods``        the table of methods
``_cells``          what is to be measured, as plain values with keys
``_sources``        which rows a user means
``_rows``           those rows: loaded, sampled, split, prepared
``_views``          parts of a data set (``_synthetic``: made-up ones)
``_execute``        one cell, measured (``_meter``: what it cost)
``_tuned``          one cell whose number of neighbours, or radius, is chosen
``_worker``         the process that does it (``_jobs``: what it can be asked; ``_pool``: many)
``_folder``         the run folder (``_journal``: its records)
``_runner``         from a plan to records
``_summary``        from records to rows of a table (``_significance``: the paired tests)
``_exhibit``        what the report shows of one metric (``_exhibit_file``: kept on disk)
``_compare``        all of the above for one data set (``_results``: its results.json)
``_growth``         what methods cost as the rows grow
``_published``      published figures as data
``_reproduce``      from published figures to cells, from records to ``_outcomes``
``_results_page``   the page of them (``_results_matrix``: methods as columns; ``_figures``)
==================  ============================================================================

Names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vicinal.experiments._cells import Cell as Cell
    from vicinal.experiments._cells import Setting as Setting
    from vicinal.experiments._cells import Source as Source
    from vicinal.experiments._cells import plan_cells as plan_cells
    from vicinal.experiments._compare import plan_comparison as plan_comparison
    from vicinal.experiments._compare import run_comparison as run_comparison
    from vicinal.experiments._compare import write_outputs as write_outputs
    from vicinal.experiments._folder import RunFolder as RunFolder
    from vicinal.experiments._folder import WriteError as WriteError
    from vicinal.experiments._methods import Method as Method
    from vicinal.experiments._methods import get_method as get_method
    from vicinal.experiments._methods import list_methods as list_methods
    from vicinal.experiments._runner import Progress as Progress
    from vicinal.experiments._runner import run_cells as run_cells
    from vicinal.experiments._sources import find_source as find_source
    from vicinal.experiments._summary import summarize_records as summarize_records

_HOMES = {
    "_cells": ("Cell", "Setting", "Source", "plan_cells"),
    "_compare": ("plan_comparison", "run_comparison", "write_outputs"),
    "_folder": ("RunFolder", "WriteError"),
    "_methods": ("Method", "get_method", "list_methods"),
    "_runner": ("Progress", "run_cells"),
    "_sources": ("find_source",),
    "_summary": ("summarize_records",),
}
_HOME = {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}

__all__ = [
    "Cell",
    "Method",
    "Progress",
    "RunFolder",
    "Setting",
    "Source",
    "WriteError",
    "find_source",
    "get_method",
    "list_methods",
    "plan_cells",
    "plan_comparison",
    "run_cells",
    "run_comparison",
    "summarize_records",
    "write_outputs",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vicinal.experiments' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
