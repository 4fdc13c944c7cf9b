"""The few nearest rows of new ones, in float32: what judging a trial needs, many times over."""

from __future__ import annotations

import numpy as np

from vicinal._kernels._candidates import write_candidates
from vicinal._threads import map_blocks
from vicinal._types import FloatArray, IntArray
from vicinal.metric.candidates._exact import (
    ROWS,
    SAMPLE,
    likely_limits,
    shortlists,
    squared_distances_to,
)


def nearest_rows(
    database: FloatArray, queries: FloatArray, k: int, *, n_threads: int = 1
) -> IntArray:
    """Return the k nearest rows of the database for each query, nearest first, shape (m, k).

    Which rows are kept is decided by products in float32 about the database's mean, their order by
    direct distances; of equals the lower row comes first. Time O(m n p).
    """
    centre = database.mean(axis=0)
    points, wanted = (np.asarray(part - centre, np.float32) for part in (database, queries))
    squared_norms = np.einsum("ij,ij->i", points, points)
    columns = np.ascontiguousarray(np.column_stack([points, squared_norms]).T)
    sample = np.ascontiguousarray(columns[:, ::SAMPLE])
    out = np.empty((len(queries), k), np.int64)

    def none_of(rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        # No query is a column, no run is of its class. The types are those that searches for
        # candidates have: another signature would be compiled once more.
        return np.full(len(rows), -1), *np.zeros((2, len(rows)), np.int32)

    def search(rows: IntArray, limits: FloatArray) -> IntArray:
        lists = shortlists(wanted[rows], columns, *none_of(rows), limits, (0, k))
        found = np.empty((len(rows), k), np.int32)
        write_candidates(*lists, 0, k, found)
        out[rows] = nearest_first(wanted[rows], points, found)
        return rows[lists[2][:, 1] < k]

    def search_block(first: int) -> None:
        rows = np.arange(first, min(first + ROWS, len(queries)))
        limits = likely_limits(wanted[rows], sample, *none_of(rows), (0, k))
        short = search(rows, limits)
        search(short, np.full((len(short), 2), np.inf, np.float32))

    map_blocks(search_block, range(0, len(queries), ROWS), n_threads)
    return out


def nearest_first(queries: FloatArray, points: FloatArray, found: IntArray) -> IntArray:
    """Return each query's rows in order of their distance; rows given ascending keep it on ties."""
    labels = np.zeros(len(points), np.int32)
    rows = np.arange(len(queries))
    squared_distances, _ = squared_distances_to(queries, points, rows, found, labels)
    order = np.argsort(squared_distances, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)
