"""Prediction from neighbours: vote and mean, ties and fallbacks stated."""

from vicinal.predict._neighbors import KNNClassifier

__all__ = ["KNNClassifier"]
