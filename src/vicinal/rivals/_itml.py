"""Information-theoretic metric learning: near to a prior, with pairs kept in bounds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from vicinal._kernels._bregman import project_pairs
from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_auto, check_choice, check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.descent import FramedRows, frame_rows
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import choose_by_votes
from vicinal.pairs import rounded_squared_distances
from vicinal.rivals._constraints import (
    check_pair_labels,
    check_tuples,
    draw_gaps,
    drop_copies,
    frame_tuples,
)
from vicinal.rivals._priors import check_prior, known_prior, prior_matrix
from vicinal.rows import Rows

# Bounds of the source: percentiles of the distances among rows under the prior.
PERCENTILES = (5.0, 95.0)
# Priors that are tried on inner splits.
AUTO = ("identity", "within")
# Values of γ tried on inner splits: powers of ten about 1, so that prior or bounds may win.
GAMMAS = (0.01, 0.1, 1.0, 10.0)


@dataclass(frozen=True)
class PairBounds:
    """Differences of rows that are to be near (q, d), of those to be far (r, d), and how."""

    near: FloatArray
    far: FloatArray
    upper: float
    lower: float


class ITML(MetricLearner):
    """Stay as near to a prior metric as bounds on the distances of pairs allow.

    With d_M(x, z) = (x − z)ᵀ M (x − z), bounds u and l, and slacks ξ,

        minimise over M ⪰ 0, ξ   D(M, M₀) + γ D(diag ξ, diag ξ₀),
        d_M ≤ ξ_ij of pairs alike (ξ₀ = u),   d_M ≥ ξ_ij of pairs not alike (ξ₀ = l),        (1)

    D(M, M₀) = tr(M M₀⁻¹) − log det(M M₀⁻¹) − d, by cyclic Bregman projections.

    Parameters
    ----------
    prior : "auto", "identity", "covariance", "within" or ndarray of shape (n_features, n_features)
        M₀: the plain distance, the inverse covariance of the rows or of the rows about the means
        of their classes (both shrunk), or a positive definite matrix. "auto" chooses between
        the first and the last on inner splits, and is "identity" for :meth:`fit_pairs`.
    gamma : "auto" or float, default="auto"
        γ: how dearly a bound is moved; towards 0 the metric stays at the prior. "auto" chooses
        among four values, 0.01 to 10, on inner splits of the rows, and is 1 for :meth:`fit_pairs`.
    n_constraints : int or None
        Pairs of each kind drawn by :meth:`fit`; None is 20 R² for R classes, but no more than 20
        for each row and 64 MB of differences.
    bounds : tuple of two floats or None
        u and l, in squared distances; None is the 5th and 95th percentile of the squared distances
        of pairs under the prior.
    max_iter : int, default=20
        Sweeps over the pairs.
    tol : float, default=1e-3
        Stop when a sweep changes the multipliers by no more than this share of them.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    prior_ : str
    bounds_ : tuple of float
    n_iter_ : int
    gamma_ : float
    settings_ : dict of str to list of float
        The held-out score of each γ, then of each prior, tried.

    Notes
    -----
    Time O(d²) a projection, memory O(d² + n d). Departures from the source: the step of a
    projection is γ/(γ+1) (1/p − 1/ξ), which makes distance and slack meet for every γ (the printed
    one does so for γ = 1 only); pairs of equal rows, which no metric can move, are left out, with a
    warning where they were given; where the rows are fewer than the features the metric is learned
    in their span.

    References
    ----------
    Davis, Kulis, Jain, Sra and Dhillon, "Information-theoretic metric learning", ICML 2007
    [davis2007].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import ITML
    >>> X, y = load_iris(return_X_y=True)
    >>> ITML(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    settings_: dict[str, list[float]]

    def __init__(
        self,
        *,
        prior: str | AnyArray = "auto",
        gamma: str | float = "auto",
        n_constraints: int | None = None,
        bounds: tuple[float, float] | None = None,
        max_iter: int = 20,
        tol: float = 1e-3,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.gamma = gamma
        self.n_constraints = n_constraints
        self.bounds = bounds
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1) for pairs drawn from the classes."""
        self._check()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with one_blas_thread():
            framed = frame_rows(rows)
            prior, self.gamma_ = self._choose(framed, seed)
            components = self._learn(framed, (prior, self.gamma_), seed)
        self.prior_ = prior if isinstance(prior, str) else "array"
        return framed.frame.maps(components.astype(rows.X.dtype, copy=False))

    def fit_pairs(self, pairs: AnyArray, y: AnyArray) -> ITML:
        """Solve (1) for pairs of rows.

        Parameters
        ----------
        pairs : array-like of shape (n, 2, d)
        y : array-like of shape (n,)
            +1 where the two rows are alike, −1 where they are not.
        """
        pairs = check_tuples(self, pairs, 2)
        labels = check_pair_labels(y, len(pairs))
        self._check()
        with one_blas_thread():
            rows, ends = frame_tuples(pairs)
            prior = known_prior(self.prior)
            gaps = ends[:, 0] - ends[:, 1]
            self.gamma_ = 1.0 if isinstance(self.gamma, str) else float(self.gamma)
            _warn_of_copies(drop_copies(gaps)[1])
            split = (gaps[labels == 1], gaps[labels == -1])
            components = self._solve(split, prior_matrix(prior, rows), rows.X, self.gamma_)
        self.prior_ = prior if isinstance(prior, str) else "array"
        self.settings_ = {}
        self._keep(rows.frame.maps(components.astype(pairs.dtype, copy=False)))
        return self

    def _choose(self, rows: FramedRows, seed: int) -> tuple[Any, float]:
        """Return prior and γ: first the γ that does best with the first prior, then the prior."""
        auto = isinstance(self.prior, str) and self.prior == "auto"
        priors: list[Any] = list(AUTO) if auto else [self.prior]
        gammas = list(GAMMAS) if isinstance(self.gamma, str) else [float(self.gamma)]
        self.settings_ = {}
        best: tuple[Any, float] = (priors[0], gammas[0])
        lowest = np.inf
        for stage in ([(priors[0], g) for g in gammas], [(p, None) for p in priors[1:]]):
            tried = [(p, best[1] if g is None else g) for p, g in stage]
            if not tried or len(gammas) == len(priors) == 1:
                break
            choice = choose_by_votes(
                rows, tried, lambda part, setting, _: self._learn(part, setting, seed), seed=seed
            )
            self.settings_ |= choice.tried
            loss = min(map(min, choice.tried.values()), default=0.0)
            if loss < lowest:
                best, lowest = choice.setting, loss
        return best

    def _check(self) -> None:
        check_prior(self.prior)
        check_auto("gamma", self.gamma, check_positive)
        check_whole("max_iter", self.max_iter)
        check_positive("tol", self.tol, zero=True)
        if self.n_constraints is not None:
            check_whole("n_constraints", self.n_constraints)
        if self.bounds is not None:
            upper, lower = (check_positive("bounds", bound) for bound in self.bounds)
            check_choice("bounds in ascending order", upper <= lower, (True,))

    def _learn(self, rows: FramedRows, setting: tuple[Any, float], seed: int) -> FloatArray:
        rng = np.random.default_rng([seed, 3])
        gaps = draw_gaps(rows.X, rows.codes, self.n_constraints, rng)
        return self._solve(gaps, prior_matrix(setting[0], rows), rows.X, setting[1])

    def _solve(
        self,
        gaps: tuple[FloatArray, FloatArray],
        root: FloatArray,
        points: FloatArray,
        gamma: float,
    ) -> FloatArray:
        """Return the factor of the metric for pairs, from the factor of the prior."""
        near, far = (drop_copies(kind)[0] for kind in gaps)
        bounds = self.bounds or percentile_bounds(points @ root.T)
        self.bounds_ = (float(bounds[0]), float(bounds[1]))
        constraints = PairBounds(near, far, *self.bounds_)
        metric, self.n_iter_ = bregman_projections(
            root.T @ root, constraints, gamma, self.max_iter, float(self.tol)
        )
        return factor(metric)


def _warn_of_copies(n_copies: int) -> None:
    """Tell of pairs given that no metric can move; of those drawn, fit is the only author."""
    if n_copies:
        warnings.warn(
            f"{n_copies} pairs are of equal rows, which no metric can move, and were left out. "
            "Drop them from the pairs.",
            UserWarning,
            stacklevel=3,
        )


def percentile_bounds(mapped: FloatArray, most: int = 1000) -> tuple[float, float]:
    """Return the 5th and 95th percentile of squared distances among (some of) the rows."""
    some = mapped[:: max(1, len(mapped) // most)]
    above = rounded_squared_distances(some, some)[np.triu_indices(len(some), 1)]
    largest = above.max(initial=0.0) or 1.0
    low, high = np.percentile(above, PERCENTILES) if len(above) else (1.0, 1.0)
    return max(float(low), 1e-9 * largest), max(float(high), 1e-9 * largest)


def bregman_projections(
    prior: FloatArray, pairs: PairBounds, gamma: float, max_iter: int, tol: float
) -> tuple[FloatArray, int]:
    """Return the metric (d, d) that solves (1) and the number of sweeps.

    Raises
    ------
    ValueError
        Where rounding has spoilt the metric; it says what to change.
    """
    gaps = np.ascontiguousarray(np.concatenate([pairs.near, pairs.far]))
    signs = np.repeat([1.0, -1.0], [len(pairs.near), len(pairs.far)])
    slacks = np.repeat([pairs.upper, pairs.lower], [len(pairs.near), len(pairs.far)])
    multipliers, metric = np.zeros(len(gaps)), np.ascontiguousarray(prior, dtype=np.float64)
    n_iter = 0
    for sweep in range(1, max_iter + 1):
        before, n_iter = multipliers.copy(), sweep
        project_pairs(metric, gaps, signs, slacks, multipliers, gamma)
        if not np.isfinite(metric).all():
            raise ValueError(
                "ITML's projections overflowed: bounds and prior do not fit each other. Use "
                "standardised features, a smaller gamma, or prior='covariance'."
            )
        size = np.linalg.norm(before) + np.linalg.norm(multipliers)
        if size == 0 or np.abs(multipliers - before).sum() <= tol * np.abs(before).sum():
            break
    else:
        n_iter = max_iter
    return metric, n_iter


def factor(metric: FloatArray) -> FloatArray:
    """Return L with M = LᵀL, largest directions first; warn where M is not a metric by rounding."""
    values, directions = eigh((metric + metric.T) / 2, driver="evd")
    if values[0] < -1e-6 * max(values[-1], 0.0):
        warnings.warn(
            f"the learned matrix has a negative eigenvalue, {values[0]:.2g} beside a largest of "
            f"{values[-1]:.2g}, and was projected to the nearest metric. Standardise the features.",
            UserWarning,
            stacklevel=2,
        )
    roots: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, None] * directions.T
    return np.ascontiguousarray(roots[::-1])
