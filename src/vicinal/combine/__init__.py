"""Tools over any learner: the mean of several metrics, and the choice among them.

MeanMetric:  estimator ─▶ a member a part and seed ─▶ fit each ─▶ mean_map ─▶ components_
AutoMetric:  candidates ─▶ Race on inner splits ─▶ leaderboard_ ─▶ fit the best ─▶ components_
"""

from vicinal.combine._auto import AutoMetric
from vicinal.combine._mean import MeanMetric

__all__ = ["AutoMetric", "MeanMetric"]
