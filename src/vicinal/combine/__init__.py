"""Tools over any learner: the mean of several metrics, and the choice among them.

MeanMetric:  estimator ─▶ a member a part and seed ─▶ fit each ─▶ mean_map ─▶ components_
AutoMetric:  candidates ─▶ Race on inner splits ─▶ leaderboard_ ─▶ fit the best ─▶ components_

What else is named here serves fits on parts of the rows elsewhere (``vicinal.scale``).
"""

from vicinal.combine._auto import AutoMetric
from vicinal.combine._mean import MeanMetric, draw_seed
from vicinal.combine._members import (
    average,
    check_member,
    fit_member,
    linear_map,
    mean_map,
    near_squared_distance,
    prepare_member,
    task_of,
)

__all__ = [
    "AutoMetric",
    "MeanMetric",
    "average",
    "check_member",
    "draw_seed",
    "fit_member",
    "linear_map",
    "mean_map",
    "near_squared_distance",
    "prepare_member",
    "task_of",
]
