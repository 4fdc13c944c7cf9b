"""Exact search of a database in partitions under a learned metric, as a function."""

from __future__ import annotations

from typing import Any

from vicinal._types import FloatArray, IntArray
from vicinal.index import ExactIndex, check_query_width, check_vectors, map_rows, read_partitions
from vicinal.metric.learner import maps_of, plain_values
from vicinal.rows import is_distributed


def nearest_distributed(
    database: Any, queries: Any, k: int, *, metric: Any = None, client: Any = None
) -> tuple[FloatArray, IntArray]:
    """Find the k rows of a dask array that are nearest to each query, where its rows lie.

    An :class:`~vicinal.ExactIndex` of the mapped rows, whose chunks are mapped and searched on the
    workers that have them; k distances and row numbers a query and chunk are merged, eight at a
    time. What comes out is what one exact index of all rows would give, ties by row included.

    Parameters
    ----------
    database : dask array of shape (n, d)
    queries : array-like or dask array of shape (m, d)
        Only the answers are gathered.
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
    if not is_distributed(database):
        raise ValueError("database must be a dask array of shape (n, d); an array has ExactIndex.")
    with dask.config.set({} if client is None else {"scheduler": client}):
        rows = read_partitions(database, "database")
        index = ExactIndex(map_rows(lambda some: plain_values(maps.database(some)), rows))
        whole = read_partitions if is_distributed(queries) else check_vectors
        vectors = check_query_width(whole(queries, "queries"), rows)
        return index.query(map_rows(lambda some: plain_values(maps.queries(some)), vectors), k)


def _import_dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise ImportError("nearest_distributed needs dask: pip install 'vicinal[dask]'.") from error
    return dask
