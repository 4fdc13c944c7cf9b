"""One plane through all mapped rows, and the vote on what it leaves.

    f(z) + Σ_j w_j (y_j − f(z_j)),  w_j ∝ exp(−‖z − z_j‖ / T)

Neighbours correct the plane where it is wrong; the plane bridges where neighbours are far. A neural
map of numbers is trained on this very prediction, with a plane a member. The weights are those of
the vote, so that nothing is searched for twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, Fold, IntArray
from vicinal.metric.held_out import HeldOut
from vicinal.metric.maps import Maps
from vicinal.predict._ballots import NumberBallots
from vicinal.predict._vote import Vote

# Ridges tried, as parts of the sum of squares along the longest direction.
RIDGES = 10.0 ** np.arange(-8.0, 1.0)


@dataclass(frozen=True)
class Slope:
    """f(z) = z·slope, up to a constant that the votes bring; ``slope`` (p,) or (p, C)."""

    slope: FloatArray
    ridge: float

    def height(self, Z: AnyArray) -> FloatArray:
        """Return f at mapped rows (n, p), of shape (n,) or (n, C)."""
        heights: FloatArray = np.asarray(Z, np.float64) @ self.slope
        return heights

    def left(self, ballots: NumberBallots, Z: AnyArray) -> NumberBallots:
        """Return the ballots of mapped rows (n, p) for what the plane leaves of their numbers."""
        return NumberBallots(ballots.values - self.height(Z), ballots.weights)


def fit_slope(Z: AnyArray, ballots: NumberBallots, ridge: float | None = None) -> Slope:
    """Return the plane of least squared error through mapped rows Z (n, p) and their numbers.

    The ridge, where it is not told, is that of least error of each row without itself. O(n p²)
    time.
    """
    Z, values = np.asarray(Z, np.float64), ballots.values
    Y = values.reshape(len(values), -1)
    shares = np.ones(len(Z)) if ballots.weights is None else ballots.weights
    roots = np.sqrt(shares)[:, None]
    Z0, Y0 = (roots * (part - np.average(part, axis=0, weights=shares)) for part in (Z, Y))
    sizes, axes = np.linalg.eigh(Z0.T @ Z0)
    sizes, along = np.maximum(sizes, 0.0), Z0 @ axes
    by_axis = along.T @ Y0

    def loss(ridge: float) -> float:
        """Return the squared error of each row by the plane of the others."""
        shrunk = 1 / (sizes + ridge)
        own = np.square(along) @ shrunk + shares / shares.sum()
        left = Y0 - along @ (shrunk[:, None] * by_axis)
        return float(np.square(left / np.maximum(1 - own, 1e-9)[:, None]).sum())

    if ridge is None:
        longest = float(sizes[-1])
        ridge = min((longest * RIDGES).tolist(), key=loss) if longest > 0 else 1.0
    slope = axes @ (by_axis / (sizes + ridge)[:, None])
    return Slope(slope.reshape(-1, *values.shape[1:]), ridge)


def hold_out_slope(
    parts: Sequence[tuple[Fold, Maps]], X: AnyArray, ballots: NumberBallots, vote: Vote,
    held: HeldOut,
) -> FloatArray:  # fmt: skip
    """Return the predictions for the held-out rows of all folds, in the order of ``held``."""
    predictions = np.zeros((len(held.rows), *ballots.values.shape[1:]))
    for fold, maps in parts:
        Z = maps.database(X)
        slope = fit_slope(Z[fold.train], _of_rows(ballots, fold.train))
        places = np.searchsorted(held.rows, fold.test)
        own = HeldOut(held.rows[places], held.near[places], held.distances[places])
        left = vote.hold(slope.left(ballots, Z), own)
        predictions[places] = left + slope.height(maps.queries(X[fold.test]))
    return predictions


def _of_rows(ballots: NumberBallots, rows: IntArray) -> NumberBallots:
    weights = None if ballots.weights is None else ballots.weights[rows]
    return NumberBallots(ballots.values[rows], weights)
