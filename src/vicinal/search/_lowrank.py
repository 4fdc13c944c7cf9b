"""Two short maps whose inner products are nearly those of the long vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import AnyArray, FloatArray

_BLOCK = 4096
# Eigenvalues below this part of the largest are directions that hardly any vector has.
_LEAST = 1e-6


@dataclass(frozen=True)
class Factors:
    """``queries`` and ``documents`` (p, d): x·z is nearly (Q x)·(P z)."""

    queries: FloatArray
    documents: FloatArray

    def database(self, rows: AnyArray) -> FloatArray:
        """Return P z of unit length, (n, p)."""
        return unit_rows(rows @ self.documents.T)


def low_rank(queries: FloatArray, documents: AnyArray, n_components: int) -> Factors:
    r"""Return the maps to p dimensions that keep inner products best, in the mean of squares.

    With second moments C of the queries and D of the documents, and the singular values
    :math:`C^{1/2} D^{1/2} = \sum_i σ_i u_i v_i^T`, the p largest give
    :math:`Q = σ^{1/2} u^T C^{-1/2}` and :math:`P = σ^{1/2} v^T D^{-1/2}`. Time O((m + n) d² + d³),
    memory O(d²) and a block.
    """
    root, inverse = _roots(queries)
    root_documents, inverse_documents = _roots(documents)
    left, values, right = np.linalg.svd(root @ root_documents)
    size = np.sqrt(values[:n_components])[:, None]
    Q = size * (left[:, :n_components].T @ inverse)
    P = size * (right[:n_components] @ inverse_documents)
    return Factors(Q.astype(queries.dtype), P.astype(queries.dtype))


def _roots(rows: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Return the root of the second moment of some rows, (d, d), and its pseudo-inverse."""
    d = rows.shape[1]
    moment = np.zeros((d, d))
    for start in range(0, len(rows), _BLOCK):
        part = np.asarray(rows[start : start + _BLOCK], np.float64)
        moment += part.T @ part
    values, vectors = np.linalg.eigh(moment / len(rows))
    values = np.maximum(values, 0)
    roots = np.sqrt(values)
    some = values > _LEAST * values[-1]
    inverse = np.divide(1, roots, out=np.zeros(d), where=some)
    return (vectors * roots) @ vectors.T, (vectors * inverse) @ vectors.T


def unit_rows(rows: FloatArray) -> FloatArray:
    """Return rows of length 1; a row of zeros stays one."""
    # In units of the largest value, so that no square leaves the range.
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0)
    rows = rows / np.where(largest > 0, largest, 1)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows / np.where(norms > 0, norms, 1).astype(rows.dtype)
