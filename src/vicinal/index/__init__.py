"""Search: vectors in, (distances, indices) out; knows no metric.

    ExactIndex    squared Euclidean distance, exact, ties by lower row
    BinaryIndex   Hamming distance of packed bits, exact, ties by lower row
    FaissIndex    whatever faiss can build, with faiss' rounding and order

Each has ``query(queries, k)`` for the k nearest and ``query_radius(queries, radius)`` for all
within a distance.
"""

from vicinal.index._binary import BinaryIndex
from vicinal.index._exact import ExactIndex
from vicinal.index._faiss import FaissIndex

__all__ = ["BinaryIndex", "ExactIndex", "FaissIndex"]
