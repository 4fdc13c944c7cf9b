"""The k nearest rows, and all within a radius, exactly: filter by products, then compute.

    queries ──centre──▶ float32 ──┐
                                  ├─ product_blocks ─▶ lower bounds ─▶ rows that may be near
    rows ─────centre──▶ float32 ──┘                                          │
    queries, rows as given ─▶ their squared distances in float64 ◀───────────┘

The fast product only rules rows out, by a bound on its rounding (``_filter``); whatever is returned
was computed directly, and of equal distances the lower row comes first. Libraries that return the
rounded values themselves let equal distances differ in their last digits, and ties fall as the
rounding does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from vicinal._kernels._select import merge_nearest, rows_within
from vicinal._threads import map_blocks, split_rows
from vicinal._types import FloatArray, IntArray
from vicinal.pairs._filter import (
    QuerySide,
    RowSide,
    choose_centre,
    fits_float32,
    query_side,
    row_side,
)
from vicinal.pairs._products import panels_of, product_blocks

# Below this many multiplications threads cost more than they bring.
_SMALL = 10**7
# Few enough rows that a pass over them stays in the processor's cache.
_FILL_ROWS = 128
# How many queries and rows are compared at a time.
BLOCK_SIZE = 1024
# Squares of values up to here, and sums of a million such squares, stay in float64.
LARGEST_VALUE = 1e150


class Block(NamedTuple):
    """What a kernel needs to compare queries with one block of rows, in the kernels' order."""

    products: FloatArray
    squared_norms: FloatArray
    norms: FloatArray
    vectors: FloatArray
    first_row: int
    queries: FloatArray
    query_norms: FloatArray
    slack: Any
    floor: float


class Database:
    """Rows that are searched, as they are and as the filter sees them.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        C-ordered, of values whose squares float64 can hold (:func:`choose_unit`).
    block_size : int
    """

    def __init__(self, rows: FloatArray, block_size: int = BLOCK_SIZE) -> None:
        self.rows, self.block_size = rows, block_size
        self.centre = choose_centre(rows)
        self._filter = self._float32_filter()

    def search(
        self, search: Callable[[FloatArray], Any], queries: FloatArray, n_threads: int
    ) -> list[Any]:
        """Return what a search makes of each block of the queries, in order."""
        n_threads = 1 if self.rows.size * len(queries) < _SMALL else n_threads
        return map_blocks(search, split_rows(queries, self.block_size, n_threads), n_threads)

    def nearest(self, queries: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances and rows (m, k) of the nearest, ascending, ties by row."""
        nearest = np.full((len(queries), k), np.inf)
        indices = np.full((len(queries), k), -1, dtype=np.int64)
        side, evaluated = self._query_side(queries), 0
        blocks = self._compare(side)
        while (block := next(blocks, None)) is not None:
            evaluated += merge_nearest(*block, nearest, indices)
            # Where the float32 product hardly rules rows out, go on with a finer one.
            usual = 16 + 4 * k + block.first_row // 16
            if side.slack > 1e-10 and evaluated > len(queries) * usual:
                side = query_side(side.queries, self.centre, np.float64)
                blocks = self._compare(side, block.first_row + self.block_size)
        return nearest, indices

    def within(
        self, queries: FloatArray, squared_radius: float
    ) -> tuple[FloatArray, IntArray, IntArray]:
        """Return squared distances and rows of all within, query after query, and their counts."""
        blocks = self._compare(self._query_side(queries))
        parts = [rows_within(*block, squared_radius) for block in blocks]
        owners, indices, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((indices, values, owners))
        return values[order], indices[order], np.bincount(owners, minlength=len(queries))

    def _query_side(self, queries: FloatArray) -> QuerySide:
        queries = queries.astype(np.float64)
        if self._filter is not None:
            side = query_side(queries, self.centre, np.float32)
            if fits_float32(side.norms):
                return side
        return query_side(queries, self.centre, np.float64)

    def _compare(self, side: QuerySide, first: int = 0) -> Iterator[Block]:
        """Yield the blocks of queries against the rows from ``first`` on."""
        panels = self._panels(side, first)
        for begin, rows, products in product_blocks(side.negated, panels, first=first):
            yield Block(
                products=products,
                squared_norms=rows.squared_norms,
                norms=rows.norms,
                vectors=self.rows[begin : begin + self.block_size],
                first_row=begin,
                queries=side.queries,
                query_norms=side.norms,
                slack=side.slack,
                floor=side.floor,
            )

    def _panels(self, side: QuerySide, first: int) -> Iterator[RowSide]:
        if self._filter is not None and side.negated.dtype == np.float32:
            yield from panels_of(self._filter, self.block_size, first)
            return
        for begin in range(first, len(self.rows), self.block_size):
            vectors = self.rows[begin : begin + self.block_size]
            yield row_side(vectors, self.centre, np.float64)

    def _float32_filter(self) -> RowSide | None:
        """Return all rows as the float32 filter sees them; None where float32 cannot hold them."""
        n, d = self.rows.shape
        whole = RowSide(np.empty((n, d), np.float32), *np.empty((2, n), np.float32))
        for start in range(0, n, _FILL_ROWS):
            block = row_side(self.rows[start : start + _FILL_ROWS], self.centre, np.float32)
            for part, values in zip(whole, block, strict=True):
                part[start : start + _FILL_ROWS] = values
        return whole if fits_float32(whole.norms) else None


def nearest_rows(
    database: FloatArray, queries: FloatArray, k: int, *, n_threads: int = 1
) -> IntArray:
    """Return the k nearest rows of the database for each query, nearest first, shape (m, k).

    The rows that :class:`~vicinal.ExactIndex` names, ties by row included, without its checks:
    whatever is judged by them is judged by the search that predicts. Queries so far out that
    their squares overflow are brought to where they do not. Time O(m n d).
    """
    unit = choose_unit(database)
    rows = np.ascontiguousarray(in_units(database, unit))
    asking = in_units(queries, unit)
    if asking.dtype == np.float64:
        asking = np.clip(asking, -LARGEST_VALUE, LARGEST_VALUE)
    searched = Database(rows)
    parts = searched.search(lambda some: searched.nearest(some, k)[1], asking, n_threads)
    return np.concatenate(parts)


def choose_unit(rows: FloatArray, *, largest: float = 1e100) -> float:
    """Return the power of two in which squared distances are measured.

    1 where the largest value lies within 1/``largest`` and ``largest``, else the power of two next
    to it: its squares would leave the range of floats, or vanish. Dividing by it rounds nothing.
    """
    size = float(max(rows.max(initial=0.0), -rows.min(initial=0.0)))
    if size == 0 or 1 / largest <= size <= largest:
        return 1.0
    return float(np.ldexp(1.0, np.frexp(size)[1] - 1))


def in_units(rows: FloatArray, unit: float) -> FloatArray:
    """Return rows divided by a power of two, as they are where it is 1."""
    return rows if unit == 1.0 else rows.astype(np.float64) / unit
