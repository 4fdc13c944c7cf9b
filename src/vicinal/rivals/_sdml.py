"""Sparse distance metric learning: pairs, a prior, and few entries off the diagonal."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_auto, check_choice, check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.maps import LinearMaps
from vicinal.rivals._constraints import check_pair_labels, check_tuples, draw_gaps, tuples_span
from vicinal.rivals._covariance import inverse_root
from vicinal.rivals._itml import factor
from vicinal.rows import Rows

PRIORS = ("identity", "covariance")
# Beyond so many features the lasso takes hours.
MOST_FEATURES = 400
# How near to singular pairs may bring the matrix by themselves, as a share of the prior.
LEAST = 0.1


class SDML(MetricLearner):
    """Let pairs bend a prior metric, and keep only the interactions of features that pay.

    With K = Σ ±(x − z)(x − z)ᵀ over pairs, + for those alike, divided by their number,

        minimise over M ≻ 0   tr((M₀⁻¹ + η K) M) − log det M + λ Σ_{a≠b} |M_ab|,            (1)

    by scikit-learn's graphical lasso.

    Parameters
    ----------
    prior : "identity" or "covariance", default="identity"
        M₀: the identity, or the inverse covariance of the rows, shrunk.
    balance : "auto" or float, default="auto"
        η: how much pairs count beside the prior. (1) has a solution only while M₀⁻¹ + η K is
        positive definite; "auto" is the largest η that leaves a tenth of the prior in every
        direction, but at most 10.
    sparsity : float, default=0.01
        λ, for features of unit variance.
    n_constraints : int or None
        Pairs of each kind drawn by :meth:`fit`; None is 20 R² for R classes, but no more than 20
        for each row and 64 MB of differences.
    max_iter : int, default=100
    tol : float, default=1e-4
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
    balance_ : float
    n_iter_ : int

    Notes
    -----
    Time O(q d² + d³) a sweep of the lasso, memory O(q d + d²); more than 400 features are refused.
    Where the given η makes the matrix indefinite, an error names the largest one that does not.

    References
    ----------
    Qi, Tang, Zha, Chua and Zhang, "An efficient sparse metric learning in high-dimensional space
    via l1-penalized log-determinant regularization", ICML 2009 [qi2009].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import SDML
    >>> X, y = load_iris(return_X_y=True)
    >>> SDML(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        *,
        prior: str = "identity",
        balance: str | float = "auto",
        sparsity: float = 0.01,
        n_constraints: int | None = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.balance = balance
        self.sparsity = sparsity
        self.n_constraints = n_constraints
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1) for pairs drawn from the classes."""
        self._check(rows.X.shape[1])
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        X = rows.X.astype(np.float64, copy=False)
        gaps = draw_gaps(X, rows.codes, self.n_constraints, rng)
        return self._solve(*gaps, X, rows.X.dtype)

    def fit_pairs(self, pairs: AnyArray, y: AnyArray) -> SDML:
        """Solve (1) for pairs of rows.

        Parameters
        ----------
        pairs : array-like of shape (n, 2, d)
        y : array-like of shape (n,)
            +1 where the two rows are alike, −1 where they are not.
        """
        pairs = check_tuples(self, pairs, 2)
        labels = check_pair_labels(y, len(pairs))
        self._check(pairs.shape[2])
        gaps = (pairs[:, 0] - pairs[:, 1]).astype(np.float64)
        points = tuples_span(pairs).astype(np.float64)
        self._keep(self._solve(gaps[labels == 1], gaps[labels == -1], points, pairs.dtype))
        return self

    def _check(self, n_features: int) -> None:
        check_choice("prior", self.prior, PRIORS)
        check_positive("sparsity", self.sparsity, zero=True)
        check_auto("balance", self.balance, check_positive)
        check_whole("max_iter", self.max_iter)
        if n_features > MOST_FEATURES:
            raise ValueError(
                f"SDML solves a graphical lasso of {n_features} features, which takes hours; at "
                f"most {MOST_FEATURES} are taken. Project first, for instance with PCA(100), or "
                "use RCA or LFDA."
            )

    def _solve(
        self, near: FloatArray, far: FloatArray, points: FloatArray, dtype: Any
    ) -> LinearMaps:
        with one_blas_thread():
            scale = points.std(axis=0)
            scale[~(scale > 1e-12 * np.abs(points).max(axis=0))] = 1.0
            near, far, points = near / scale, far / scale, points / scale
            inverse = prior_covariance(self.prior, points)
            scatter = (near.T @ near - far.T @ far) / max(1, len(near) + len(far))
            self.balance_ = self._choose_balance(inverse, scatter)
            bent = inverse + self.balance_ * scatter
            metric, self.n_iter_ = solve_lasso(
                (bent + bent.T) / 2, float(self.sparsity), self.max_iter, float(self.tol)
            )
            return LinearMaps((factor(metric) / scale).astype(dtype, copy=False))

    def _choose_balance(self, inverse: FloatArray, scatter: FloatArray) -> float:
        largest = largest_balance(inverse, scatter)
        if isinstance(self.balance, str):
            return min(10.0, (1 - LEAST) * largest)
        if self.balance >= largest:
            raise ValueError(
                f"balance={self.balance} makes the matrix of (1) indefinite: pairs not alike "
                f"outweigh the prior, and there is no solution. Use balance below {largest:.4g}, "
                'or "auto".'
            )
        return float(self.balance)


def prior_covariance(prior: str, points: FloatArray) -> FloatArray:
    """Return M₀⁻¹ (d, d)."""
    d = points.shape[1]
    if prior == "identity":
        return np.eye(d)
    from vicinal.metric.starts import shrinkage_of, within_scatter

    scatter = within_scatter(points, np.zeros(len(points), np.int64), d)
    root = inverse_root(scatter, max(shrinkage_of(scatter, "ledoit_wolf"), 1e-6))
    covariance: FloatArray = np.linalg.inv(root @ root)
    return covariance


def largest_balance(inverse: FloatArray, scatter: FloatArray) -> float:
    """Return the η at which M₀⁻¹ + η K ceases to be positive definite; inf where none does."""
    smallest = float(eigh(scatter, inverse, eigvals_only=True)[0])
    return -1 / smallest if smallest < -1e-12 else np.inf


def solve_lasso(
    covariance: FloatArray, sparsity: float, max_iter: int, tol: float
) -> tuple[FloatArray, int]:
    """Return M (d, d) of (1) and the number of sweeps."""
    if len(covariance) == 1 or sparsity == 0:
        return np.linalg.inv(covariance), 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            _, metric, n_iter = graphical_lasso(
                covariance, alpha=sparsity, max_iter=max_iter, tol=tol, return_n_iter=True
            )
    except (FloatingPointError, np.linalg.LinAlgError) as error:
        raise ValueError(
            f"the graphical lasso failed ({error}): the matrix of pairs is too near to singular. "
            "Use a smaller balance, a larger sparsity, or standardised features."
        ) from error
    if n_iter >= max_iter:
        warnings.warn(
            f"SDML's graphical lasso did not converge in {max_iter} sweeps; raise max_iter or tol, "
            "or use a larger sparsity.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return metric, max(1, int(n_iter))
