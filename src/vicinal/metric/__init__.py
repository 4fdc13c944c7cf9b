"""Metric learners, and the inference they are built on."""

from vicinal.metric._base import MetricLearner
from vicinal.metric._gerrymander import MLNG
from vicinal.metric._inference import best_voting_set, gerrymandering_loss, most_violating_set
from vicinal.metric._training import Progress

__all__ = [
    "MLNG",
    "MetricLearner",
    "Progress",
    "best_voting_set",
    "gerrymandering_loss",
    "most_violating_set",
]
