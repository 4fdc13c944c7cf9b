"""Candidate lists in time linear in the rows: near cells first, then what neighbours know.

A first list is the nearest of the rows in the few cells whose centres are nearest. It misses
rows across the borders of cells. A round of *exchange* mends that: all rows are cut into cells
anew, along other borders, and each row of a cell is compared with every candidate of every
row in it, and with the rows of other classes that list one of them. Neighbours of neighbours are
mostly neighbours, so a few rounds find nearly all, and when the map moves a little one round on
the old lists is enough. A row is compared with a bounded number of others, whatever n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vicinal._kernels._candidates import write_candidates
from vicinal._kernels._unions import gather_known, reverse_lists
from vicinal._threads import map_blocks
from vicinal._types import FloatArray, IntArray
from vicinal.metric.candidates._cells import Cells, cut_into_cells
from vicinal.pairs import (
    ClassOrder,
    candidate_limits,
    centred_float32,
    fold_rows,
    shortlists,
)

# Rows of a cell while first lists are made (small: near cells must be near), and in an exchange.
_FIRST_CELL, _CELL = 64, 128
# Rows of the own class, and of others, that a first list is taken from.
_FIRST_OWN, _FIRST_OTHER = 512, 1024
# Rounds of exchange on first lists, and on the lists of an earlier map.
_FIRST_ROUNDS, _ROUNDS = 2, 1
# Cells a thread takes at a time.
_SHARE = 32

# Which rows (own class, other classes) the rows of a cell are compared with; the own begin with
# the cell's rows themselves.
Compared = Callable[[int], tuple[IntArray, IntArray]]


@dataclass(frozen=True)
class _Rows:
    """Mapped rows: ``points`` (n, p), their classes, the lists' lengths."""

    points: FloatArray
    classes: ClassOrder
    keep: tuple[int, int]
    n_threads: int


def approximate_candidates(
    mapped: FloatArray,
    classes: ClassOrder,
    n_own: int,
    n_other: int,
    *,
    queries: FloatArray | None = None,
    previous: IntArray | None = None,
    seed: tuple[int, ...] = (0,),
    n_threads: int = 1,
) -> IntArray:
    """Return nearly the lists of :func:`~vicinal.metric.candidates.refresh_candidates`.

    Parameters as there, but rows near a row's own place are taken for near its query; ``previous``
    lists are where the search starts, and ``seed`` decides where
    cells are cut. Time O(n (p log n + comparisons · p)) with a bounded number of comparisons a row;
    memory O(n · candidates). The result does not depend on ``n_threads``.
    """
    points = centred_float32(mapped)
    rows = _Rows(points, classes, (n_own, n_other), n_threads)
    rng = np.random.default_rng(seed)
    lists, rounds = previous, _ROUNDS
    if lists is None:
        lists, rounds = first_lists(rows, rng), _FIRST_ROUNDS
    for _ in range(rounds):
        lists = exchange(rows, lists, rng)
    # Of points equally far the lower counts as the nearer: inference goes by the place in the list.
    lists[:, :n_own].sort(axis=1)
    lists[:, n_own:].sort(axis=1)
    return lists


def first_lists(rows: _Rows, rng: np.random.Generator) -> IntArray:
    """Return lists out of the cells nearest to each row's own."""
    cells = cut_into_cells(rows.points, rows.classes.codes, _FIRST_CELL, rng)
    sizes = np.diff(cells.starts)
    sums = np.add.reduceat(rows.points[cells.rows], cells.starts[:-1], axis=0)
    centres = sums / sizes[:, None].astype(np.float32)
    squared_norms = np.einsum("ij,ij->i", centres, centres)

    def near_cells(cell: int) -> tuple[IntArray, IntArray]:
        nearness = squared_norms - 2 * (centres @ centres[cell])
        nearness[cell] = -np.inf
        own = cells.codes == cells.codes[cell]
        return (
            _nearest_cells(cells, sizes, nearness, np.flatnonzero(own), _FIRST_OWN),
            _nearest_cells(cells, sizes, nearness, np.flatnonzero(~own), _FIRST_OTHER),
        )

    unlimited = np.full((len(rows.points), 2), np.inf, np.float32)
    return _search_cells(rows, cells, lambda: near_cells, unlimited)


def _nearest_cells(
    cells: Cells, sizes: IntArray, nearness: FloatArray, among: IntArray, n_rows: int
) -> IntArray:
    """Return the rows of the nearest cells that hold at least ``n_rows``, nearest cell first."""
    some = among
    if len(among) > n_rows:  # no cell is empty, so no more can be needed
        some = among[np.argpartition(nearness[among], n_rows)[:n_rows]]
    order = some[np.lexsort((some, nearness[some]))]
    enough = int(np.searchsorted(np.cumsum(sizes[order]), n_rows)) + 1
    return np.concatenate([np.empty(0, np.int32), *(cells.of(c) for c in order[:enough])])


def exchange(rows: _Rows, lists: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the lists after each row has seen the candidates of all rows in its cell."""
    n_own, n_other = rows.keep
    cells = cut_into_cells(rows.points, rows.classes.codes, _CELL, rng)
    limits = candidate_limits(rows.points, rows.points, rows.classes, lists, n_own)
    starts, sources = reverse_lists(lists, n_own)

    def known() -> Compared:
        stamps = np.full(len(lists), -1, np.int32)
        return lambda cell: gather_known(
            cells.of(cell), lists, n_own, starts, sources, n_other, stamps, cell
        )

    return _search_cells(rows, cells, known, limits)


def _search_cells(
    rows: _Rows, cells: Cells, make_compared: Callable[[], Compared], limits: FloatArray
) -> IntArray:
    """Return each row's nearest among the rows its cell is compared with."""
    out = np.full((len(rows.points), sum(rows.keep)), -1, np.int32)

    def search(first: int) -> None:
        compared = make_compared()  # its scratch is for one thread
        for cell in range(first, min(first + _SHARE, len(cells))):
            members = cells.of(cell)
            out[members] = _search_cell(rows, members, *compared(cell), limits[members])

    map_blocks(search, range(0, len(cells), _SHARE), rows.n_threads)
    return out


def _search_cell(
    rows: _Rows, members: IntArray, own: IntArray, others: IntArray, limits: FloatArray
) -> IntArray:
    """Return the lists (b, n_own + n_other) of one cell's rows out of the rows compared with."""
    compared = np.concatenate([own, others])
    columns = fold_rows(rows.points[compared])
    start = np.zeros(len(members), np.int32)
    stop = np.full(len(members), len(own), np.int32)
    queries = rows.points[members]
    values, found, filled = shortlists(
        queries, columns, np.arange(len(members)), start, stop, limits, rows.keep
    )
    places = np.full((len(members), sum(rows.keep)), -1, np.int32)
    write_candidates(values, found, filled, *rows.keep, places)
    return np.where(places >= 0, compared[places], np.int32(-1))
