"""Candidates: the near rows of a row's own class and of others, which alone can enter h* or ĥ.

    mapped rows, in order of class (order_by_class ─► ClassOrder)
         │
         ▼ find_candidates
         ├─ "exact"        all rows against all, blocks of float32 products   refresh_candidates
         ├─ "approximate"  cells of near rows, then what neighbours know
         └─ "faiss"        an inverted file
         │
         ▼ (n, n_own + n_other) rows, −1 for none
    squared_distances_to ─► distances and classes of the lists, for inference

``nearest_rows`` answers the simpler question, the k nearest of new rows, for scores.
"""

from vicinal.metric.candidates._exact import (
    ClassOrder,
    order_by_class,
    refresh_candidates,
    squared_distances_to,
)
from vicinal.metric.candidates._nearest import nearest_rows
from vicinal.metric.candidates._search import (
    SEARCHES,
    choose_refresh,
    choose_search,
    find_candidates,
    require_faiss,
)

__all__ = [
    "SEARCHES",
    "ClassOrder",
    "choose_refresh",
    "choose_search",
    "find_candidates",
    "nearest_rows",
    "order_by_class",
    "refresh_candidates",
    "require_faiss",
    "squared_distances_to",
]
