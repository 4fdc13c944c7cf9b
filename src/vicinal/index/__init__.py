"""Search: vectors in, (distances, indices) out; knows no metric.

    ExactIndex    squared Euclidean distance, or another by name, exact, ties by lower row
    SparseIndex   the same of sparse rows, by Euclidean distance or the cosine
    BinaryIndex   Hamming distance of packed bits, exact, ties by lower row
    FaissIndex    whatever faiss can build, with faiss' rounding and order

Rows of a dask array are searched by ``ExactIndex`` where they lie (``_partitions``).

    vectors ─► index ─┬─ query(queries, k)              ─► (values, indices), the k nearest
                      └─ query_radius(queries, radius)  ─► (values, indices, indptr), all within
                                                            a distance

``score_lists`` says how good rankings are, by the measures of retrieval tracks, and
``rank_by_distance`` makes the rankings of rows among each other. ``without_itself`` drops from the
k + 1 nearest of an indexed row the row itself; ``check_radius`` refuses what is no distance.
"""

from vicinal.index._binary import BinaryIndex
from vicinal.index._changes import row_numbers, rows_left
from vicinal.index._distances import ALIASES, DISTANCES, EUCLIDEAN, check_distance
from vicinal.index._exact import ExactIndex
from vicinal.index._faiss import FaissIndex, import_faiss
from vicinal.index._inputs import check_query_width, check_radius, check_vectors
from vicinal.index._itself import without_itself
from vicinal.index._partitions import map_rows, read_partitions
from vicinal.index._retrieval import RetrievalScores, rank_by_distance, score_lists
from vicinal.index._sparse import SparseIndex

__all__ = [
    "ALIASES",
    "DISTANCES",
    "EUCLIDEAN",
    "BinaryIndex",
    "ExactIndex",
    "FaissIndex",
    "RetrievalScores",
    "SparseIndex",
    "check_distance",
    "check_query_width",
    "check_radius",
    "check_vectors",
    "import_faiss",
    "map_rows",
    "rank_by_distance",
    "read_partitions",
    "row_numbers",
    "rows_left",
    "score_lists",
    "without_itself",
]
