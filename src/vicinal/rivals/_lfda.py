"""Local Fisher discriminant analysis: discriminants that leave clusters within a class alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from vicinal._threads import one_blas_thread
from vicinal._types import FloatArray, IntArray
from vicinal._validation import check_choice, check_components, check_whole
from vicinal.index import ExactIndex
from vicinal.metric import MetricLearner
from vicinal.metric.descent import FramedRows, frame_rows
from vicinal.metric.maps import LinearMaps
from vicinal.metric.starts import floor_variances, shrinkage_of, within_scatter
from vicinal.pairs import distance_blocks
from vicinal.rivals._lda import check_shrinkage
from vicinal.rows import Rows

EMBEDDINGS = ("weighted", "orthonormalized", "plain")
# Products of a block of rows with a class, in numbers.
_BLOCK = 2**20


class LFDA(MetricLearner):
    """Part the classes while keeping near only rows of a class that were near already.

    With the affinity of two rows of one class

        A_ij = exp(−‖x_i − x_j‖² / (σ_i σ_j)),   σ_i the distance to the m-th nearest of the class,

    and 0 otherwise, S_w = ½ Σ A_ij/n_c (x_i − x_j)(x_i − x_j)ᵀ and S_b that of the weights
    A_ij (1/n − 1/n_c) within classes and 1/n between them, the rows of ``components_`` solve

        S_b a = λ S_w a,   aᵀ S_w a = 1,                                       (1)

    in descending order of λ.

    Parameters
    ----------
    n_components : int or None
        How many directions to keep; None is all the rows span.
    n_neighbors : int, default=7
        m, the neighbour within its class that sets a row's scale; the last where a class has fewer.
    embedding_type : "weighted", "orthonormalized" or "plain", default="weighted"
        "plain" is the solution of (1), "weighted" multiplies a by √λ, "orthonormalized" takes an
        orthonormal basis of the directions.
    shrinkage : "auto", "ledoit_wolf", "oas" or float in [0, 1], default="auto"
        γ of (1 − γ) S_w + γ (tr S_w / d) I, or the formula that estimates it from the rows about
        their class means.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    eigenvalues_ : ndarray of shape (n_components,)
        λ of (1).
    shrinkage_ : float
    classes_ : ndarray of shape (R,)
    n_iter_ : int
        1: the solution is direct.

    Notes
    -----
    Time O(Σ n_c² d + d³); memory O(n d + d²): affinities are made a block of rows at a time.
    The problem is solved by whitening S_w and a symmetric eigenproblem, so that no eigenvector is
    complex. Departure from the source: S_w is shrunk.

    References
    ----------
    Sugiyama, "Dimensionality reduction of multimodal labeled data by local Fisher discriminant
    analysis", JMLR 8, 2007 [sugiyama2007].

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LFDA
    >>> X, y = load_wine(return_X_y=True)
    >>> LFDA(n_components=2).fit(X, y).transform(X).shape
    (178, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 7,
        embedding_type: str = "weighted",
        shrinkage: str | float = "auto",
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.embedding_type = embedding_type
        self.shrinkage = shrinkage

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1)."""
        check_components(self.n_components, rows.X.shape[1])
        check_choice("embedding_type", self.embedding_type, EMBEDDINGS)
        formula, m = check_shrinkage(self.shrinkage), check_whole("n_neighbors", self.n_neighbors)
        with one_blas_thread():  # or rounding would depend on the number of threads
            framed = frame_rows(rows)
            within, between = local_scatters(framed.X, framed.codes, m)
            directions, values, self.shrinkage_ = self._solve(framed, within, between, formula)
            components = embed(framed.frame.fold(directions), values, self.embedding_type)
        self.eigenvalues_ = values
        self.n_iter_ = 1
        return LinearMaps(components.astype(rows.X.dtype, copy=False))

    def _solve(
        self, rows: FramedRows, within: FloatArray, between: FloatArray, formula: str | float
    ) -> tuple[FloatArray, FloatArray, float]:
        scatter = within_scatter(rows.X, rows.codes, len(rows.frame.scale))
        gamma = shrinkage_of(scatter, formula)
        mean_variance = np.trace(within) / len(rows.frame.scale)
        shrunk = (1 - gamma) * within + gamma * mean_variance * np.eye(len(within))
        directions, values = discriminants(between, shrunk)
        n_components = min(self.n_components or len(values), len(values))
        return directions[:n_components], values[:n_components], gamma


def local_scatters(
    X: FloatArray, codes: IntArray, n_neighbors: int
) -> tuple[FloatArray, FloatArray]:
    """Return S_w and S_b (d, d) of rows X (n, d) about their mean."""
    n, d = X.shape
    within, between = np.zeros((d, d)), np.zeros((d, d))
    for c in range(int(codes.max()) + 1):
        rows = X[codes == c]
        local = _local_scatter(rows, n_neighbors)
        total, share = rows.sum(axis=0), len(rows) / n
        within += local / len(rows)
        between += local / n - local / len(rows)
        between += (1 - share) * rows.T @ rows + np.outer(total, total) / n
    mean = X.sum(axis=0)
    return within, between - np.outer(mean, mean) / n


def _local_scatter(rows: FloatArray, n_neighbors: int) -> FloatArray:
    """Return ½ Σ A_ij (x_i − x_j)(x_i − x_j)ᵀ over the rows of one class."""
    n, d = rows.shape
    scatter = np.zeros((d, d))
    if n < 2:
        return scatter
    m = min(n_neighbors, n - 1)
    near = ExactIndex(np.ascontiguousarray(rows)).query(np.ascontiguousarray(rows), m + 1)
    scale = np.sqrt(near[0][:, m])
    degrees = np.empty(n)
    for part, squared in distance_blocks(rows, rows, _BLOCK):
        spread = scale[part, None] * scale
        # Rows with so many copies that their scale is zero are near their copies alone.
        with np.errstate(divide="ignore", invalid="ignore"):
            affinity = np.exp(-squared / spread)
        affinity[~(spread > 0)] = 0.0
        degrees[part] = affinity.sum(axis=1)
        scatter -= rows[part].T @ (affinity @ rows)
    scatter += (rows * degrees[:, None]).T @ rows
    half: FloatArray = (scatter + scatter.T) / 2
    return half


def discriminants(between: FloatArray, within: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return all solutions of (1) as rows, with their λ, largest first."""
    values, directions = eigh(within, driver="evd")
    whitening = (directions / np.sqrt(floor_variances(np.maximum(values, 0.0)))).T
    inside = whitening @ between @ whitening.T
    ratios, turn = eigh((inside + inside.T) / 2, driver="evd")
    return turn.T[::-1] @ whitening, ratios[::-1]


def embed(directions: FloatArray, values: FloatArray, embedding_type: Any) -> FloatArray:
    """Return directions (p, d) as they are, weighted by √λ, or as an orthonormal basis."""
    if embedding_type == "weighted":
        return np.sqrt(np.maximum(values, 0.0))[:, None] * directions
    if embedding_type == "orthonormalized":
        return np.ascontiguousarray(np.linalg.qr(directions.T)[0].T)
    return directions
