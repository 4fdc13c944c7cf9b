"""Tools over any learner: the mean of several, the choice among them, rows back on the sphere.

MeanMetric:  estimator ─▶ a member a part and seed ─▶ fit each ─▶ mean_map ─▶ components_
AutoMetric:  candidates ─▶ Race on inner splits ─▶ leaderboard_ ─▶ fit the best ─▶ components_
UnitLength:  estimator ─▶ maps as they are, and normalised, judged ─▶ UnitMaps where better

What else is named here serves fits on parts of the rows elsewhere (``vicinal.scale``).
"""

from vicinal.combine._auto import AutoMetric
from vicinal.combine._mean import MeanMetric, draw_seed
from vicinal.combine._members import (
    average,
    check_member,
    fit_member,
    linear_map,
    prepare_member,
    task_of,
)
from vicinal.combine._unit_length import UnitLength

__all__ = [
    "AutoMetric",
    "MeanMetric",
    "UnitLength",
    "average",
    "check_member",
    "draw_seed",
    "fit_member",
    "linear_map",
    "prepare_member",
    "task_of",
]
