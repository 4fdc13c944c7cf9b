"""The one loop over blocks of products, and the two ways to lay rows out for it.

Every question about pairs of rows begins with products q·y of a block of queries and a panel of
rows. What is *kept* of a block differs, and stands in the files beside this one.

Norms go with the rows (:class:`RowSide`), or are *folded* into the product: [−2 q, 1] · [y, ‖y‖²]
is the squared distance less ‖q‖², a constant of the query that changes no order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from vicinal._types import FloatArray
from vicinal.pairs._filter import RowSide

# Rows of a block of queries and of a panel whose products stay in a core's cache.
ROWS, COLUMNS = 256, 512
# Squares of larger spreads, or of smaller ones, leave float32.
_LARGEST_SPREAD = 1e12


def product_blocks(
    left: FloatArray, panels: Iterable[RowSide], room: FloatArray | None = None, *, first: int = 0
) -> Iterator[tuple[int, RowSide, FloatArray]]:
    """Yield each panel's first row, the panel, and ``left @ panel.rows.T``, (b, t).

    Products stand in the same memory, or in ``room`` (flat): the next block overwrites them.
    """
    for panel in panels:
        shape = len(left), len(panel.rows)
        size = shape[0] * shape[1]
        if room is None or room.size < size:
            room = np.empty(size, left.dtype)
        products = room[:size].reshape(shape)
        np.matmul(left, panel.rows.T, out=products)
        yield first, panel, products
        first += shape[1]


def panels_of(side: RowSide, width: int, first: int = 0) -> Iterator[RowSide]:
    """Yield the rows from ``first`` on, ``width`` at a time."""
    for begin in range(first, len(side.rows), width):
        yield RowSide(*(part[begin : begin + width] for part in side))


def fold_rows(points: FloatArray) -> RowSide:
    """Return rows as [y, ‖y‖²], with their norms."""
    squared_norms = np.einsum("ij,ij->i", points, points)
    # Column after column, as the product reads narrow panels quickest.
    folded = np.empty((points.shape[1] + 1, len(points)), points.dtype)
    folded[:-1], folded[-1] = points.T, squared_norms
    return RowSide(folded.T, squared_norms, np.sqrt(squared_norms))


def fold_queries(queries: FloatArray) -> FloatArray:
    """Return queries as [−2 q, 1]."""
    folded = np.ones((len(queries), queries.shape[1] + 1), queries.dtype)
    np.multiply(queries, queries.dtype.type(-2), out=folded[:, :-1])
    return folded


def rounded_squared_distances(queries: FloatArray, points: FloatArray) -> FloatArray:
    """Return ‖q − y‖² of all pairs, (b, m), by one product: rounded, never below 0.

    Rounding sees the norms: rows should be about their mean.
    """
    squared_norms = np.einsum("ij,ij->i", points, points)
    panel = RowSide(points, squared_norms, squared_norms)
    ((_, _, squared),) = product_blocks(queries, [panel])
    squared *= -2
    squared += squared_norms
    squared += np.einsum("ij,ij->i", queries, queries)[:, None]
    return np.maximum(squared, 0, out=squared)


def distance_blocks(
    queries: FloatArray, points: FloatArray, entries: int
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield some of the queries and their rounded squared distances to all points, (b, m).

    ``entries`` is how many distances are held at a time.
    """
    step = max(1, entries // max(1, len(points)))
    for first in range(0, len(queries), step):
        part = slice(first, min(first + step, len(queries)))
        yield part, rounded_squared_distances(queries[part], points)


def centred_float32(mapped: FloatArray, rows: FloatArray | None = None) -> FloatArray:
    """Return the rows, or others, about the rows' mean in float32: rounding sees the spread alone.

    A spread whose squares would leave float32 becomes the unit, rounded to a power of two.
    """
    centre = mapped.mean(axis=0)
    centred = mapped - centre
    spread = float(max(centred.max(initial=0.0), -centred.min(initial=0.0)))
    if rows is not None:  # so far away that squares would overflow is as far as need be
        centred = np.clip(rows - centre, -_LARGEST_SPREAD * spread, _LARGEST_SPREAD * spread)
    if spread and not 1 / _LARGEST_SPREAD <= spread <= _LARGEST_SPREAD:
        centred = centred / np.ldexp(1.0, int(np.frexp(spread)[1]))
    return np.ascontiguousarray(centred, dtype=np.float32)
