"""Metric learners, and the inference they are built on."""

from vicinal.metric._relief import ReliefF
from vicinal.metric.descent import Progress
from vicinal.metric.encoder import BinaryEncoder
from vicinal.metric.gerrymander import (
    MLNG,
    AsymmetricMLNG,
    HammingMLNG,
    PublishedAsymmetricMLNG,
    PublishedHammingMLNG,
    PublishedMLNG,
    PublishedRegressionMLNG,
    RegressionMLNG,
)
from vicinal.metric.gradients import (
    EGOP,
    EJOP,
    GradientDiffusionMap,
    GradientWeights,
    Smoothing,
    gradient_metric,
)
from vicinal.metric.inference import (
    best_voting_set,
    gerrymandering_loss,
    infer_sets,
    most_violating_set,
)
from vicinal.metric.learner import MetricLearner

__all__ = [
    "EGOP",
    "EJOP",
    "MLNG",
    "AsymmetricMLNG",
    "BinaryEncoder",
    "GradientDiffusionMap",
    "GradientWeights",
    "HammingMLNG",
    "MetricLearner",
    "Progress",
    "PublishedAsymmetricMLNG",
    "PublishedHammingMLNG",
    "PublishedMLNG",
    "PublishedRegressionMLNG",
    "RegressionMLNG",
    "ReliefF",
    "Smoothing",
    "best_voting_set",
    "gerrymandering_loss",
    "gradient_metric",
    "infer_sets",
    "most_violating_set",
]
