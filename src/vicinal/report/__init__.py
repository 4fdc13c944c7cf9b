"""Records in, tables and the report page out; plots of metrics. No estimator is imported."""

from ._page import render_page, write_page
from ._plots import plot_relevance, plot_spectrum, plot_summary
from ._table import render_table

__all__ = [
    "plot_relevance",
    "plot_spectrum",
    "plot_summary",
    "render_page",
    "render_table",
    "write_page",
]
