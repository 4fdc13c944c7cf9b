"""Records in, tables and the report page out; plots of metrics. No estimator is imported.

::

    rows, exhibits ──► Comparison ──► str()         a table for the terminal   (_table)
    (_records)         (_comparison)  .plot()       matplotlib                 (_errors, _plots)
                                      .report()     one HTML page              (_page, templates/)
                                      a notebook's cell

What the page draws of a metric is drawn by the same functions as ``plot_spectrum`` and its like
(``_drawings``); its maps (``_maps``) and neighbours (``_neighbors``) are its own. Which row is
best is said in ``_records``, and all sentences are made in ``_sentences``.
"""

from vicinal._lazy import lazy_names

__getattr__, __all__ = lazy_names(
    __name__,
    {
        "vicinal.report._comparison": "Comparison",
        "vicinal.report._critical": "plot_critical_differences",
        "vicinal.report._directions": "describe_direction leading_directions maps_linearly "
        "sample_rows",
        "vicinal.report._errors": "plot_errors",
        "vicinal.report._fitted": "sum_by_column",
        "vicinal.report._maps": "correlation first_two_components",
        "vicinal.report._page": "render_page write_page",
        "vicinal.report._plots": "eigenvalues_of plot_map plot_relevance plot_spectrum "
        "plot_summary",
        "vicinal.report._records": "Duel Example Exhibit Neighbor Row best_neighbors best_row "
        "mark_best same_error",
        "vicinal.report._search": "SearchExample render_search",
        "vicinal.report._sentences": "SIGNIFICANCE",
        "vicinal.report._table": "render_table",
        "vicinal.report._training_page": "write_training_page",
        "vicinal.report._why": "Answer Voter WhyCell render_answers",
    },
)
