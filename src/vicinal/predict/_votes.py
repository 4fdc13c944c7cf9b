"""What each neighbour's vote counts, by its distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vicinal._types import FloatArray

Weighing = Callable[[FloatArray], FloatArray]
# Weights that a fit chooses.
LEARNED, AUTO = CHOSEN = "learned", "auto"


def check_weighing(weights: Any) -> None:
    """Refuse what is neither a known way to weigh neighbours nor a function of distances."""
    if not callable(weights) and (not isinstance(weights, str) or weights not in WEIGHINGS):
        names = ", ".join(map(repr, (*WEIGHINGS, *CHOSEN)))
        raise ValueError(
            f"weights must be one of {names}, or a function of the "
            f"distances (m, k) that returns as many weights; got {weights!r}."
        )


def weigh_neighbors(weights: Any, distances: FloatArray) -> FloatArray | None:
    """Return what each neighbour counts, (m, k); None where all count the same.

    Parameters
    ----------
    weights : str or callable
        As for :class:`KNNClassifier`.
    distances : ndarray of shape (m, k)
        Ascending.
    """
    if isinstance(weights, str):
        return WEIGHINGS[weights](distances)
    counts = np.asarray(weights(distances.copy()), dtype=np.float64)
    if counts.shape != distances.shape:
        raise ValueError(
            f"the function weights must return an array of shape {distances.shape}, one weight a "
            f"neighbour; it returned {counts.shape}."
        )
    if not np.isfinite(counts).all() or (counts < 0).any() or not counts.any(axis=1).all():
        raise ValueError(
            "the function weights must return finite weights, none negative and some above zero "
            "for every query."
        )
    return counts


def by_distance(distances: FloatArray) -> FloatArray:
    """Return 1/d; where some neighbours are at distance zero, only those count."""
    at_zero = distances == 0
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1.0 / distances
    # Reciprocals of the smallest numbers overflow: such neighbours are as good as at zero.
    beyond = ~np.isfinite(inverse)
    return np.where(beyond.any(axis=1, keepdims=True), at_zero | beyond, inverse).astype(np.float64)


def by_softmax(distances: FloatArray) -> FloatArray:
    """Return exp(−d²/s²), s² the mean of the query's own d²; equal weights where that is zero.

    Measured by its own neighbourhood, a query's weights do not depend on the scale of the metric.
    """
    farthest = distances.max(axis=1, keepdims=True, initial=0.0)  # or squares leave the range
    squared = (distances / np.where(farthest > 0, farthest, 1.0)).astype(np.float64) ** 2
    scale = squared.mean(axis=1, keepdims=True)
    relative = np.divide(squared, scale, out=np.zeros_like(squared), where=scale > 0)
    weights: FloatArray = np.exp(relative[:, :1] - relative)
    return weights


WEIGHINGS: dict[str, Callable[[FloatArray], FloatArray | None]] = {
    "uniform": lambda distances: None,
    "distance": by_distance,
    "softmax": by_softmax,
}
