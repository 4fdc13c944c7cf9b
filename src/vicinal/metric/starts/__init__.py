"""Maps computed directly from rows and classes: where learners start, and what LDA is.

    rows, classes ── within_scatter ──> WithinScatter ── discriminant_map ──> L (p, d)
                                              └── shrinkage_of ──> γ

A scatter is computed once and serves any number of maps: other shrinkages, other ranks.
"""

from vicinal.metric.starts._discriminant import (
    SHRINKAGES,
    WithinScatter,
    discriminant_map,
    discriminant_ratios,
    floor_variances,
    shrinkage_of,
    within_scatter,
)

__all__ = [
    "SHRINKAGES",
    "WithinScatter",
    "discriminant_map",
    "discriminant_ratios",
    "floor_variances",
    "shrinkage_of",
    "within_scatter",
]
