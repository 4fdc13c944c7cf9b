"""Diffusion maps that slow down where the regression function changes.

    −log W_ij = ‖x_i − x_j‖²/σ₁ + (½(g_i + g_j)·(x_i − x_j))²/σ₂

g is the gradient of the estimated regression function or, for classes, the row sums of its
absolute Jacobian, g = Σ_c |J_c|. The graph joins each row to its nearest neighbours, and none to
itself: loops would make an eigenvector of every row that lies a little apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_choice, check_components, check_positive, check_whole
from vicinal.index import ExactIndex, without_itself
from vicinal.metric.learner import MetricLearner
from vicinal.metric.maps import FunctionMaps, LinearMaps, Maps
from vicinal.rows import Rows, check_pairs, check_transform_input

from ._base import GradientMetric
from ._evaluation import ONE_THREAD, FittedSmoother, gradients_at
from ._graph import diffusion_coordinates, edge_terms, median_scale, symmetric_graph
from ._outer_products import EGOP, EJOP
from ._targets import is_multiclass

OUTPUTS = ("embedding", "reweighted")
# Weights stay above zero, so that every row has a way out.
_LARGEST_EXPONENT = 300.0
# At how many rows the gradient metric itself is averaged; the map needs its settings only.
_EVALUATIONS = 1000


def flat_gradients(X: AnyArray, fitted: FittedSmoother, *, own: bool = False) -> FloatArray:
    """Return g (m, d): the gradient, or Σ_c |J_c| for classes. Memory O(block · C d) beside it."""
    flat = np.empty(X.shape)
    for block in ONE_THREAD.split(len(X), fitted):
        (gradients,) = gradients_at(X[block], fitted, own=own)
        real = gradients.shape[1] == 1
        flat[block] = gradients[:, 0] if real else np.abs(gradients).sum(axis=1)
    return flat


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
    Its |·| "sums over rows": of absolute values here, since with their signs the sum is zero. The
    classes' shares add to one everywhere, so that their gradients cancel.

    References
    ----------
    Trivedi, "Discriminative learning of similarity and group equivariant representations", 2018
    [trivedi2018]; Wu, Guinney, Maggioni and Mukherjee, "Learning gradients: predictive models that
    infer geometry and statistical dependence", JMLR 2010 [wu2010].

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

    _task = "auto"

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

    def learn(self, rows: Rows) -> Maps:
        """Estimate gradients and embed the rows."""
        X = rows.X
        k, n_components, time = self._check_settings(len(X))
        self.gradient_metric_ = self._gradient_metric(rows.target).fit_rows(rows)
        self.gradients_ = flat_gradients(X, self._smoother(), own=True)
        self._index = ExactIndex(X, n_jobs=self.n_jobs)
        _, ends = without_itself(*self._index.query(X, k + 1), np.arange(len(X)))
        terms = edge_terms(X, self.gradients_, X, self.gradients_, ends)
        self.sigma1_, self.sigma2_ = (
            median_scale(part) if scale is None else float(scale)
            for part, scale in zip(terms, (self.sigma1, self.sigma2), strict=True)
        )
        exponents = np.minimum(self._exponents(*terms), _LARGEST_EXPONENT)
        graph = symmetric_graph(ends, np.exp(-exponents))
        self.n_pieces_ = int(connected_components(graph, directed=False)[0])
        self.eigenvalues_, self._eigenvectors = diffusion_coordinates(graph, n_components)
        self.embedding_ = self._eigenvectors * self.eigenvalues_**time
        self.components_ = self._mean_local_root()
        return self.maps_

    @property
    def maps_(self) -> Maps:
        """Places in the embedding, or the map of the mean local metric."""
        check_is_fitted(self, "embedding_")
        if self.output == "reweighted":
            return LinearMaps(self.components_)
        return FunctionMaps(self._place, matrices=(self.components_,))

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
        gradients = [flat_gradients(side, self._smoother()) for side in sides]
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
        if n_rows == 1:
            raise ValueError("rows are joined to each other: one (n_samples=1) is too few.")
        n_components = check_whole("n_components", self.n_components)
        check_components(n_components, n_rows - 1, f"coordinates that n_samples={n_rows} give")
        k = min(check_whole("n_neighbors", self.n_neighbors), n_rows - 1)
        return k, n_components, check_whole("diffusion_time", self.diffusion_time)

    def _gradient_metric(self, target: Any) -> GradientMetric:
        if self.gradients is None:
            options = {"random_state": self.random_state, "n_jobs": self.n_jobs}
            kind = EJOP if is_multiclass(target) else EGOP
            return kind(n_evaluations=_EVALUATIONS, **options)
        if not isinstance(self.gradients, GradientMetric):
            raise ValueError(
                f"gradients must be EGOP, EJOP, GradientWeights or None; got {self.gradients!r}."
            )
        metric: GradientMetric = clone(self.gradients)
        return metric

    def _smoother(self) -> FittedSmoother:
        return self.gradient_metric_._fitted_smoother()

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
        gradients = flat_gradients(X, self._smoother())
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
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
