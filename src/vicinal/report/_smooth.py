"""Curves through points: a smooth one of y on x, and the density of x."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import FloatArray

# Candidate bandwidths, in standard deviations of x.
_WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_N_GRID = 80
MAX_POINTS = 1000  # the smoother looks at all pairs


@dataclass(frozen=True)
class SmoothCurve:
    """The curve at ``x``, ``y`` (both of length g), and the share of variance it explains.

    ``explained`` is 1 − (leave-one-out squared error) / variance: no point was part of the fit
    it is held against. NaN where x or y is constant or there are fewer than three points.
    """

    x: FloatArray
    y: FloatArray
    explained: float


def smooth(x: FloatArray, y: FloatArray) -> SmoothCurve:
    """Return the local linear curve of y on x (n,), its bandwidth chosen by leave-one-out error.

    Of the bandwidths whose error is within one standard error of the least, the widest. More
    than ``MAX_POINTS`` points are thinned evenly in order of x; the curve spans the middle 99 %
    of them.
    """
    order = np.argsort(x, kind="stable")
    if len(order) > MAX_POINTS:
        order = order[np.linspace(0, len(order) - 1, MAX_POINTS).round().astype(int)]
    x, y = np.asarray(x, np.float64)[order], np.asarray(y, np.float64)[order]
    deviation, variance = float(x.std()), float(y.var())
    if len(x) < 3 or deviation == 0:
        return SmoothCurve(x[[0, -1]], np.full(2, y.mean()), float("nan"))
    widths = [share * deviation for share in _WIDTHS]
    squared = np.array([(local_lines(x, x, y, w, own=True) - y) ** 2 for w in widths])
    chosen = _widest_within_error(squared)
    low, high = np.quantile(x, [0.005, 0.995])
    grid = np.linspace(low, high, _N_GRID)
    explained = 1 - float(squared[chosen].mean()) / variance if variance > 0 else float("nan")
    return SmoothCurve(grid, local_lines(grid, x, y, widths[chosen]), explained)


def _widest_within_error(squared: FloatArray) -> int:
    """The last of several squared errors (w, n) that is no worse than the best but by chance."""
    best = int(np.argmin(squared.mean(axis=1)))
    losses = squared - squared[best]
    allowed = losses.std(axis=1) / np.sqrt(squared.shape[1])
    return int(np.flatnonzero(losses.mean(axis=1) <= allowed)[-1])


def local_lines(
    at: FloatArray, x: FloatArray, y: FloatArray, width: float, *, own: bool = False
) -> FloatArray:
    """Return Gaussian local linear fits (m,) of y on x (n,). Time and memory O(m n).

    With ``own`` the points are those of x, and each is left out of its own fit.
    """
    gaps = x[None, :] - at[:, None]
    exponents = -0.5 * (gaps / width) ** 2
    if own:
        np.fill_diagonal(exponents, -np.inf)
    # Only ratios count: a point far from all others still sees its nearest.
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    middle, mean = np.sum(weights * gaps, axis=1), weights @ y
    spread = np.sum(weights * gaps**2, axis=1) - middle**2
    product = (weights * gaps) @ y - middle * mean
    # A ridge of a tenth of the bandwidth keeps a line through hardly more than one point level.
    slopes = product / (np.maximum(spread, 0) + (0.1 * width) ** 2)
    fitted: FloatArray = mean - slopes * middle
    return fitted


def density(x: FloatArray, at: FloatArray) -> FloatArray:
    """Return the kernel density (m,) of x (n,) at points; bandwidth by Silverman's rule."""
    low, high = np.quantile(x, [0.25, 0.75])
    spreads = [s for s in (float(x.std()), float(high - low) / 1.34) if s > 0]
    width = 0.9 * min(spreads) * len(x) ** -0.2 if spreads else float(np.ptp(at)) / 50 or 1.0
    heights = np.exp(-0.5 * ((at[:, None] - x[None, :]) / width) ** 2).mean(axis=1)
    result: FloatArray = heights / (width * np.sqrt(2 * np.pi))
    return result
