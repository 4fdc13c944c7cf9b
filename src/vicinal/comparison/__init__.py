"""The main job: methods compared on the same folds, and what each of them learned.

::

    compare(X, y) ──► question ──► plan ──► cells ──► records ──► Comparison
                      (_sources,   (_plan)  (_measurer, in this    (_summary, _describe)
                       _held)                process or others)
                                               │
                                               ▼
                           rows read once, prepared a fold at a time (_rows, _views)
                           fit, search, vote, count (_execute, _tuned, _scoring)
                           what was learned, of the same fit (_exhibit, _intervals, _relevance)

``_table_models`` fits one method on all rows of a table, for ``vicinal fit``; ``_growth`` measures
what methods cost as the rows grow, for ``vicinal bench``, ``_benchmark`` all methods on many
tables; ``_found`` reads what a run found.
"""

from vicinal._lazy import lazy_names

__getattr__, __all__ = lazy_names(
    __name__,
    {
        "vicinal.comparison._benchmark": "Benchmark count_folds critical_difference find_tables "
        "mean_ranks plan_benchmark summarize_benchmark",
        "vicinal.comparison._benchmark_page": "benchmark_page",
        "vicinal.comparison._compare": "compare",
        "vicinal.comparison._found": "read_found",
        "vicinal.comparison._growth": "measure_growth plan_growth",
        "vicinal.comparison._measurer": "Measurer",
        "vicinal.comparison._plan": "Question plan_cells plan_comparison",
        "vicinal.comparison._rows": "load_rows",
        "vicinal.comparison._scoring": "prediction_error",
        "vicinal.comparison._sources": "find_source",
        "vicinal.comparison._synthetic": "SYNTHETIC",
        "vicinal.comparison._table_models": "fit_table read_new_rows read_training_rows",
    },
)
