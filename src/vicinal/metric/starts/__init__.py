"""Maps computed directly from rows and classes: where learners start, and what LDA is.

    rows, classes ─┬─ within_scatter ──> WithinScatter ─┬─ discriminant_map ──> L (p, d)
                   │                                    └─ shrinkage_of ──> γ
                   └─ relieff_weights ──> W (d,) ── feature_scale ──> the diagonal of L (d,)

A scatter is computed once and serves any number of maps: other shrinkages, other ranks.
"""

from vicinal.metric._relief import feature_scale, relieff_weights
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
    "feature_scale",
    "floor_variances",
    "relieff_weights",
    "shrinkage_of",
    "within_scatter",
]
