"""The graph a diffusion walks on: its edges, weights and leading eigenvectors."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from vicinal._types import AnyArray, FloatArray, IntArray

# Numbers a batch of edges may hold.
_BATCH_ENTRIES = 2**21
# Up to this many rows all eigenvectors are computed: safe, and cheap enough.
_DENSE_ROWS = 600
# Share of the median degree below which a row's own eigenvector entries are not trusted.
_LOOSE = 1e-10


def edge_terms(
    X: AnyArray, gradients: FloatArray, Z: AnyArray, neighbour_gradients: FloatArray, ends: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return ‖x_i − z_j‖² and (½(g_i + g_j)·(x_i − z_j))², both (m, k), for j = ends[i].

    Time and reads O(m k d), a batch of rows at a time.
    """
    squared, changes = np.empty(ends.shape), np.empty(ends.shape)
    batch = max(1, _BATCH_ENTRIES // (ends.shape[1] * X.shape[1]))
    for start in range(0, len(X), batch):
        part = slice(start, start + batch)
        gaps = np.asarray(X[part], np.float64)[:, None] - Z[ends[part]]
        means = (gradients[part, None] + neighbour_gradients[ends[part]]) / 2
        squared[part] = np.einsum("mkd,mkd->mk", gaps, gaps)
        changes[part] = np.einsum("mkd,mkd->mk", means, gaps) ** 2
    return squared, changes


def median_scale(terms: FloatArray) -> float:
    """Return the median of the terms above zero, 1 where there is none."""
    positive = terms[terms > 0]
    return float(np.median(positive)) if positive.size else 1.0


def symmetric_graph(ends: IntArray, weights: FloatArray) -> csr_array:
    """Return W (n, n), joining i and j where either is a neighbour of the other.

    ``ends`` and ``weights`` are (n, k). Memory O(n k).
    """
    n, k = ends.shape
    starts = np.repeat(np.arange(n), k)
    directed = csr_array((weights.ravel(), (starts, ends.ravel())), shape=(n, n))
    return directed.maximum(directed.T).tocsr()


def diffusion_coordinates(graph: csr_array, n_components: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading eigenvalues λ (p,) and eigenvectors φ (n, p) of D⁻¹W, but the constant.

    They are those of least eigenvalue 1 − λ of the normalised Laplacian I − D^(−1/2) W D^(−1/2),
    with φ = D^(−1/2) v scaled to Σ_i π_i φ_i² = 1, π_i = D_ii / Σ D. Of each φ the entry of largest
    size is positive.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    roots = np.sqrt(degrees)
    constant = roots / np.linalg.norm(roots)
    normalised = graph.multiply(1 / roots[:, None]).multiply(1 / roots[None, :]).tocsr()
    values, vectors = _leading_pairs(normalised, constant, n_components)
    coordinates = vectors / constant[:, None]
    # Rows hardly joined to any: D^(−1/2) v is all rounding there, λφ = D⁻¹Wφ is not.
    loose = np.flatnonzero(degrees < _LOOSE * np.median(degrees))
    coordinates[loose] = (graph[loose] @ coordinates) / degrees[loose, None] / values
    largest = coordinates[np.abs(coordinates).argmax(axis=0), np.arange(n_components)]
    return values, coordinates * np.where(largest < 0, -1.0, 1.0)


def _leading_pairs(
    matrix: csr_array, constant: FloatArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues of matrix − 2 constant constantᵀ, descending.

    Taking the known first pair out, to −1 and below, leaves the right one in where the graph falls
    into pieces and 1 is a repeated eigenvalue.
    """
    n = len(constant)
    if n <= max(_DENSE_ROWS, 4 * n_components):
        values, vectors = np.linalg.eigh(matrix.toarray() - 2 * np.outer(constant, constant))
        return values[::-1][:n_components], vectors[:, ::-1][:, :n_components]

    def multiply(vector: FloatArray) -> FloatArray:
        flat = vector.ravel()
        product: FloatArray = matrix @ flat - 2 * constant * (constant @ flat)
        return product

    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    start = np.random.RandomState(0).normal(size=n)  # fixed: the same rows, the same map
    width = min(n - 1, max(4 * n_components, 40))
    values, vectors = eigsh(operator, n_components, which="LA", v0=start, ncv=width, tol=1e-9)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]
