"""Diffusion maps that slow down where the regression function changes.

    −log W_ij = ‖x_i − x_j‖²/σ₁ + (½(g_i + g_j)·(x_i − x_j))²/σ₂

g is the gradient of the estimated regression function or, for classes, the row sums of its
absolute Jacobian, g = Σ_c |J_c|. The graph joins each row to its nearest neighbours, and none to
itself: loops would make an eigenvector of every row that lies a little apart.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_choice,
    check_pairs,
    check_positive,
    check_target_input,
    check_transform_input,
    check_whole,
)
from vicinal.index import ExactIndex
from vicinal.metric._base import MetricLearner, project
from vicinal.metric.gradients._base import GradientMetric
from vicinal.metric.gradients._estimate import Reference, block_rows, gradients_at
from vicinal.metric.gradients._outer_products import gradient_metric

OUTPUTS = ("embedding", "reweighted")
# Numbers a batch of edges may hold.
_BATCH_ENTRIES = 2**21
# Up to this many rows all eigenvectors are computed: safe, and cheap enough.
_DENSE_ROWS = 600
# Weights stay above zero, so that every row has a way out.
_LARGEST_EXPONENT = 300.0
# Share of the median degree below which a row's own eigenvector entries are not trusted.
_LOOSE = 1e-10
# At how many rows the gradient metric itself is averaged; the map needs its settings only.
_EVALUATIONS = 1000


def flat_gradients(X: AnyArray, reference: Reference, *, own: bool = False) -> FloatArray:
    """Return g (m, d): the gradient, or Σ_c |J_c| for classes. Memory O(block · C d) beside it."""
    found = np.empty(X.shape)
    size = block_rows(reference, None)
    for start in range(0, len(X), size):
        block = slice(start, start + size)
        gradients = gradients_at(X[block], reference, own=own)
        real = gradients.shape[1] == 1
        found[block] = gradients[:, 0] if real else np.abs(gradients).sum(axis=1)
    return found


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


class GradientDiffusionMap(MetricLearner):
    """Embed rows by a diffusion that is slow across changes of the regression function.

        W_ij = exp(−‖x_i − x_j‖²/σ₁ − (½(g_i + g_j)·(x_i − x_j))²/σ₂)

    on the graph of nearest neighbours; the coordinates are λ^t φ for the leading eigenpairs of
    D⁻¹W, those of the normalised Laplacian. g(x) is the estimated gradient ∇f(x) for a real target
    or two classes; for more classes, ``Σ_c |J_c(x)|``. Unlike EGOP, which averages gradients over
    all rows, it keeps what they say about each place.

    Parameters
    ----------
    n_components : int, default=2
        Coordinates of the embedding.
    n_neighbors : int, default=20
        Neighbours a row is joined to; fewer where there are fewer rows.
    sigma1 : float or None
        σ₁; None is the median squared distance along edges.
    sigma2 : float or None
        σ₂; None is the median squared change along edges. ``numpy.inf`` leaves the gradient out.
    diffusion_time : int, default=1
        t.
    output : {"embedding", "reweighted"}, default="embedding"
        What ``transform`` gives: the embedding, or all features mapped linearly by the mean local
        metric M = I/σ₁ + E_n[g gᵀ]/σ₂, the kernel's own distance at short range.
    gradients : EGOP, EJOP, GradientWeights or None
        How gradients are estimated; cloned. None is ``gradient_metric(y)``, settings chosen by
        cross-validation.
    random_state : int, RandomState or None
        Of ``gradients=None``.
    n_jobs : int or None
        Threads of the neighbour search, and of ``gradients=None``.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Coordinates of the training rows.
    eigenvalues_ : ndarray of shape (n_components,)
        λ, descending.
    gradients_ : ndarray of shape (n, n_features)
        g at the training rows.
    sigma1_, sigma2_ : float
    components_ : ndarray of shape (n_features, n_features)
        The square root of M, whatever ``output`` is; M is :meth:`get_mahalanobis_matrix`.
    n_pieces_ : int
        Connected pieces of the graph. With several, the leading coordinates tell pieces apart;
        more neighbours join them.
    gradient_metric_ : the fitted gradient metric

    Notes
    -----
    New rows are placed by Nyström's formula, λ^(t−1) Σ_j p_j φ_j with p_j ∝ W(x, x_j) over the
    nearest training rows and the gradient at x from the same estimate; a row equal to a training
    row gets that row's place. Time O(n² d) for search and gradients, O(n k) for each step of the
    eigensolver; memory O(n (k + d)).

    The source sketches both kernels as future work and leaves neighbours, scales and new rows open.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import EGOP, GradientDiffusionMap
    >>> X = np.random.default_rng(0).uniform(size=(300, 3))
    >>> y = np.sin(3 * X[:, 0])
    >>> how = EGOP("analytic", bandwidth=0.3)
    >>> place = GradientDiffusionMap(n_components=1, gradients=how).fit_transform(X, y)
    >>> place.shape
    (300, 1)
    """

    embedding_: FloatArray

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 20,
        sigma1: float | None = None,
        sigma2: float | None = None,
        diffusion_time: int = 1,
        output: str = "embedding",
        gradients: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.sigma1 = sigma1
        self.sigma2 = sigma2
        self.diffusion_time = diffusion_time
        self.output = output
        self.gradients = gradients
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: AnyArray, y: AnyArray) -> GradientDiffusionMap:
        """Estimate gradients and embed the rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Dense; features on comparable scales (z-scored, say).
        y : array-like of shape (n,)

        Returns
        -------
        GradientDiffusionMap
            Itself.
        """
        X, y = check_target_input(self, X, y)
        k, n_components, time = self._check_settings(len(X))
        self.gradient_metric_ = self._gradient_metric(y).partial_fit(X, y)
        self.gradients_ = flat_gradients(X, self._reference(), own=True)
        self._index = ExactIndex(X, n_jobs=self.n_jobs)
        ends = _without_self(self._index.query(X, k + 1)[1])
        terms = edge_terms(X, self.gradients_, X, self.gradients_, ends)
        self.sigma1_, self.sigma2_ = (
            median_scale(part) if told is None else float(told)
            for part, told in zip(terms, (self.sigma1, self.sigma2), strict=True)
        )
        exponents = np.minimum(self._exponents(*terms), _LARGEST_EXPONENT)
        graph = symmetric_graph(ends, np.exp(-exponents))
        self.n_pieces_ = int(connected_components(graph, directed=False)[0])
        self.eigenvalues_, self._eigenvectors = diffusion_coordinates(graph, n_components)
        self.embedding_ = self._eigenvectors * self.eigenvalues_**time
        self.components_ = self._mean_local_root()
        return self

    def fit_transform(self, X: AnyArray, y: Any = None) -> FloatArray:
        """Fit, and return what :meth:`transform` gives for the same rows."""
        return self.fit(X, y).transform(X)

    def transform(self, X: AnyArray) -> FloatArray:
        """Place rows in the embedding, or map them by the mean local metric.

        Parameters
        ----------
        X : array-like of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m, n_components), or (m, n_features) for ``output="reweighted"``
        """
        check_is_fitted(self, "embedding_")
        X = check_transform_input(self, X, accept_sparse=False)
        return project(X, self.components_) if self.output == "reweighted" else self._place(X)

    def transform_queries(self, X: AnyArray) -> FloatArray:
        """Return what :meth:`transform` does: the metric is symmetric."""
        return self.transform(X)

    def get_metric(self) -> Callable[[AnyArray, AnyArray], float]:
        """Return the distance in the space of :meth:`transform` as a function of two vectors."""
        check_is_fitted(self, "embedding_")
        fitted = copy(self)

        def distance(query: AnyArray, point: AnyArray) -> float:
            return float(fitted.pair_distance(np.asarray([[query, point]]))[0])

        return distance

    def local_distance(self, pairs: AnyArray) -> FloatArray:
        """Return √(−log W(x, z)) of each pair: the distance the kernel itself is made of.

        Parameters
        ----------
        pairs : array-like of shape (m, 2, n_features)

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self, "embedding_")
        pairs = check_pairs(self, pairs)
        sides = [check_transform_input(self, pairs[:, s], accept_sparse=False) for s in (0, 1)]
        gradients = [flat_gradients(side, self._reference()) for side in sides]
        ends = np.arange(len(pairs))[:, None]
        terms = edge_terms(sides[0], gradients[0], sides[1], gradients[1], ends)
        distances: FloatArray = np.sqrt(self._exponents(*terms)[:, 0])
        return distances

    def _check_settings(self, n_rows: int) -> tuple[int, int, int]:
        check_choice("output", self.output, OUTPUTS)
        for name in ("sigma1", "sigma2"):
            value = getattr(self, name)
            if value is not None and not (name == "sigma2" and value == np.inf):
                check_positive(name, value)
        n_components = check_whole("n_components", self.n_components)
        if n_components >= n_rows:
            raise ValueError(
                f"n_components={n_components} must be less than n_samples={n_rows}: the graph of "
                "the rows has no more coordinates."
            )
        k = min(check_whole("n_neighbors", self.n_neighbors), n_rows - 1)
        return k, n_components, check_whole("diffusion_time", self.diffusion_time)

    def _gradient_metric(self, y: AnyArray) -> GradientMetric:
        if self.gradients is None:
            options = {"random_state": self.random_state, "n_jobs": self.n_jobs}
            return gradient_metric(y, n_evaluations=_EVALUATIONS, **options)
        if not isinstance(self.gradients, GradientMetric):
            raise ValueError(
                f"gradients must be EGOP, EJOP, GradientWeights or None; got {self.gradients!r}."
            )
        metric: GradientMetric = clone(self.gradients)
        return metric

    def _reference(self) -> Reference:
        return self.gradient_metric_._resume()[1]

    def _exponents(self, squared: FloatArray, changes: FloatArray) -> FloatArray:
        return squared / self.sigma1_ + changes / self.sigma2_

    def _mean_local_root(self) -> FloatArray:
        """Return the symmetric square root of M = I/σ₁ + E_n[g gᵀ]/σ₂."""
        outer = self.gradients_.T @ self.gradients_ / len(self.gradients_)
        values, vectors = np.linalg.eigh(outer)
        roots = np.sqrt(1 / self.sigma1_ + np.maximum(values, 0) / self.sigma2_)
        root: FloatArray = (vectors * roots) @ vectors.T
        return root

    def _place(self, X: AnyArray) -> FloatArray:
        k = min(self.n_neighbors, len(self.embedding_) - 1)
        squared, ends = self._index.query(X, k)
        places: FloatArray = self.embedding_[ends[:, 0]]
        new = np.flatnonzero(squared[:, 0] > 0)
        if len(new):
            places[new] = self._extend(X[new], ends[new])
        return places

    def _extend(self, X: AnyArray, ends: IntArray) -> FloatArray:
        """Return λ^(t−1) Σ_j p_j φ_j, Nyström's formula."""
        gradients = flat_gradients(X, self._reference())
        terms = edge_terms(X, gradients, self._index.vectors, self.gradients_, ends)
        exponents = self._exponents(*terms)
        # Only ratios count: a row far from all others still leans to its nearest.
        shares = np.exp(exponents.min(axis=1, keepdims=True) - exponents)
        shares /= shares.sum(axis=1, keepdims=True)
        means = np.einsum("mk,mkp->mp", shares, self._eigenvectors[ends])
        placed: FloatArray = means * self.eigenvalues_ ** (self.diffusion_time - 1)
        return placed

    @property
    def _n_features_out(self) -> int:
        side = self.components_ if self.output == "reweighted" else self.embedding_
        return int(side.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _without_self(ends: IntArray) -> IntArray:
    """Return neighbours (n, k) of training rows from (n, k + 1) that hold the rows themselves."""
    n, k = len(ends), ends.shape[1] - 1
    itself = ends == np.arange(n)[:, None]
    # Equal rows of lower number may have pushed a row off its own list; then the last goes.
    itself[~itself.any(axis=1), k] = True
    return ends[~itself].reshape(n, k)
