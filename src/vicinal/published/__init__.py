"""Published results as data, and ``reproduce``: the figures measured again.

::

    tables/*.toml ──► Table ──► Experiment ──► cells of a run ──► Outcome ──► record
     one a table       _tables   _experiments   _reproduce         _outcomes    │
                                                                                ▼
                                           docs/results/*.json ──► results page (_page)

==================  ============================================================================
``_tables``         from a file to its experiments (``tables/schema.json``, ``tables/notes.toml``)
``_experiments``    one published figure, and the names that pick it
``_reproduce``      from experiments to the cells of a run, from its records to outcomes
``_outcomes``       published beside measured: the difference, within the spread or not
``_outputs``        outcomes and experiments as files
``_page``           the results page (``_lines``, ``_matrix``: two ways to show a table;
                    ``_figures``: how a figure is written)
==================  ============================================================================

Names are imported on first use: listing the tables loads no numerical library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vicinal.published._experiments import Experiment as Experiment
    from vicinal.published._figures import figure as figure
    from vicinal.published._figures import measured_figure as measured_figure
    from vicinal.published._figures import published_figure as published_figure
    from vicinal.published._figures import signed as signed
    from vicinal.published._outcomes import Outcome as Outcome
    from vicinal.published._outcomes import outcome_record as outcome_record
    from vicinal.published._outcomes import tally as tally
    from vicinal.published._outputs import write_outcomes as write_outcomes
    from vicinal.published._outputs import write_page as write_page
    from vicinal.published._outputs import write_plan as write_plan
    from vicinal.published._page import read_results as read_results
    from vicinal.published._page import records_citing as records_citing
    from vicinal.published._page import results_markdown as results_markdown
    from vicinal.published._reproduce import check_data as check_data
    from vicinal.published._reproduce import reproduce as reproduce
    from vicinal.published._tables import Table as Table
    from vicinal.published._tables import published_experiments as published_experiments
    from vicinal.published._tables import published_tables as published_tables
    from vicinal.published._tables import select_experiments as select_experiments

_HOMES = {
    "_experiments": ("Experiment",),
    "_figures": ("figure", "measured_figure", "published_figure", "signed"),
    "_outcomes": ("Outcome", "outcome_record", "tally"),
    "_outputs": ("write_outcomes", "write_page", "write_plan"),
    "_page": ("read_results", "records_citing", "results_markdown"),
    "_reproduce": ("check_data", "reproduce"),
    "_tables": ("Table", "published_experiments", "published_tables", "select_experiments"),
}
_HOME = {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}

__all__ = [
    "Experiment",
    "Outcome",
    "Table",
    "check_data",
    "figure",
    "measured_figure",
    "outcome_record",
    "published_experiments",
    "published_figure",
    "published_tables",
    "read_results",
    "records_citing",
    "reproduce",
    "results_markdown",
    "select_experiments",
    "signed",
    "tally",
    "write_outcomes",
    "write_page",
    "write_plan",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vicinal.published' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
