"""Exact search of a database in partitions: each gives its nearest rows, and these are merged."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index import ExactIndex
from vicinal.metric.learner import maps_of, plain_values

# Partial results that are merged at a time.
_FAN_IN = 8


def nearest_distributed(
    database: Any, queries: Any, k: int, *, metric: Any = None, client: Any = None
) -> tuple[FloatArray, IntArray]:
    """Find the k rows of a dask array that are nearest to each query, where its rows lie.

    Every chunk of rows is mapped and searched by :class:`~vicinal.ExactIndex` on the worker that
    has it; k distances and row numbers a query and chunk are merged, eight at a time. What comes
    out is what one exact index of all rows would give, ties by row included.

    Parameters
    ----------
    database : dask array of shape (n, d)
    queries : array-like or dask array of shape (m, d)
        A dask array is answered chunk by chunk; only the answers are gathered.
    k : int
        At most n.
    metric : fitted metric learner or None
        Its maps are applied to rows and queries; None is the Euclidean distance. A metric of codes
        or one that differs from place to place is refused.
    client : distributed.Client or None
        None takes the current scheduler: the latest client's, or threads.

    Returns
    -------
    squared_distances : ndarray of shape (m, k)
    rows : int64 ndarray of shape (m, k)

    Notes
    -----
    A chunk whose worker is lost is searched again by another. A worker holds a chunk of the
    database and its index (twice the chunk in float32) for each of its threads, and a chunk of
    queries. Time O(m n d) over all workers.

    Examples
    --------
    >>> import dask.array as da
    >>> from vicinal.scale import nearest_distributed
    >>> database = da.from_array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], chunks=(2, 2))
    >>> nearest_distributed(database, [[0.0, 0.2]], k=2)[1].tolist()
    [[0, 2]]
    """
    dask = _import_dask()
    maps = maps_of(metric)
    if maps.space == "hamming" or maps.ranking is not None:
        raise ValueError("nearest_distributed searches vectors under one metric, not codes.")
    if type(database).__module__.partition(".")[0] != "dask" or database.ndim != 2:
        raise ValueError("database must be a dask array of shape (n, d); an array has ExactIndex.")
    rows = database.rechunk({1: -1})
    if np.isnan(rows.chunks[0]).any():
        rows = rows.compute_chunk_sizes()
    sizes = rows.chunks[0]
    k = check_neighbors(k, int(sum(sizes)))
    starts = np.cumsum([0, *sizes[:-1]])
    parts = rows.to_delayed()[:, 0]
    answers = []
    for asked in _query_chunks(queries, rows.shape[1]):
        near = [
            dask.delayed(_search_chunk)(part, asked, int(start), k, metric)
            for part, start, size in zip(parts, starts, sizes, strict=True)
            if size
        ]
        while len(near) > 1:
            groups = range(0, len(near), _FAN_IN)
            near = [dask.delayed(_merge)(near[i : i + _FAN_IN], k) for i in groups]
        answers.append(near[0])
    results = dask.compute(*answers, scheduler=client)
    distances, indices = (np.concatenate(each) for each in zip(*results, strict=True))
    return distances, indices


def _query_chunks(queries: Any, width: int) -> list[Any]:
    """Return the queries' chunks, whole columns each."""
    shape = np.shape(queries)
    if len(shape) != 2 or shape[1] != width:
        raise ValueError(f"queries have shape {shape}, but the database has {width} columns.")
    if type(queries).__module__.partition(".")[0] == "dask":
        return list(queries.rechunk({1: -1}).to_delayed()[:, 0])
    return [np.asarray(queries)]


def _search_chunk(
    rows: AnyArray, queries: AnyArray, start: int, k: int, metric: Any
) -> tuple[FloatArray, IntArray]:
    """Return a chunk's nearest rows, numbered as in the whole; all of them where they are few."""
    maps = maps_of(metric)
    index = ExactIndex(plain_values(maps.database(rows)))
    wanted = plain_values(maps.queries(queries))
    distances, indices = index.query(wanted, min(k, len(rows)))
    return distances * index.unit**2, indices + start


def _merge(parts: list[tuple[FloatArray, IntArray]], k: int) -> tuple[FloatArray, IntArray]:
    """Return the k nearest of several answers, ties by row."""
    distances, indices = (np.hstack(each) for each in zip(*parts, strict=True))
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    nearest: FloatArray = np.take_along_axis(distances, order, axis=1)
    return nearest, np.take_along_axis(indices, order, axis=1)


def _import_dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise ImportError("nearest_distributed needs dask: pip install 'vicinal[dask]'.") from error
    return dask
