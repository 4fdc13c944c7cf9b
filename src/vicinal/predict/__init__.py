"""Prediction from neighbours: vote and mean, ties and fallbacks stated."""

from vicinal.predict._model_file import load_model, read_metadata, save_model
from vicinal.predict._neighbors import KNNClassifier

__all__ = ["KNNClassifier", "load_model", "read_metadata", "save_model"]
