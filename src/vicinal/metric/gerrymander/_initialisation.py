"""Where learning starts: maps computed directly from the rows, in the frame's coordinates.

Every function returns L of shape (p, r). A start is then scaled so that the median row's gap, by
which its nearest wrong vote is farther than its nearest right one, is 1, the size of the margin Δ.
So about half of the rows have something to teach, whatever the data: a start that parts its own
rows too well (discriminants of few rows do) would otherwise satisfy every margin and learn nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from vicinal._kernels._targeted import infer_sets
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric._relief import ReliefF
from vicinal.metric.starts import WithinScatter as Scatter
from vicinal.metric.starts import discriminant_map as discriminant_start
from vicinal.metric.starts import floor_variances
from vicinal.metric.starts import within_scatter as scatter_of

__all__ = ["Scatter", "Start", "discriminant_start", "scatter_of"]


@dataclass(frozen=True)
class Start:
    """A named start: ``name`` is an init name, ``shrinkage`` its γ or λ where it has one."""

    name: str
    n_components: int | None = None
    shrinkage: float = 0.0

    def label(self) -> str:
        """Return a short description for progress lines and ``init_``."""
        rank = "" if self.n_components is None else f", {self.n_components} components"
        shrunk = f", shrinkage {self.shrinkage:g}" if self.shrinkage else ""
        return f"{self.name}{rank}{shrunk}"


def logistic_start(X: AnyArray, codes: IntArray, n_components: int, ridge: float) -> FloatArray:
    """Return the weights of a logistic regression, turned so that its rows are orthogonal.

    B minimises (1/n) Σ_i −log softmax(B x_i + b)_{y_i} + (λ/2)‖B‖²_F; the rows are the leading
    right singular vectors of B less its mean row, times their singular values, at most R − 1.
    Discriminants go by all rows of a class, these weights by the rows near where classes meet.
    """
    model = LogisticRegression(C=1 / (ridge * len(codes)), max_iter=100, tol=1e-4)
    with warnings.catch_warnings():
        # A start need not be at its optimum.
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights = model.fit(X, codes).coef_
    p = min(n_components, max(1, len(weights) - 1))
    if len(weights) > 1:
        weights = weights - weights.mean(axis=0)
    if not np.any(weights):
        return np.eye(p, X.shape[1])
    _, lengths, directions = np.linalg.svd(weights, full_matrices=False)
    start: FloatArray = lengths[:p, None] * directions[:p]
    return start


def principal_start(X: AnyArray, n_components: int, rng: np.random.Generator) -> FloatArray:
    """Return the first principal directions of the rows."""
    if sparse.issparse(X) or n_components < 0.3 * min(X.shape):
        from sklearn.decomposition import TruncatedSVD

        model = TruncatedSVD(n_components, random_state=int(rng.integers(2**31)))
        directions: FloatArray = model.fit(X).components_
        return directions
    centred = X - X.mean(axis=0)
    _, directions = eigh((centred.T @ centred).astype(np.float64))
    return np.ascontiguousarray(directions[:, ::-1][:, :n_components].T)


def whitening_start(X: FloatArray, n_components: int, shrinkage: float = 0.1) -> FloatArray:
    """Return principal directions scaled to unit variance, variances shrunk to their mean."""
    centred = X - X.mean(axis=0)
    values, directions = eigh((centred.T @ centred).astype(np.float64) / len(X))
    values, directions = np.maximum(values[::-1], 0), directions[:, ::-1]
    shrunk = (1 - shrinkage) * values + shrinkage * values.mean()
    shrunk = floor_variances(shrunk)
    start: FloatArray = (directions / np.sqrt(shrunk)).T[:n_components]
    return start


def relief_start(X: AnyArray, codes: IntArray) -> FloatArray:
    """Return the diagonal map of ReliefF's weights (their square roots)."""
    if sparse.issparse(X):
        raise ValueError("init='relieff' needs dense rows; use init='pca' for sparse ones.")
    components: FloatArray = ReliefF(n_jobs=1).fit(X, codes).components_
    return components if np.any(components) else np.eye(X.shape[1])


def scale_start(
    components: FloatArray,
    X: AnyArray,
    codes: IntArray,
    n_neighbors: int,
    rng: np.random.Generator,
    n_probes: int = 256,
) -> FloatArray:
    """Scale L so that the median size of the rows' gaps is 1 (see :func:`vote_gaps`)."""
    mapped = np.ascontiguousarray(X @ components.T)
    mapped -= mapped.mean(axis=0)
    probes = rng.permutation(len(codes))[:n_probes]
    sizes = np.abs(vote_gaps(mapped, codes.astype(np.int32), n_neighbors, probes))
    known = sizes[(sizes > 0) & np.isfinite(sizes)]
    if not len(known):
        return components
    # In float64 the quotient would have all epochs that begin here walked in float64.
    return (components / np.sqrt(np.median(known))).astype(components.dtype)


def vote_gaps(mapped: FloatArray, codes: IntArray, k: int, probes: IntArray) -> FloatArray:
    """Return how much farther the nearest wrong vote of each probe is than its nearest right one.

    Σ_{j∈h'} D(x_i, x_j) − Σ_{j∈h*} D(x_i, x_j) with h' the nearest set of k other rows that can
    vote for another class; negative where the row is misclassified. Probes whose class cannot win
    are left out. Time O(m n p) for m probes.
    """
    squared_norms = np.einsum("ij,ij->i", mapped, mapped)
    # Cost of a vote that no distance outweighs: the most violating set is then the nearest wrong.
    cost = 1 + 8.0 * k * float(squared_norms.max())
    costs = cost * (1 - np.eye(int(codes.max()) + 1))
    gaps = []
    for rows in np.array_split(probes, -(-len(probes) // 32)):
        squared_distances = squared_norms[rows, None] + squared_norms - 2 * mapped[rows] @ mapped.T
        np.maximum(squared_distances, 0, out=squared_distances)
        squared_distances[np.arange(len(rows)), rows] = np.inf
        labels = np.tile(codes, (len(rows), 1))
        star, hat = (np.empty((len(rows), k), np.int32) for _ in range(2))
        loss, voted = np.empty(len(rows)), np.empty(len(rows), np.int32)
        infer_sets(squared_distances, labels, codes[rows], k, costs, star, hat, loss, voted)
        feasible = (star[:, 0] >= 0) & (voted != codes[rows])
        gaps.append((cost - loss)[feasible])
    return np.concatenate(gaps)
