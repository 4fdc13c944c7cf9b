"""Rows in partitions, searched where they lie: each gives its nearest, and these are merged.

queries ─▶ rounds ─▶ on every worker: ExactIndex(chunk) ─▶ the k nearest of each chunk ─┐
                                                            merged, eight at a time ─────┴─▶ k

Answers are those of one exact index of all rows, ties by row included. A chunk whose worker is lost
is loaded and searched again by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.rows import is_distributed

# Partial results that are merged at a time.
_FAN_IN = 8
# Queries of a round at least: a round reads all chunks.
_LEAST_QUERIES = 4096
# A round's queries travel with the graph, from which a lost worker's tasks are made again.
_GRAPH_SIZE = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}

Answer = tuple[AnyArray, ...]


def read_partitions(rows: Any, name: str = "vectors") -> Any:
    """Return a dask array (n, d) of numbers, whole columns a chunk and of chunks of known size."""
    if getattr(rows, "ndim", None) != 2 or not hasattr(rows, "chunks"):
        raise ValueError(
            f"{name} must be a dask array with two axes (rows, columns); of a frame take "
            "to_dask_array(lengths=True)."
        )
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers, got values of type {rows.dtype}.")
    whole = rows.rechunk({1: -1})
    return whole.compute_chunk_sizes() if np.isnan(whole.chunks[0]).any() else whole


def map_rows(function: Callable[[AnyArray], AnyArray], rows: Any) -> Any:
    """Return what a function makes of rows; of a dask array chunk by chunk, where they lie."""
    if not is_distributed(rows):
        return function(rows)
    # Rows of ones tell how wide and of which type what is made of any rows is.
    sample = function(np.ones((1, rows.shape[1]), rows.dtype))
    meta, sizes = np.empty((0, 0), sample.dtype), (rows.chunks[0], (sample.shape[1],))
    return rows.map_blocks(_map_some, function, sample.shape[1], chunks=sizes, meta=meta)


def _map_some(rows: AnyArray, function: Callable[[AnyArray], AnyArray], width: int) -> AnyArray:
    return function(rows) if len(rows) else np.empty((0, width))


def gathered_blocks(queries: Any) -> Iterator[AnyArray]:
    """Yield the chunks of a dask array, one at a time in memory."""
    whole = read_partitions(queries, "queries")
    for number, size in enumerate(whole.chunks[0]):
        if size or len(whole.chunks[0]) == 1:
            yield whole.blocks[number].compute()


class Partitions:
    """A dask array of rows (n, d) that is searched as ``make_index`` searches each chunk."""

    def __init__(self, rows: Any, make_index: Callable[[AnyArray], Any]) -> None:
        self.rows, self.make_index = rows, make_index
        self.sizes = rows.chunks[0]

    def nearest(self, queries: Any, k: int, client: Any = None) -> tuple[FloatArray, IntArray]:
        """Return values and rows (m, k) of the nearest, ascending, ties by row."""

        def search(index: Any, some: AnyArray) -> Answer:
            answer: Answer = index.query(some, min(k, len(index.vectors)))
            return answer

        def merge(parts: list[Answer]) -> Answer:
            values, indices = (np.hstack(each) for each in zip(*parts, strict=True))
            order = np.lexsort((indices, values), axis=1)[:, :k]
            return tuple(np.take_along_axis(each, order, axis=1) for each in (values, indices))

        values, indices = self._answer(queries, search, merge, client)
        return values, indices

    def within(self, queries: Any, radius: float) -> tuple[FloatArray, IntArray, IntArray]:
        """Return values and rows of all within, query after query, and their counts."""

        def search(index: Any, some: AnyArray) -> Answer:
            values, indices, indptr = index.query_radius(some, radius)
            return values, indices, np.diff(indptr)

        def merge(parts: list[Answer]) -> Answer:
            counts = [part[2] for part in parts]
            owners = np.concatenate([np.repeat(np.arange(len(each)), each) for each in counts])
            values, indices = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
            order = np.lexsort((indices, values, owners))
            return values[order], indices[order], np.sum(counts, axis=0)

        values, indices, counts = self._answer(queries, search, merge, None)
        return values, indices, counts

    def _answer(
        self,
        queries: Any,
        search: Callable[[Any, AnyArray], Answer],
        merge: Callable[[list[Answer]], Answer],
        client: Any,
    ) -> Answer:
        """Return the merged answers to all queries, a round after the other."""
        import dask

        ask, join = dask.delayed(_ask, pure=False), dask.delayed(merge, pure=False)
        starts = np.cumsum([0, *self.sizes[:-1]])
        chunks = self.rows.to_delayed()[:, 0]
        answers = []
        for some in self._rounds(queries):
            parts = [
                ask(chunk, int(start), some, self.make_index, search)
                for chunk, start, size in zip(chunks, starts, self.sizes, strict=True)
                if size
            ]
            while len(parts) > 1:
                groups = range(0, len(parts), _FAN_IN)
                parts = [join(parts[i : i + _FAN_IN]) for i in groups]
            # Its defaults must be there before: what is set here alone goes away as a whole.
            has_workers = "distributed" in dask.config.config
            with dask.config.set(_GRAPH_SIZE if has_workers else {}):
                answers += dask.compute(*parts, scheduler=client)
        return tuple(np.concatenate(each) for each in zip(*answers, strict=True))

    def _rounds(self, queries: Any) -> Iterator[Any]:
        """Yield delayed queries, no more at a time than the largest chunk has rows."""
        import dask

        step = max(_LEAST_QUERIES, *self.sizes)
        for start in range(0, max(1, len(queries)), step):
            some = queries[start : start + step]
            if is_distributed(some):
                yield some.rechunk(-1).to_delayed().item()
            else:
                yield dask.delayed(some, pure=False)


def _ask(
    rows: AnyArray,
    start: int,
    queries: AnyArray,
    make_index: Callable[[AnyArray], Any],
    search: Callable[[Any, AnyArray], Answer],
) -> Answer:
    """Return what a chunk answers, its rows numbered as in the whole."""
    try:
        index = make_index(rows)
    except ValueError as error:
        raise ValueError(f"rows {start} to {start + len(rows) - 1}: {error}") from error
    if index.unit != 1:
        raise ValueError(
            f"rows {start} to {start + len(rows) - 1} hold values whose squares leave the range "
            "of floats; rescale them to search them in partitions."
        )
    values, indices, *rest = search(index, queries)
    return values, indices + start, *rest
