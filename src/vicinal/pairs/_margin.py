"""Pairs inside a margin: rows of two classes that are nearer than a bound of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from vicinal._kernels._lmnn import name_pairs
from vicinal._threads import map_blocks
from vicinal._types import FloatArray, IntArray
from vicinal.pairs._classes import ClassOrder
from vicinal.pairs._filter import RowSide, folded_slack
from vicinal.pairs._products import (
    COLUMNS,
    ROWS,
    fold_queries,
    fold_rows,
    panels_of,
    product_blocks,
)

# Coordinates whose squares, summed, stay well within float32.
_LARGEST = 1e16


def search_pairs(
    mapped: FloatArray,
    classes: ClassOrder,
    rows: IntArray,
    squared_reach: FloatArray,
    n_threads: int = 1,
) -> Iterator[IntArray]:
    """Yield int32 arrays (q, 2) of all pairs (i, l) of two classes, ‖z_i − z_l‖² ≤ reach of i.

    Some farther pairs may be among them, by rounding in float32. Memory for a thread is that of
    the pairs of one block of rows. Time O(len(rows) n p).
    """
    # Rows so far out that float32 cannot hold their squares are rare enough to be slow about.
    dtype: Any = np.float32 if np.abs(mapped).max(initial=0.0) < _LARGEST else np.float64
    points: FloatArray = np.ascontiguousarray(mapped, dtype=dtype)
    columns = fold_rows(points)
    limits = _limits(mapped, squared_reach, dtype)
    height = max(8, min(ROWS, 2**23 // max(1, len(mapped))))
    blocks = [rows[start : start + height] for start in range(0, len(rows), height)]

    def search_block(block: IntArray) -> IntArray:
        return _search_columns(points[block], columns, block, classes, limits[block])

    for start in range(0, len(blocks), n_threads):
        yield from map_blocks(search_block, blocks[start : start + n_threads], n_threads)


def _search_columns(
    queries: FloatArray, columns: RowSide, rows: IntArray, classes: ClassOrder, limits: FloatArray
) -> IntArray:
    own_start, own_stop = classes.start[rows], classes.stop[rows]
    scratch = np.empty((len(rows) * min(COLUMNS, len(columns.rows)), 2), np.int32)
    parts = []
    panels = panels_of(columns, COLUMNS)
    for begin, _, products in product_blocks(fold_queries(queries), panels):
        n = name_pairs(products, rows, begin, own_start, own_stop, limits, scratch)
        parts.append(scratch[:n].copy())
    return np.concatenate(parts)


def _limits(mapped: FloatArray, squared_reach: FloatArray, dtype: Any) -> FloatArray:
    """Return what ‖z_j‖² − 2 z_i·z_j is, as rounded, at most for all pairs within reach.

    Such a z_j is no longer than ‖z_i‖ + reach, which bounds its rounding.
    """
    reach = np.maximum(squared_reach, 0.0)
    squared_norms = np.einsum("ij,ij->i", mapped, mapped, dtype=np.float64)
    longest = 2 * np.sqrt(squared_norms) + np.sqrt(reach)
    slack = folded_slack(mapped.shape[1], dtype) * longest**2
    limits: FloatArray = (reach - squared_norms + slack).astype(dtype)
    return limits
