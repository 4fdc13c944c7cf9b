"""Starts: maps computed directly from rows and classes, where learners set out; and what LDA is.

    rows in a frame ─▶ start_map(Start) ─▶ L (p, r), not scaled
                          │
          ┌───────────────┼──────────────────┬───────────────┐
    within_scatter   principal_map     relieff_weights     the frame
          │
          ├─▶ discriminant_map ─▶ L (p, r)
          └─▶ shrinkage_of ─▶ γ

A scatter is computed once and serves any number of maps: other shrinkages, other ranks.
"""

from vicinal.metric._relief import diagonal_map, feature_scale, relieff_weights, rrelieff_weights
from vicinal.metric.starts._discriminant import (
    SHRINKAGES,
    WithinScatter,
    discriminant_map,
    discriminant_ratios,
    floor_variances,
    shrinkage_of,
    within_scatter,
)
from vicinal.metric.starts._maps import (
    STARTS,
    Start,
    check_map,
    principal_map,
    start_for,
    start_map,
)

__all__ = [
    "SHRINKAGES",
    "STARTS",
    "Start",
    "WithinScatter",
    "check_map",
    "diagonal_map",
    "discriminant_map",
    "discriminant_ratios",
    "feature_scale",
    "floor_variances",
    "principal_map",
    "relieff_weights",
    "rrelieff_weights",
    "shrinkage_of",
    "start_for",
    "start_map",
    "within_scatter",
]
