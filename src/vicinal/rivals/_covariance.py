"""The Mahalanobis distance of the rows' own covariance: what learned metrics are compared with."""

from __future__ import annotations

import numpy as np

from vicinal._types import FloatArray
from vicinal.metric import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.metric.starts import WithinScatter, shrinkage_of, within_scatter
from vicinal.rivals._lda import check_shrinkage
from vicinal.rows import Rows


class Covariance(MetricLearner):
    """Measure distances in standard deviations of the rows, whatever their directions.

    With S the covariance of the rows and γ its shrinkage,

        M = ((1 − γ) S + γ (tr S / d) I)⁺,                                    (1)

    so that the mapped rows have unit variance in every direction. No targets are used.

    Parameters
    ----------
    shrinkage : "auto", "ledoit_wolf", "oas" or float in [0, 1], default="auto"
        γ, or the formula that estimates it ("auto": of Ledoit and Wolf). 0 is the pseudo-inverse of
        the covariance itself, in which directions no row varies in have no weight.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        A symmetric root of M.
    shrinkage_ : float
    n_iter_ : int
        1: the solution is direct.

    Notes
    -----
    Time O(n d min(n, d) + d³), memory O(n d + d²). S divides by the number of rows less one.

    References
    ----------
    Mahalanobis, "On the generalised distance in statistics", Proceedings of the National
    Institute of Sciences of India 2, 1936 [mahalanobis1936]; Ledoit and Wolf, 2004 [ledoit2004].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import Covariance
    >>> X, _ = load_iris(return_X_y=True)
    >>> float(Covariance(shrinkage=0).fit_transform(X)[:, 0].var(ddof=1).round(6))
    1.0
    """

    _task = None
    _least_rows = 2

    def __init__(self, *, shrinkage: str | float = "auto") -> None:
        self.shrinkage = shrinkage

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1)."""
        formula = check_shrinkage(self.shrinkage)
        X = rows.X.astype(np.float64, copy=False)
        # A sum of squares of the largest numbers would not be a number itself.
        size = float(np.abs(X - X.mean(axis=0)).max(initial=0.0)) or 1.0
        scatter = within_scatter(X / size, np.zeros(len(X), np.int64), X.shape[1])
        self.shrinkage_ = shrinkage_of(scatter, formula)
        root = inverse_root(scatter, self.shrinkage_, ddof=1) / size
        self.n_iter_ = 1
        return LinearMaps(root.astype(rows.X.dtype, copy=False))


def inverse_root(scatter: WithinScatter, shrinkage: float, *, ddof: int = 0) -> FloatArray:
    """Return the symmetric root (d, d) of the pseudo-inverse of a shrunk scatter.

    ``ddof`` is taken off the number of rows that the scatter is divided by.
    """
    factor = scatter.n_samples / max(1, scatter.n_samples - ddof)
    floor = shrinkage * scatter.total * factor
    shrunk = (1 - shrinkage) * scatter.values * factor + floor
    positive = shrunk > max(shrunk.max(initial=0.0), 0.0) * np.finfo(np.float64).eps * len(shrunk)
    roots = np.zeros_like(shrunk)
    roots[positive] = 1 / np.sqrt(shrunk[positive])
    inside: FloatArray = (scatter.directions * roots) @ scatter.directions.T
    if scatter.directions.shape[1] < scatter.directions.shape[0] and floor > 0:
        # Beyond the span of few rows the shrunk covariance is a multiple of the identity.
        span = scatter.directions @ scatter.directions.T
        inside += (np.eye(len(span)) - span) / np.sqrt(floor)
    return inside
