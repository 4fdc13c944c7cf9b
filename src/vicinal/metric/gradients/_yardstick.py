"""How far apart rows are: the measure bandwidths are given in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

_MOST_ROWS = 1000


@dataclass(frozen=True)
class Yardstick:
    """A few rows, centred, and the median distance between them, which later metrics keep."""

    rows: FloatArray
    median: float

    def rescale(self, components: FloatArray) -> FloatArray:
        """Return the metric scaled to the same median distance, so that bandwidths stay valid."""
        after = median_distance(self.rows @ components.T)
        return components * (self.median / after) if after > 0 else components


def make_yardstick(X: AnyArray, rows: IntArray, random: np.random.RandomState) -> Yardstick:
    """Return the yardstick of at most 1000 of the given rows."""
    if len(rows) > _MOST_ROWS:
        rows = np.sort(random.permutation(rows)[:_MOST_ROWS])
    chosen = np.asarray(X[rows], np.float64)
    chosen = chosen - chosen.mean(axis=0)
    return Yardstick(chosen, median_distance(chosen))


def median_distance(rows: FloatArray) -> float:
    """Return the median distance between rows.

    Where most rows are equal it is 0 and the root mean square distance is returned instead.
    """
    # Rows of any size: squares of 1e200 must not overflow.
    size = float(np.abs(rows).max())
    if size == 0 or len(rows) < 2:
        return 0.0
    rows = rows / size
    norms = np.einsum("ij,ij->i", rows, rows)
    squared = np.maximum(norms[:, None] + norms - 2 * rows @ rows.T, 0)
    pairs = squared[np.triu_indices(len(rows), 1)]
    middle = float(np.median(pairs))
    return size * float(np.sqrt(middle if middle > 1e-24 else pairs.mean()))
