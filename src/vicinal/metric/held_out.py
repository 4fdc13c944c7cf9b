"""What a fit learns without some rows, and the neighbours these rows then have.

    learner ─▶ cross_fit(rows, folds) ─▶ CrossFit ─┬─ without(fold) ─▶ Maps ─▶ look ─▶ HeldOut
                                                   └─ finish() ─▶ the learner, of all rows

Whatever is chosen for a metric (which it is, k, a temperature, a head) is chosen by these rows; a
learner that chooses settings on rows held out chooses them once, for all folds and for the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, Fold, IntArray
from vicinal.index import BinaryIndex, ExactIndex
from vicinal.metric.maps import Maps
from vicinal.metric.search import search


@dataclass(frozen=True)
class CrossFit:
    """A fit that is begun: first what it learns without some rows, then the fit of all.

    Attributes
    ----------
    without : callable
        Gives the maps learned from the rows of ``fold.train`` alone, for each of the folds that
        were asked for. Rows of ``fold.test`` may have been looked at for settings only.
    finish : callable
        Fits all rows and returns the fitted learner. Not every candidate of a race gets there.
    """

    without: Callable[[Fold], Maps]
    finish: Callable[[], Any]


@dataclass(frozen=True)
class HeldOut:
    """The neighbours of rows under maps that were learned without them.

    ``rows`` (m,) are row numbers, ``near`` (m, k) those of their neighbours, nearest first, and
    ``distances`` (m, k) how far these are in the learned space.
    """

    rows: IntArray
    near: IntArray
    distances: FloatArray

    @classmethod
    def pool(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """Return all folds' rows as one, with as many neighbours as all of them have."""
        k = min(part.near.shape[1] for part in parts)
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.near[:, :k] for part in parts]),
            np.concatenate([part.distances[:, :k] for part in parts]),
        )


def look(maps: Maps, X: AnyArray, fold: Fold, k: int, *, n_threads: int = 1) -> HeldOut:
    """Return the k nearest training rows of a fold's held-out rows of X (n, d), or all."""
    database = maps.database(X[fold.train])
    index = BinaryIndex(database) if maps.space == "hamming" else ExactIndex(
        database, n_jobs=n_threads
    )  # fmt: skip
    k = min(k, len(fold.train))
    values, near = search(index, maps, maps.queries(X[fold.test]), k)
    return HeldOut(fold.test, fold.train[near], distances_of(index, values))


def distances_of(index: Any, values: AnyArray) -> FloatArray:
    """Return distances from what an index gives: squares in its unit, or bits."""
    if isinstance(index, BinaryIndex):
        return np.asarray(values, np.float64)
    distances: FloatArray = np.sqrt(values) * index.unit
    return distances
