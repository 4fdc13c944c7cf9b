"""One plane through all mapped rows, and the vote on what it leaves.

    f(z) + Σ_j w_j (y_j − f(z_j)),  w_j ∝ exp(−‖z − z_j‖ / T)

Neighbours correct the plane where it is wrong; the plane bridges where neighbours are far. A neural
map of numbers is trained on this very prediction, with a plane a member.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from vicinal._types import AnyArray, FloatArray
from vicinal.index import ExactIndex
from vicinal.predict._ballots import NumberBallots
from vicinal.predict._vote import Vote
from vicinal.predict._votes import LEARNED

# Ridges tried, as parts of the largest variance of a direction.
RIDGES = 10.0 ** np.arange(-8.0, 1.0)


class SlopedVote(BaseEstimator):
    """Predict numbers of mapped rows by a plane and the vote of near rows on what it leaves.

    Parameters
    ----------
    n_neighbors : int
        Rows that vote.
    temperature : float
        T.
    ridge : float or None
        λ of the plane, a sum over rows; None is that of least squared error of each row without
        itself.

    Attributes
    ----------
    ridge_ : float
    slope_ : ndarray of shape (p, C)
        f(z) = slopeᵀ z, up to a constant, which the votes bring.
    """

    def __init__(
        self, n_neighbors: int = 64, temperature: float = 1.0, ridge: float | None = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.temperature = temperature
        self.ridge = ridge

    def fit(self, X: AnyArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        """Fit the plane to rows (n, p) and numbers (n,) or (n, C); O(n p²) time."""
        Z, Y = np.asarray(X, np.float64), np.asarray(y, np.float64).reshape(len(y), -1)
        shares = np.full(len(Z), 1.0) if sample_weight is None else sample_weight
        roots = np.sqrt(shares)[:, None]
        Z0, Y0 = (part - np.average(part, axis=0, weights=shares) for part in (Z, Y))
        sizes, axes = np.linalg.eigh((Z0 * shares[:, None]).T @ Z0)
        sizes, along = np.maximum(sizes, 0.0), (Z0 * roots) @ axes
        by_axis = along.T @ (Y0 * roots)
        largest = float(sizes[-1])

        def loss(ridge: float) -> float:
            """Return the squared error of each row by the plane of the others."""
            shrunk = 1 / (sizes + ridge)
            own = np.square(along) @ shrunk + shares / shares.sum()
            left = Y0 * roots - along @ (shrunk[:, None] * by_axis)
            return float(np.square(left / np.maximum(1 - own, 1e-9)[:, None]).sum())

        if largest > 0 and self.ridge is None:
            self.ridge_ = min((largest * RIDGES).tolist(), key=loss)
        else:
            self.ridge_ = 1.0 if self.ridge is None else self.ridge
        self.slope_ = axes @ (by_axis / (sizes + self.ridge_)[:, None])
        self._left = (Y - Z @ self.slope_).reshape(np.shape(y))
        self._weights, self._rows = sample_weight, np.ascontiguousarray(X)
        return self

    def predict(self, X: AnyArray) -> FloatArray:
        """Return the numbers of mapped rows (m, p), of shape (m,) or (m, C)."""
        index = ExactIndex(self._rows)
        vote = Vote(min(self.n_neighbors, len(self._rows)), LEARNED, self.temperature)
        values, near = index.query(np.ascontiguousarray(X), vote.n_neighbors)
        weights = vote.weigh(index.distances(values))
        left = NumberBallots(self._left, self._weights).tally(near, weights)
        plane = np.asarray(X, np.float64) @ self.slope_
        sums: FloatArray = left + plane.reshape(left.shape)
        return sums

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        return tags
