"""Rows that are not independent: told from the table itself, before any of them is shuffled.

    what the rows are                  by                                          so the folds
    in the order of a time             times that never turn back, in all rows     follow time
                                       or in each of several series, and targets
                                       that follow one another
    several of one subject, user, ...  a column called so whose values come        keep each
                                       again, and rows alike within them, or       together
                                       any whose rows lie side by side and have
                                       one answer
    copies                             a tenth of all rows, where columns          keep copies
                                       shuffled one by one hold none               together

Where only some of it is seen, a line says so and what to ask for. Chance gives each of these in one
table of a thousand. Whoever names a protocol, groups or a column to keep is not second-guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

# One-sided, of a normal deviate: one in a thousand.
BEYOND_CHANCE = 3.09
MOST_LOOKED_AT = 2000
MOST_SEARCHED = 20_000


@dataclass(frozen=True)
class Dependence:
    """How rows belong together: ``groups`` (n,) by number, ``times`` (n,), and why.

    ``column`` is the one that says so, where it is a column of groups and thus no feature.
    """

    protocol: str = "kfold"
    groups: IntArray | None = None
    times: FloatArray | None = None
    column: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What is looked at: features (n, d) with the column of each, targets (n, c) standardised."""

    X: FloatArray
    owners: AnyArray
    targets: FloatArray

    def numbers(self, column: str) -> FloatArray:
        """Return the first feature of a column, (n,): its numbers, or its days."""
        values: FloatArray = self.X[:, np.flatnonzero(self.owners == column)[0]]
        return values

    def without(self, column: str) -> FloatArray:
        """Return the features of all other columns, scaled, holes at the mean; few rows more."""
        X = self.X[:, self.owners != column]
        largest = np.nanmax(np.abs(X), axis=0, initial=0.0)
        X = X / np.where(largest > 0, largest, 1.0)  # so that squares stay within floats
        mean, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        return np.nan_to_num((X - mean) / np.where(spread > 0, spread, 1.0))


def standardise(y: AnyArray, n_classes: int) -> FloatArray:
    """Return targets (n, c) of mean 0: a number in its deviations, or one 0/1 column a class."""
    values = (y[:, None] == np.arange(n_classes)).astype(float) if n_classes else y[:, None] * 1.0
    centred = values - values.mean(axis=0)
    spread = np.abs(centred).max(initial=0.0)
    centred = centred / (spread or 1.0)  # so that squares stay within floats
    return np.asarray(centred / (np.sqrt(np.mean(centred**2)) or 1.0))


def near_rows(values: FloatArray, n_near: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return some rows, the nearest other rows of each among many, and how far these are.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Two rows or more.
    n_near : int

    Returns
    -------
    rows : int ndarray of shape (m,)
    near : int ndarray of shape (m, k)
        Nearest first; k is ``n_near`` or as many others as there are.
    distances : ndarray of shape (m, k)
    """
    from sklearn.neighbors import NearestNeighbors

    order = np.random.default_rng(0).permutation(len(values))
    some, many = order[:MOST_LOOKED_AT], order[:MOST_SEARCHED]
    search = NearestNeighbors(n_neighbors=min(n_near + 1, len(many)), algorithm="brute")
    distances, places = search.fit(values[many]).kneighbors(values[some])
    near = many[places]
    # A row is its own nearest, but for rows equal to it: then it may be anywhere, or not there.
    itself = near == some[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = (len(some), near.shape[1] - 1)
    return some, near[~itself].reshape(shape), distances[~itself].reshape(shape)


def share_groups(codes: IntArray, X: FloatArray) -> bool:
    """Say whether a row's nearest other row is of its own group, in most groups (n,)."""
    rows, near, _ = near_rows(X, 1)
    return most_share(codes, rows, near)


def most_share(codes: IntArray, rows: IntArray, near: IntArray) -> bool:
    """Say whether rows share their group with the near ones (m, 1) more often than not.

    Each group counts alike, or the largest alone would do.
    """
    own, (_, groups) = codes[near[:, 0]] == codes[rows], np.unique(codes[rows], return_inverse=True)
    return bool(np.mean(np.bincount(groups, own) / np.bincount(groups)) > 0.5)
