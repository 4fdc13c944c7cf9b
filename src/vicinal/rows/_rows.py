"""Rows: what every learner, split, race and predictor is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.rows._target import Classes, Numbers, Target

_BLOCK = 4096


@dataclass(frozen=True)
class Rows:
    """Checked rows and all that is known of them.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Finite; NaN is a value that is missing, and comes to learners alone that can do without.
    target : Classes, Numbers or None
        None where nobody gave a y.
    weights : ndarray of shape (n,) or None
        Above zero, of mean 1 for all rows; None where all count the same.
    groups : ndarray of shape (n,) or None
        Rows of one group are never parted by a split.
    names : ndarray of str of shape (d,) or None
        What the columns are called.
    """

    X: AnyArray
    target: Target | None = None
    weights: FloatArray | None = None
    groups: AnyArray | None = None
    names: AnyArray | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def labels(self) -> IntArray | None:
        """The classes of the rows, what splits keep in proportion; None for numbers."""
        return None if self.target is None else self.target.labels

    @property
    def classes(self) -> Classes:
        """The target of rows that are known to have classes."""
        assert isinstance(self.target, Classes)
        return self.target

    @property
    def codes(self) -> IntArray:
        """The classes, by number, of rows that are known to have them."""
        return self.classes.codes

    @property
    def values(self) -> FloatArray:
        """The target of rows that are known to have numbers."""
        assert isinstance(self.target, Numbers)
        return self.target.values

    @cached_property
    def spread(self) -> FloatArray:
        """The standard deviation of each feature, (d,)."""
        if issparse(self.X) or not np.isnan(np.sum(self.X)):
            return feature_spread(self.X, self.weights)
        return self._spread_of_present()

    def _spread_of_present(self) -> FloatArray:
        """Return the spread of each column's values that are not missing, 0 where all are."""
        spread = np.zeros(self.X.shape[1])
        for j, column in enumerate(self.X.T):
            rows = np.flatnonzero(~np.isnan(column))
            if len(rows):
                weights = None if self.weights is None else self.weights[rows]
                spread[j] = feature_spread(column[rows, None], weights)[0]
        return spread

    def unweighted(self) -> Self:
        """Return the rows, each of which counts the same."""
        return replace(self, weights=None)

    def take(self, rows: IntArray) -> Self:
        """Return some of the rows."""
        weights, groups = (
            None if part is None else part[rows] for part in (self.weights, self.groups)
        )
        target = None if self.target is None else self.target.take(rows)
        return replace(self, X=self.X[rows], target=target, weights=weights, groups=groups)


def feature_spread(X: Any, weights: FloatArray | None = None) -> FloatArray:
    """Return the standard deviation of each feature of dense or sparse X (n, d), of shape (d,).

    Rows of dense X may have weights (n,). O(n d) time; beside X, memory of a block of rows.
    """
    n_rows = X.shape[0]
    if issparse(X):
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0), dtype=np.float64).ravel() / n_rows
        variance: FloatArray = np.maximum(squares - mean**2, 0.0)
        return np.sqrt(variance)
    blocks = [slice(start, start + _BLOCK) for start in range(0, n_rows, _BLOCK)]
    shares = np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()
    # In units of each column's own size, a power of two, so that no square leaves the range.
    largest = np.max([np.abs(X[block]).max(axis=0) for block in blocks], axis=0)
    unit = np.ldexp(1.0, np.frexp(np.asarray(largest, np.float64))[1] - 1)
    mean = np.sum([shares[block] @ (X[block] / unit) for block in blocks], axis=0)
    squares = [shares[block] @ (X[block] / unit - mean) ** 2 for block in blocks]
    spread: FloatArray = unit * np.sqrt(np.sum(squares, axis=0))
    return spread
