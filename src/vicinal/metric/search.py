"""The search that predicts: the nearest rows under any maps, in whatever space they lie."""

from __future__ import annotations

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal.index import BinaryIndex, ExactIndex, FaissIndex, SparseIndex
from vicinal.metric.maps import Maps

Index = BinaryIndex | ExactIndex | FaissIndex | SparseIndex
# Rows that a local metric ranks for each neighbour asked for.
CANDIDATES = 10


def nearest_under(
    maps: Maps, database: AnyArray, queries: AnyArray, k: int, *, n_threads: int = 1
) -> IntArray:
    """Return the k rows of a database nearest to each query under some maps, (m, k)."""
    rows = maps.database(database)
    index = BinaryIndex(rows) if maps.space == "hamming" else ExactIndex(rows, n_jobs=n_threads)
    return search(index, maps, maps.queries(queries), k)[1]


def search(index: Index, maps: Maps, queries: AnyArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return squared distances (or bits) of mapped queries to their k nearest rows, and these.

    A metric that differs from place to place ranks the nearest of its mean again.
    """
    if maps.ranking is None:
        return index.query(queries, k)
    if not isinstance(index, ExactIndex):
        raise ValueError(
            f"a local metric ranks rows of index='exact', not of a {type(index).__name__}."
        )
    k = check_neighbors(k, len(index.vectors))
    _, near = index.query(queries, min(CANDIDATES * k, len(index.vectors)))
    distances, rows = maps.ranking.rank(queries, index.vectors, near, k)
    return distances / index.unit**2, rows
