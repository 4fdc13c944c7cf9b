"""Metric learners, and the inference they are built on."""

from vicinal.metric._base import MetricLearner
from vicinal.metric._diffusion import GradientDiffusionMap
from vicinal.metric._gerrymander import MLNG
from vicinal.metric._inference import best_voting_set, gerrymandering_loss, most_violating_set
from vicinal.metric._outer_products import EGOP, EJOP, GradientWeights, gradient_metric
from vicinal.metric._records import Progress
from vicinal.metric._relief import ReliefF

__all__ = [
    "EGOP",
    "EJOP",
    "MLNG",
    "GradientDiffusionMap",
    "GradientWeights",
    "MetricLearner",
    "Progress",
    "ReliefF",
    "best_voting_set",
    "gerrymandering_loss",
    "gradient_metric",
    "most_violating_set",
]
