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
``_page``           the results page (``_sections``: two ways to show a table; ``_figures``: how a
                    figure is written)
``_charts``         the same as bars, or a dot a cell
``_trainings``      tables of networks on the sphere, whose cells are trainings of worlds
``_check``          cells of records, drawn at random, measured again: do they still hold?
==================  ============================================================================

Names are imported on first use: listing the tables loads no numerical library.
"""

from vicinal._lazy import lazy_names

__getattr__, __all__ = lazy_names(
    __name__,
    {
        "vicinal.published._charts": "draw_cells draw_results",
        "vicinal.published._check": "check_records draw_folds",
        "vicinal.published._experiments": "Experiment",
        "vicinal.published._figures": "figure measured_figure published_figure signed",
        "vicinal.published._outcomes": "Outcome outcome_record tally",
        "vicinal.published._page": "read_results records_citing results_markdown",
        "vicinal.published._reproduce": "check_data reproduce",
        "vicinal.published._tables": "Table published_experiments published_tables "
        "select_experiments",
        "vicinal.published._trainings": "is_of_sphere published_trainings select_trainings "
        "train_again trainings_markdown",
    },
)
