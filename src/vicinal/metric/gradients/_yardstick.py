"""How far apart rows are: the measure bandwidths are given in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

from ._sample import apply

# Pairs of rows: the median of so many is within about a fiftieth.
_PAIRS = 2000


@dataclass(frozen=True)
class Yardstick:
    """Gaps x − x' (p, d) of random rows, and their median length, which later metrics keep."""

    gaps: FloatArray
    median: float

    def rescale(self, components: FloatArray) -> FloatArray:
        """Return the metric scaled to the same median distance, so that bandwidths stay valid."""
        after = median_length(apply(components, self.gaps))
        return components * (self.median / after) if after > 0 else components


def make_yardstick(X: AnyArray, rows: IntArray, random: np.random.RandomState) -> Yardstick:
    """Return the yardstick of random pairs of the given rows."""
    first = np.resize(random.permutation(len(rows)), _PAIRS)
    # Never a row and itself: a turn of the circle by anything but a whole one.
    second = (first + random.randint(1, max(2, len(rows)), size=_PAIRS)) % len(rows)
    gaps = np.asarray(X[rows[first]], np.float64) - X[rows[second]]
    return Yardstick(gaps, median_length(gaps))


def median_length(gaps: FloatArray) -> float:
    """Return the median length; the root mean square where most gaps are zero."""
    # Of any size: squares of 1e200 must not overflow.
    size = float(np.abs(gaps).max())
    if size == 0:
        return 0.0
    gaps = gaps / size
    squared = np.einsum("ij,ij->i", gaps, gaps)
    middle = float(np.median(squared))
    return size * float(np.sqrt(middle if middle > 1e-24 else squared.mean()))
