"""Cells: the rows of each class cut into pieces of equal size, near rows together.

A class is halved along the direction it spreads most in, each half again, until the pieces are
small. The rows of a cell are then searched together, against one set of columns, by a matrix
product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray, IntArray

# Rows that tell in which direction a piece spreads.
_SAMPLE = 128


@dataclass(frozen=True)
class Cells:
    """Rows in cells: ``rows[starts[c]:starts[c + 1]]``, ascending, are those of cell c.

    ``rows`` (n,) holds every row once, ``starts`` (m + 1,) where cells begin, ``codes`` (m,) the
    class of each cell's rows.
    """

    rows: IntArray
    starts: IntArray
    codes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    def of(self, cell: int) -> IntArray:
        """Return the rows of a cell."""
        return self.rows[self.starts[cell] : self.starts[cell + 1]]


def cut_into_cells(
    points: FloatArray, codes: IntArray, size: int, rng: np.random.Generator
) -> Cells:
    """Return cells of about ``size`` rows of one class each.

    ``points`` (n, p) are in order of class, ``codes`` (n,) their classes, ascending. Where pieces
    are cut varies with ``rng``, so that rows parted by one cut meet in another. Time O(n p log n).
    """
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    runs = zip(begins, np.append(begins[1:], len(codes)), strict=True)
    pieces: list[IntArray] = []
    for begin, end in runs:
        rows = np.arange(begin, end, dtype=np.int32)
        pieces += _halve(points, rows, -(-len(rows) // size), rng)
    starts = np.cumsum([0, *(len(piece) for piece in pieces)])
    first = np.array([piece[0] for piece in pieces])
    return Cells(np.concatenate(pieces), starts, codes[first])


def _halve(
    points: FloatArray, rows: IntArray, n_cells: int, rng: np.random.Generator
) -> list[IntArray]:
    """Return the rows in ``n_cells`` pieces of nearly equal size."""
    if n_cells <= 1:
        return [np.sort(rows)]
    places = points[rows] @ _widest_direction(points, rows, rng)
    # Anywhere in the middle third, or two cuts of the same rows would be much the same.
    left = max(1, int(n_cells * rng.uniform(1 / 3, 2 / 3)))
    cut = len(rows) * left // n_cells
    order = np.argpartition(places, cut)
    return [
        *_halve(points, rows[order[:cut]], left, rng),
        *_halve(points, rows[order[cut:]], n_cells - left, rng),
    ]


def _widest_direction(points: FloatArray, rows: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return roughly the first principal direction of the rows, by powers of a sample's scatter."""
    sample = points[rows[rng.integers(len(rows), size=_SAMPLE)]]
    sample = sample - sample.mean(axis=0)
    direction: FloatArray = sample[np.argmax(np.einsum("ij,ij->i", sample, sample))]
    for _ in range(3):
        direction = (sample @ direction) @ sample
        direction /= np.abs(direction).max() or 1  # or powers of large rows would overflow
    return direction
