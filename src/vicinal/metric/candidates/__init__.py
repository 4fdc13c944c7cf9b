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

from vicinal.metric.candidates._approximate import approximate_candidates
from vicinal.metric.candidates._faiss import faiss_candidates
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

SEARCHES = {
    "exact": refresh_candidates,
    "approximate": approximate_candidates,
    "faiss": faiss_candidates,
}
# Epochs between searches: fewer where a search costs little beside an epoch.
REFRESH = {"exact": 4, "approximate": 1, "faiss": 4}
# Where comparing all rows with all rows begins to cost more than exchanging lists.
EXACT_UP_TO = 20_000


def choose_search(n_rows: int) -> str:
    """Return the search that is quicker with so many rows."""
    return "exact" if n_rows <= EXACT_UP_TO else "approximate"
