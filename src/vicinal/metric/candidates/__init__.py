"""Candidates: the near rows of a row's own class and of others."""

from vicinal.metric.candidates._exact import (
    ClassOrder,
    all_candidates,
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
    "all_candidates",
    "choose_refresh",
    "choose_search",
    "find_candidates",
    "nearest_rows",
    "order_by_class",
    "refresh_candidates",
    "require_faiss",
    "squared_distances_to",
]
