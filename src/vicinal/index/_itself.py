"""Neighbours of rows that are in the index themselves."""

from __future__ import annotations

from vicinal._types import AnyArray, IntArray


def without_itself(values: AnyArray, indices: IntArray, own: IntArray) -> tuple[AnyArray, IntArray]:
    """Drop each query's own row from its list of neighbours.

    Parameters
    ----------
    values, indices : ndarrays of shape (m, k + 1)
        What an index found, nearest first, for queries that are among its rows.
    own : int ndarray of shape (m,)
        The row each query is.

    Returns
    -------
    values, indices : ndarrays of shape (m, k)
        Where equal rows have pushed a query off its own list, the farthest is dropped instead.
    """
    itself = indices == own[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = len(indices), indices.shape[1] - 1
    return values[~itself].reshape(shape), indices[~itself].reshape(shape)
