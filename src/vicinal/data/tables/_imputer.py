"""Holes filled in by what the training rows hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.rows import refuse_disguises


class Imputer(TransformerMixin, BaseEstimator):
    """Fill NaN with the median, or with the most frequent value of a category.

    Parameters
    ----------
    blocks : array-like of int of shape (d,), optional
        Features with the same number come from one column (``TableEncoder.blocks_``); a row of
        a block of several features is filled as a whole, so that exactly one of them is 1.
        By default each feature stands alone.

    Attributes
    ----------
    fill_ : ndarray of shape (d,)
        What NaN becomes; 0 where the training rows hold no value at all.
    """

    def __init__(self, blocks: AnyArray | None = None) -> None:
        self.blocks = blocks

    def fit(self, X: FloatArray, y: Any = None) -> Imputer:
        """Learn the fillings from training rows."""
        X = self._check(X, reset=True)
        blocks = np.arange(X.shape[1]) if self.blocks is None else np.asarray(self.blocks)
        if len(blocks) != X.shape[1]:
            raise ValueError(f"blocks has {len(blocks)} entries for {X.shape[1]} features.")
        self.fill_ = fillings(X, blocks)
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return a copy of X without NaN, of shape (n, d)."""
        check_is_fitted(self, "fill_")
        X = self._check(X, reset=False)
        filled: FloatArray = np.where(np.isnan(X), self.fill_, X)
        return filled

    def _check(self, X: Any, *, reset: bool) -> FloatArray:
        refuse_disguises(X)
        checked: FloatArray = validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset,
            ensure_min_samples=int(reset),
        )  # fmt: skip
        return checked


def fillings(X: FloatArray, blocks: IntArray) -> FloatArray:
    """Return each feature's median, or 1 for the commonest feature of its block and 0 else.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    blocks : int ndarray of shape (d,)

    Returns
    -------
    ndarray of shape (d,)
    """
    fill = np.zeros(X.shape[1])
    numbers, sizes = np.unique(blocks, return_counts=True)
    alone = np.isin(blocks, numbers[sizes == 1]) & ~np.isnan(X).all(axis=0)
    if alone.any():
        fill[alone] = np.nanmedian(X[:, alone], axis=0)
    for number in numbers[sizes > 1]:
        members = np.flatnonzero(blocks == number)
        fill[members[np.argmax(np.nansum(X[:, members], axis=0))]] = 1.0
    return fill
