"""Derivatives by central differences."""

from __future__ import annotations

import numpy as np


def gradient(function, at, step=1e-6):
    """Return the derivatives of a function of an array, entry by entry."""
    slopes = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        change = np.zeros_like(at)
        change[place] = step
        slopes[place] = (function(at + change) - function(at - change)) / (2 * step)
    return slopes
