"""Metric learners, and the inference they are built on."""

from vicinal.metric._base import MetricLearner
from vicinal.metric._inference import best_voting_set, gerrymandering_loss, most_violating_set

__all__ = [
    "MetricLearner",
    "best_voting_set",
    "gerrymandering_loss",
    "most_violating_set",
]
