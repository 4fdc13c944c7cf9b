"""Prediction from neighbours: vote and mean, ties and fallbacks stated."""

from vicinal.predict._base import NeighborsPredictor
from vicinal.predict._explanations import Explanation
from vicinal.predict._local_linear import LocalLinearRegressor
from vicinal.predict._nearest import NearestNeighbors
from vicinal.predict._neighbors import KNNClassifier, KNNRegressor
from vicinal.predict._radius import RadiusClassifier, RadiusRegressor
from vicinal.predict._unseen import unseen_class_error

__all__ = [
    "Explanation",
    "KNNClassifier",
    "KNNRegressor",
    "LocalLinearRegressor",
    "NearestNeighbors",
    "NeighborsPredictor",
    "RadiusClassifier",
    "RadiusRegressor",
    "unseen_class_error",
]
