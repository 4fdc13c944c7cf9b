"""Search: vectors in, (distances, indices) out; knows no metric."""

from vicinal.index._exact import ExactIndex

__all__ = ["ExactIndex"]
