"""The documents of largest inner product with each query, in blocks of both."""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

# Products that are held at a time.
_ENTRIES = 1 << 23
_QUERIES = 1024


def largest_products(
    queries: FloatArray, documents: AnyArray, k: int, *, hidden: IntArray | None = None
) -> tuple[FloatArray, IntArray]:
    """Return the k largest inner products of each query, and the documents they are with.

    Parameters
    ----------
    queries : ndarray of shape (m, p)
    documents : ndarray of shape (n, p)
        Read a block at a time, so that a memory map will do.
    k : int
        At most n.
    hidden : int ndarray of shape (m,), optional
        A document that each query must not be given: itself.

    Returns
    -------
    products : ndarray of shape (m, k)
        Descending.
    rows : int64 ndarray of shape (m, k)
        Of two equal products the lower row comes first.

    Notes
    -----
    Time O(m n p) at the speed of a matrix product; memory of 2²³ products and O(m k).
    """
    products = np.full((len(queries), k), -np.inf, queries.dtype)
    rows = np.zeros((len(queries), k), np.int64)
    width = max(k, _ENTRIES // _QUERIES)
    for first in range(0, len(documents), width):
        panel = np.asarray(documents[first : first + width], queries.dtype)
        for start in range(0, len(queries), _QUERIES):
            part = slice(start, start + _QUERIES)
            block = queries[part] @ panel.T
            if hidden is not None:
                _hide(block, hidden[part] - first)
            _merge(products, rows, part, block, first)
    return products, rows


def _hide(block: FloatArray, place: IntArray) -> None:
    itself = np.flatnonzero((place >= 0) & (place < block.shape[1]))
    block[itself, place[itself]] = -np.inf


def _merge(
    products: FloatArray, rows: IntArray, part: slice, block: FloatArray, first: int
) -> None:
    """Put what is larger in a block of products among the k largest, in place."""
    k = products.shape[1]
    if first:  # most queries have nothing nearer in a later panel
        some = np.flatnonzero(block.max(axis=1) > products[part, -1])
        if not len(some):
            return
    else:
        some = np.arange(len(block))
    wider = np.hstack([products[part][some], block[some]])
    numbers = np.hstack(
        [rows[part][some], np.broadcast_to(np.arange(first, first + block.shape[1]),
                                           (len(some), block.shape[1]))]
    )  # fmt: skip
    if wider.shape[1] > 4 * k:
        near = np.argpartition(-wider, k - 1, axis=1)[:, :k]
        wider, numbers = (np.take_along_axis(each, near, axis=1) for each in (wider, numbers))
    order = np.lexsort((numbers, -wider), axis=1)[:, :k]
    target = np.arange(part.start, part.start + len(block))[some]
    products[target] = np.take_along_axis(wider, order, axis=1)
    rows[target] = np.take_along_axis(numbers, order, axis=1)
