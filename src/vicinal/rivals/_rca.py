"""Relevant components analysis: whitening within groups of rows known to be alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_components
from vicinal.metric import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.metric.starts import floor_variances, shrinkage_of, within_scatter
from vicinal.rivals._lda import check_shrinkage
from vicinal.rows import Rows, read_rows, refuse_masked, remember_columns


class RCA(MetricLearner):
    """Take out of the distance what varies among rows that are known to be alike.

    A *chunklet* is a few rows known to be of one class, whichever that is. With C the covariance of
    rows about the means of their chunklets and T the covariance of all rows, the rows of
    ``components_`` solve

        T a = λ C a,   aᵀ C a = 1,                                            (1)

    in descending order of λ: all of them together are C^{-1/2} up to a rotation, and the first few
    are the source's linear discriminant of chunklets followed by its whitening.

    Parameters
    ----------
    n_components : int or None
        How many directions to keep; None is all the rows span.
    shrinkage : "auto", "ledoit_wolf", "oas" or float in [0, 1], default="auto"
        γ of (1 − γ) C + γ (tr C / d) I, or the formula that estimates it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    eigenvalues_ : ndarray of shape (n_components,)
        λ of (1): the variance of all rows over that within chunklets.
    shrinkage_ : float
    n_iter_ : int
        1: the solution is direct.

    Notes
    -----
    Time O(n d min(n, d) + min(n, d)³), memory O(n d). Departure from the source: C is shrunk, so
    that few chunklets and constant columns need no care; ``shrinkage=0`` is the source's.

    References
    ----------
    Bar-Hillel, Hertz, Shental and Weinshall, "Learning a Mahalanobis metric from equivalence
    constraints", JMLR 6, 2005 [barhillel2005].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import RCA
    >>> X, y = load_iris(return_X_y=True)
    >>> RCA(n_components=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(self, n_components: int | None = None, *, shrinkage: str | float = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1), every class one chunklet."""
        return self._solve(rows.X, rows.codes)

    def fit_chunks(self, X: AnyArray, chunks: AnyArray) -> RCA:
        """Solve (1) for chunklets.

        Parameters
        ----------
        X : array-like of shape (n, d)
        chunks : int array-like of shape (n,)
            The number of each row's chunklet; negative where the row is in none.
        """
        rows = read_rows(self, X, task=None, least_rows=2)
        remember_columns(self, rows)
        self.feature_spread_ = rows.spread
        self._keep(self._solve(rows.X, check_chunks(chunks, rows.n_rows)))
        return self

    def _solve(self, X: FloatArray, chunks: IntArray) -> LinearMaps:
        formula = check_shrinkage(self.shrinkage)
        check_components(self.n_components, X.shape[1])
        rows = X.astype(np.float64, copy=False)
        size = float(np.abs(rows - rows.mean(axis=0)).max(initial=0.0)) or 1.0
        components, self.eigenvalues_, self.shrinkage_ = relevant_components(
            rows / size, chunks, self.n_components, formula
        )
        self.n_iter_ = 1
        return LinearMaps((components / size).astype(X.dtype, copy=False))


def check_chunks(chunks: Any, n_rows: int) -> IntArray:
    """Return the chunklets of the rows as whole numbers; refuse what has no row in any."""
    refuse_masked(chunks, "chunks")
    numbers = np.asarray(chunks)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"chunks must be {n_rows} whole numbers, one a row, negative for a row in no chunklet; "
            f"got an array of shape {numbers.shape} and type {numbers.dtype}."
        )
    inside = numbers >= 0
    codes, sizes = np.unique(numbers[inside], return_inverse=True, return_counts=True)[1:]
    if sizes.max(initial=0) < 2:
        raise ValueError(
            "no chunklet has two rows, so nothing is known to be alike; give chunks at least one "
            "number of zero or more that two rows share."
        )
    chunklets = np.full(n_rows, -1, np.int64)
    chunklets[inside] = codes.reshape(-1)
    return chunklets


def relevant_components(
    X: FloatArray, chunks: IntArray, n_components: int | None, shrinkage: str | float
) -> tuple[FloatArray, FloatArray, float]:
    """Return the rows (p, d) that solve (1), their λ (p,) and the shrinkage.

    Parameters
    ----------
    X : float64 ndarray of shape (n, d)
    chunks : int ndarray of shape (n,)
        Negative for rows in no chunklet; they count in T only.
    n_components : int or None
    shrinkage : str or float
    """
    inside = chunks >= 0
    codes = np.unique(chunks[inside], return_inverse=True)[1].reshape(-1)
    within = within_scatter(X[inside], codes, X.shape[1])
    gamma = shrinkage_of(within, shrinkage)
    variances = floor_variances((1 - gamma) * within.values + gamma * within.total)
    whitening = (within.directions / np.sqrt(variances)).T
    white = (X - X.mean(axis=0)) @ whitening.T
    values, turn = eigh(white.T @ white / len(X), driver="evd")
    leading = slice(None) if n_components is None else slice(0, n_components)
    return turn.T[::-1][leading] @ whitening, values[::-1][leading], gamma
