"""Records in, tables and the report page out; plots of metrics. No estimator is imported.

::

    rows, exhibits ──► Comparison ──► str()         a table for the terminal   (_table)
    (_records)         (_comparison)  .plot()       matplotlib                 (_plots, _figures)
                                      .report()     one HTML page              (_page, templates/)
                                      a notebook's cell

What the page draws of a metric is drawn by the same functions as ``plot_spectrum`` and its like
(``_drawings``); its maps (``_maps``) and neighbours (``_neighbors``) are its own. Which row is
best is said in ``_records``, and all sentences are made in ``_sentences``.
"""

from ._comparison import Comparison
from ._directions import describe_direction, leading_directions, maps_linearly, sample_rows
from ._page import render_page, write_page
from ._plots import eigenvalues_of, plot_errors, plot_relevance, plot_spectrum, plot_summary
from ._records import (
    Duel,
    Example,
    Exhibit,
    Neighbor,
    Row,
    best_neighbors,
    best_row,
    mark_best,
)
from ._table import render_table
from ._training_page import (
    JudgedPart,
    MisreadPicture,
    TrainingReport,
    write_training_page,
)

__all__ = [
    "Comparison",
    "Duel",
    "Example",
    "Exhibit",
    "JudgedPart",
    "MisreadPicture",
    "Neighbor",
    "Row",
    "TrainingReport",
    "best_neighbors",
    "best_row",
    "describe_direction",
    "eigenvalues_of",
    "leading_directions",
    "maps_linearly",
    "mark_best",
    "plot_errors",
    "plot_relevance",
    "plot_spectrum",
    "plot_summary",
    "render_page",
    "render_table",
    "sample_rows",
    "write_page",
    "write_training_page",
]
