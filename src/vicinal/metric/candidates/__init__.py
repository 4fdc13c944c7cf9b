"""Candidates: the near rows of a row's own class and of others, which alone can enter h* or ĥ.

    mapped rows, in order of class (order_by_class ─► ClassOrder)
         │
         ▼ SEARCHES, by name
         ├─ "exact"        all rows against all, blocks of float32 products   refresh_candidates
         ├─ "approximate"  cells of near rows, then what neighbours know
         └─ "faiss"        an inverted file
         │
         ▼ (n, n_own + n_other) rows, −1 for none
    squared_distances_to ─► distances and classes of the lists, for inference

``nearest_rows`` answers the simpler question, the k nearest of new rows, for scores: by the search
that predicts. It and the exact lists are reductions of the one loop in ``pairs``.
"""

from vicinal.metric.candidates._search import EXACT_UP_TO, REFRESH, SEARCHES, choose_search
from vicinal.pairs import (
    ClassOrder,
    nearest_rows,
    order_by_class,
    refresh_candidates,
    squared_distances_to,
)

__all__ = [
    "EXACT_UP_TO",
    "REFRESH",
    "SEARCHES",
    "ClassOrder",
    "choose_search",
    "nearest_rows",
    "order_by_class",
    "refresh_candidates",
    "squared_distances_to",
]
