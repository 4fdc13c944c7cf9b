"""The searches for candidate lists by name, and how often each is worth its time."""

from __future__ import annotations

from vicinal.metric.candidates._approximate import approximate_candidates
from vicinal.metric.candidates._faiss import faiss_candidates
from vicinal.pairs import refresh_candidates

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
