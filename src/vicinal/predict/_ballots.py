"""What rows say when they are asked, and what a prediction from them loses.

    neighbours, weights ─▶ tally ─▶ shares of classes, or means of numbers ─▶ losses, surprise

Soft votes leave one row's share to how frequent each class is, so that no class that was seen is
held for impossible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vicinal._kernels._vote import weighted_shares
from vicinal._types import FloatArray, IntArray
from vicinal.metric.selection import SHARE


@dataclass(frozen=True)
class ClassBallots:
    """Rows that vote for classes: ``codes`` (n,), and what each row counts (n,), None for 1."""

    codes: IntArray
    n_classes: int
    weights: FloatArray | None = None

    @cached_property
    def prior(self) -> FloatArray:
        """The share of every class among the rows, by weight, (R,)."""
        totals = np.bincount(self.codes, self.weights, minlength=self.n_classes)
        prior: FloatArray = totals / totals.sum()
        return prior

    def tally(
        self, near: IntArray, weights: FloatArray | None, *, soft: bool = False
    ) -> FloatArray:
        """Return each class's share of the votes of neighbours (m, k), of shape (m, R).

        ``weights`` (m, k) are by distance; with ``soft`` shares are blended with the prior:
        (n s + prior) / (n + 1). Of classes that tie that of the nearest is a little ahead.
        """
        m, k = near.shape
        votes = np.ones(near.shape) if weights is None else weights
        if self.weights is not None:
            votes = votes * self.weights[near]
        starts = np.arange(0, m * k + 1, k)
        labels = self.codes[near].ravel().astype(np.int64)
        shares = weighted_shares(labels, votes.ravel(), starts, np.ones(self.n_classes))
        return self.soften(shares) if soft else shares

    def soften(self, shares: FloatArray) -> FloatArray:
        """Return shares (m, R) of which one row's part is the prior's."""
        n = len(self.codes)
        softened: FloatArray = (n * shares + self.prior) / (n + 1)
        return softened

    def losses(self, shares: FloatArray, rows: IntArray) -> FloatArray:
        """Return whether each vote is wrong, plus a quarter of what the own class lacks, (m,)."""
        own = self.codes[rows]
        wrong = shares.argmax(axis=1) != own
        losses: FloatArray = wrong + SHARE * (1 - shares[np.arange(len(own)), own])
        return losses

    def indicators(self, rows: IntArray) -> FloatArray:
        """Return 1 in the column of each row's class, (m, R)."""
        ones: FloatArray = np.eye(self.n_classes)[self.codes[rows]]
        return ones

    def surprise(self, shares: FloatArray, rows: IntArray) -> FloatArray:
        """Return −log of the share of the own class, (m,)."""
        own = shares[np.arange(len(rows)), self.codes[rows]]
        surprise: FloatArray = -np.log(np.maximum(own, np.finfo(np.float64).tiny))
        return surprise


@dataclass(frozen=True)
class NumberBallots:
    """Rows that hold numbers: ``values`` (n,) or (n, C), and what each row counts."""

    values: FloatArray
    weights: FloatArray | None = None

    def tally(
        self, near: IntArray, weights: FloatArray | None, *, soft: bool = False
    ) -> FloatArray:
        """Return the weighted mean of the neighbours' numbers, (m,) or (m, C)."""
        votes = weights
        if self.weights is not None:
            votes = self.weights[near] if weights is None else weights * self.weights[near]
        if votes is None:
            means: FloatArray = self.values[near].mean(axis=1)
            return means
        sums = np.einsum("ij,ij...->i...", votes, self.values[near])
        return (sums.T / votes.sum(axis=1)).T

    def losses(self, means: FloatArray, rows: IntArray) -> FloatArray:
        """Return the squared error of each row, summed over columns, (m,)."""
        errors: FloatArray = np.square(means - self.values[rows]).reshape(len(rows), -1).sum(axis=1)
        return errors

    def spread(self, near: IntArray, weights: FloatArray | None) -> FloatArray:
        """Return the weighted variance of the neighbours' numbers, (m,) or (m, C)."""
        means = self.tally(near, weights)
        squares = NumberBallots(np.square(self.values), self.weights).tally(near, weights)
        variances: FloatArray = np.maximum(squares - np.square(means), 0.0)
        return variances

    def indicators(self, rows: IntArray) -> FloatArray:
        """Return the numbers of rows, (m,) or (m, C)."""
        return self.values[rows]

    def surprise(self, means: FloatArray, rows: IntArray) -> FloatArray:
        """Return the same: what a temperature is chosen by."""
        return self.losses(means, rows)


Ballots = ClassBallots | NumberBallots
