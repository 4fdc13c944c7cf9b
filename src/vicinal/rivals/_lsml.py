"""Least squared-residual metric learning from relative comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.descent import FramedRows, frame_rows, minimise
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import choose_by_votes
from vicinal.rivals._constraints import check_tuples, draw_gaps, frame_tuples
from vicinal.rivals._itml import factor
from vicinal.rivals._priors import PRIORS, check_prior, known_prior, prior_matrix
from vicinal.rivals._progress import Iterations
from vicinal.rows import Rows, check_weights


class LSML(MetricLearner):
    """Keep pairs that are nearer than others nearer, and otherwise stay near a prior.

    For quadruplets (a, b, c, e) of which the first two are to be nearer than the last two, with
    d_M(x, z) = √((x − z)ᵀ M (x − z)) and weights w that sum to 1,

        minimise over M ≻ 0   Σ w (d_M(a, b) − d_M(c, e))₊² + λ D(M, M₀),                 (1)

    D(M, M₀) = tr(M M₀⁻¹) − log det(M M₀⁻¹) − d.

    Parameters
    ----------
    prior : "auto", "identity", "covariance", "within" or ndarray of shape (n_features, n_features)
        M₀, as in :class:`~vicinal.ITML`. "auto" chooses among the three on inner splits of the
        rows, and is "identity" for :meth:`fit_quadruplets`.
    regularization : float, default=0.001
        λ, for distances whose mean square under the prior is 1.
    n_constraints : int or None
        Quadruplets drawn by :meth:`fit`: a pair of one class and a pair of two. None is 20 R² for
        R classes, but no more than 20 for each row and 64 MB of differences.
    max_iter : int, default=200
    tol : float, default=1e-6
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    prior_ : str
    n_iter_ : int
    loss_curve_ : list of float
    settings_ : dict of str to list of float

    Notes
    -----
    Time O(q d² + d³) an iteration of L-BFGS for q quadruplets, memory O(q d + d²). Departures from
    the source: the descent is on the factor of M, so that M stays a metric without projections;
    the two parts of (1) are weighed by λ.

    References
    ----------
    Liu, Guo, Zhang, Jojic and Wang, "Metric learning from relative comparisons by minimizing
    squared residual", ICDM 2012 [liu2012].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import LSML
    >>> X, y = load_iris(return_X_y=True)
    >>> LSML(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        *,
        prior: str | AnyArray = "auto",
        regularization: float = 0.001,
        n_constraints: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.regularization = regularization
        self.n_constraints = n_constraints
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1) for quadruplets drawn from the classes."""
        self._check()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with one_blas_thread():
            framed = frame_rows(rows)
            prior, self.settings_ = self.prior, {}
            if isinstance(prior, str) and prior == "auto":
                choice = choose_by_votes(
                    framed,
                    PRIORS,
                    lambda part, prior, _: self._learn(part, prior, seed),
                    seed=seed,
                )
                prior, self.settings_ = choice.setting, choice.tried
            components = self._learn(framed, prior, seed)
        self.prior_ = prior if isinstance(prior, str) else "array"
        return framed.frame.maps(components.astype(rows.X.dtype, copy=False))

    def fit_quadruplets(self, quadruplets: AnyArray, sample_weight: Any = None) -> LSML:
        """Solve (1) for quadruplets of rows.

        Parameters
        ----------
        quadruplets : array-like of shape (n, 4, d)
            The first two rows of each are to be nearer than the last two.
        sample_weight : array-like of shape (n,) or None
            w.
        """
        quadruplets = check_tuples(self, quadruplets, 4)
        weights = check_weights(sample_weight, len(quadruplets))
        self._check()
        with one_blas_thread():
            rows, ends = frame_tuples(quadruplets)
            prior = known_prior(self.prior)
            near, far = (ends[:, place] - ends[:, place + 1] for place in (0, 2))
            components = self._solve(near, far, prior_matrix(prior, rows), weights)
        self.prior_ = prior if isinstance(prior, str) else "array"
        self.settings_ = {}
        self._keep(rows.frame.maps(components.astype(quadruplets.dtype, copy=False)))
        return self

    def _check(self) -> None:
        check_prior(self.prior)
        check_positive("regularization", self.regularization)
        check_whole("max_iter", self.max_iter)
        check_positive("tol", self.tol, zero=True)
        if self.n_constraints is not None:
            check_whole("n_constraints", self.n_constraints)

    def _learn(self, rows: FramedRows, prior: Any, seed: int) -> FloatArray:
        rng = np.random.default_rng([seed, 3])
        gaps = draw_gaps(rows.X, rows.codes, self.n_constraints, rng)
        n_each = min(map(len, gaps))
        if n_each == 0:
            raise ValueError("no class has two rows, so no pair of rows is known to be alike.")
        near, far = (rng.permutation(kind)[:n_each] for kind in gaps)
        return self._solve(near, far, prior_matrix(prior, rows), None)

    def _solve(
        self, near: FloatArray, far: FloatArray, root: FloatArray, weights: FloatArray | None
    ) -> FloatArray:
        # In coordinates in which the prior is the identity, at a scale at which pairs are about 1.
        near, far = near @ root.T, far @ root.T
        size = float(np.sqrt(np.mean(np.sum(near**2, axis=1) + np.sum(far**2, axis=1)) / 2)) or 1.0
        objective = SquaredResiduals(near / size, far / size, weights, float(self.regularization))
        iterations = Iterations("LSML", self.verbose, self.max_iter)

        start = np.eye(near.shape[1])
        inner, self.loss_curve_ = minimise(
            objective, start, max_iter=self.max_iter, tol=self.tol, listener=iterations
        )
        self.n_iter_ = max(1, len(self.loss_curve_) - 1)
        learned = inner @ root
        return factor(learned.T @ learned)


class SquaredResiduals:
    """(1) and its gradient as a function of the factor L of M = LᵀL, the prior the identity.

    Parameters
    ----------
    near, far : float64 ndarrays of shape (q, d)
        Differences of the rows that are to be nearer, and of those to be farther.
    weights : ndarray of shape (q,) or None
    regularization : float
        λ.
    """

    def __init__(
        self, near: FloatArray, far: FloatArray, weights: FloatArray | None, regularization: float
    ) -> None:
        self.near, self.far, self.regularization = near, far, regularization
        counts = np.ones(len(near)) if weights is None else weights
        self.weights = counts / max(counts.sum(), np.finfo(float).tiny)

    def __call__(self, components: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient (d, d) at L (d, d)."""
        near, far = self.near @ components.T, self.far @ components.T
        near_distances, far_distances = np.linalg.norm(near, axis=1), np.linalg.norm(far, axis=1)
        excess = np.maximum(near_distances - far_distances, 0.0)
        pull = 2 * self.weights * excess
        # The distance of copies is 0 and stays so: its derivative counts as 0.
        by_near = pull / np.where(near_distances > 0, near_distances, np.inf)
        by_far = pull / np.where(far_distances > 0, far_distances, np.inf)
        gradient = (near * by_near[:, None]).T @ self.near
        gradient -= (far * by_far[:, None]).T @ self.far
        sign, log_det = np.linalg.slogdet(components)
        if sign == 0:
            return np.inf, gradient
        d = len(components)
        divergence = float(np.sum(components**2)) - 2 * log_det - d
        gradient += self.regularization * 2 * (components - np.linalg.inv(components).T)
        loss = float(self.weights @ excess**2) + self.regularization * divergence
        return loss, gradient
