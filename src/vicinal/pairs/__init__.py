"""Pairs of rows: one loop over blocks of products, and what is kept of it.

    queries, rows ─► product_blocks ─┬─ Database.nearest, nearest_rows   the k nearest, ties by row
                                     ├─ Database.within                  all within a radius
                                     ├─ refresh_candidates               near rows by class
                                     ├─ search_pairs                     pairs inside a margin
                                     ├─ soft_loss                        soft weights of all pairs
                                     └─ distance_blocks                  rounded distances, a block

Rows are plain arrays of numbers that were checked before; the checked door for users is ``index``.
How far a rounded product may mislead is said, and proven, once: ``_filter``.
"""

from vicinal.pairs._classes import (
    ClassOrder,
    candidate_limits,
    order_by_class,
    refresh_candidates,
    shortlists,
    squared_distances_to,
)
from vicinal.pairs._filter import RowSide, absolute_slack, folded_slack
from vicinal.pairs._margin import search_pairs
from vicinal.pairs._nearest import (
    BLOCK_SIZE,
    LARGEST_VALUE,
    Database,
    choose_unit,
    in_units,
    nearest_rows,
)
from vicinal.pairs._products import (
    centred_float32,
    distance_blocks,
    fold_queries,
    fold_rows,
    panels_of,
    product_blocks,
    rounded_squared_distances,
)
from vicinal.pairs._soft import SoftRule, pair_distances, soft_loss

__all__ = [
    "BLOCK_SIZE",
    "LARGEST_VALUE",
    "ClassOrder",
    "Database",
    "RowSide",
    "SoftRule",
    "absolute_slack",
    "candidate_limits",
    "centred_float32",
    "choose_unit",
    "distance_blocks",
    "fold_queries",
    "fold_rows",
    "folded_slack",
    "in_units",
    "nearest_rows",
    "order_by_class",
    "pair_distances",
    "panels_of",
    "product_blocks",
    "refresh_candidates",
    "rounded_squared_distances",
    "search_pairs",
    "shortlists",
    "soft_loss",
    "squared_distances_to",
]
