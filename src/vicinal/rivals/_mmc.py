"""Mahalanobis metric learning with side information: far apart what is not alike, within bounds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray
from vicinal._validation import check_choice, check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.descent import Frame, frame_rows, make_frame, minimise
from vicinal.metric.maps import LinearMaps
from vicinal.rivals._constraints import check_pair_labels, check_tuples, draw_gaps, tuples_span
from vicinal.rivals._itml import factor
from vicinal.rivals._progress import Iterations
from vicinal.rows import Rows


class MMC(MetricLearner):
    """Part the pairs that are not alike as far as the pairs alike stay near.

    With pairs alike S and pairs not alike D,

        maximise over M ⪰ 0   Σ_D √((x − z)ᵀ M (x − z))   where   Σ_S (x − z)ᵀ M (x − z) ≤ 1.   (1)

    Parameters
    ----------
    diagonal : bool, default=False
        Whether M is diagonal: one weight a feature.
    shrinkage : float, default=0.1
        γ: the scatter of S is mixed, (1 − γ) Σ_S + γ (its mean variance) I, so that no direction
        in which pairs alike happen not to differ is given all the weight.
    n_constraints : int or None
        Pairs of each kind drawn by :meth:`fit`; None is 20 R² for R classes, but no more than 20
        for each row and 64 MB of differences.
    max_iter : int, default=100
    tol : float, default=1e-5
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Scaled so that the mean squared distance of pairs alike is 1.
    n_iter_ : int
    loss_curve_ : list of float
        Minus the logarithm of the mean distance of pairs not alike.

    Notes
    -----
    Time O(q d²) an iteration of L-BFGS for q pairs, memory O(q d + d²). Departures from the source:
    (1) is homogeneous in M, so it is solved without constraint as the least of
    ½ log Σ_S d² − log Σ_D d over the factor of M, and projections are not needed; the scatter of
    S is shrunk: without that, (1) has no maximum where pairs not alike differ in a direction in
    which no pair alike does.

    References
    ----------
    Xing, Ng, Jordan and Russell, "Distance metric learning with application to clustering with
    side-information", NIPS 2002 [xing2002].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import MMC
    >>> X, y = load_iris(return_X_y=True)
    >>> MMC(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        *,
        diagonal: bool = False,
        shrinkage: float = 0.1,
        n_constraints: int | None = None,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.diagonal = diagonal
        self.shrinkage = shrinkage
        self.n_constraints = n_constraints
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1) for pairs drawn from the classes."""
        self._check()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        with one_blas_thread():
            framed = frame_rows(rows)
            frame, inside = framed.frame, framed.X
            if self.diagonal:  # weights are of the features, not of directions of the span
                frame, inside = (
                    flat_frame(frame),
                    flat_frame(frame).enter(rows.X.astype(np.float64)),
                )
            components = self._solve(*draw_gaps(inside, rows.codes, self.n_constraints, rng))
        return frame.maps(components.astype(rows.X.dtype, copy=False))

    def fit_pairs(self, pairs: AnyArray, y: AnyArray) -> MMC:
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
            frame = make_frame(tuples_span(pairs), standardise=False)
            frame = flat_frame(frame) if self.diagonal else frame
            ends = frame.enter(pairs.reshape(-1, pairs.shape[2]).astype(np.float64))
            gaps = ends[::2] - ends[1::2]
            components = self._solve(gaps[labels == 1], gaps[labels == -1])
        self._keep(frame.maps(components.astype(pairs.dtype, copy=False)))
        return self

    def _check(self) -> None:
        check_choice("diagonal", self.diagonal, (True, False))
        if check_positive("shrinkage", self.shrinkage, zero=True) > 1:
            raise ValueError(f"shrinkage must be between 0 and 1, got {self.shrinkage!r}.")
        check_whole("max_iter", self.max_iter)
        check_positive("tol", self.tol, zero=True)
        if self.n_constraints is not None:
            check_whole("n_constraints", self.n_constraints)

    def _solve(self, near: FloatArray, far: FloatArray) -> FloatArray:
        if not near.any() or not far.any():
            kind = "alike" if not near.any() else "not alike"
            warnings.warn(
                f"all pairs {kind} are of equal rows, so MMC has nothing to learn from and leaves "
                "the plain distance. Give pairs of rows that differ.",
                UserWarning,
                stacklevel=3,
            )
            self.n_iter_ = 1
            self.loss_curve_: list[float] = []
            return np.eye(near.shape[1])
        scatter = shrunk_scatter(near, float(self.shrinkage))
        if self.diagonal:
            weights, self.n_iter_, self.loss_curve_ = diagonal_metric(
                np.diag(scatter).copy(), far, self.max_iter, float(self.tol)
            )
            return np.diag(np.sqrt(weights))
        return self._full_metric(scatter, far)

    def _full_metric(self, scatter: FloatArray, far: FloatArray) -> FloatArray:
        values, directions = eigh(scatter, driver="evd")
        whitening = (directions / np.sqrt(values)).T
        iterations = Iterations("MMC", self.verbose, self.max_iter)

        objective = MeanSeparation(far @ whitening.T)
        start = np.eye(len(scatter)) / np.sqrt(len(scatter))
        inner, self.loss_curve_ = minimise(
            objective, start, max_iter=self.max_iter, tol=self.tol, listener=iterations
        )
        self.n_iter_ = max(1, len(self.loss_curve_) - 1)
        learned = inner @ whitening / np.linalg.norm(inner)
        return factor(learned.T @ learned)


def flat_frame(frame: Frame) -> Frame:
    """Return the same frame with the features as its axes."""
    return Frame(frame.centre, frame.scale)


def shrunk_scatter(near: FloatArray, shrinkage: float) -> FloatArray:
    """Return the mean outer product of differences (q, d), shrunk, and never singular."""
    scatter = near.T @ near / len(near)
    mean = np.trace(scatter) / len(scatter)
    least = max(shrinkage, 1e-9)
    shrunk: FloatArray = (1 - least) * scatter + least * mean * np.eye(len(scatter))
    return shrunk


class MeanSeparation:
    """½ log tr LLᵀ − log (mean of ‖L v‖) and its gradient, in coordinates that whiten S."""

    def __init__(self, far: FloatArray) -> None:
        self.far = far[np.einsum("ij,ij->i", far, far) > 0]

    def __call__(self, components: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient (d, d) at L (d, d)."""
        mapped = self.far @ components.T
        distances = np.sqrt(np.einsum("ij,ij->i", mapped, mapped))
        total, size = float(distances.sum()), float(np.sum(components**2))
        pulled = mapped / np.where(distances > 0, distances, np.inf)[:, None]
        gradient: FloatArray = components / size - pulled.T @ self.far / total
        return 0.5 * np.log(size) - np.log(total / len(self.far)), gradient


def diagonal_metric(
    scatter: FloatArray, far: FloatArray, max_iter: int, tol: float
) -> tuple[FloatArray, int, list[float]]:
    """Return the weights (d,) of (1) for a diagonal M, with the iterations and the losses.

    Minimises Σ_a s_a m_a − log (mean over D of √(Σ_a m_a v_a²)) over m ≥ 0, which is convex, and
    scales the result; s is the mean of v_a² over S.
    """
    squares = far**2 / scatter
    losses: list[float] = []

    def value(m: FloatArray) -> tuple[float, FloatArray]:
        distances = np.sqrt(np.maximum(squares @ m, 1e-200))
        total = float(distances.sum())
        gradient = 1.0 - (squares / distances[:, None]).sum(axis=0) / (2 * total)
        return float(m.sum()) - np.log(total / len(squares)), gradient

    start = np.full(len(scatter), 0.5 / len(scatter))
    losses.append(value(start)[0])
    done = minimize(
        value, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(scatter),
        callback=lambda intermediate_result: losses.append(float(intermediate_result.fun)),
        options={"maxiter": max_iter, "ftol": tol * 1e-3, "gtol": tol},
    )  # fmt: skip
    weights = np.maximum(done.x, 0.0)
    weights = weights / max(weights.sum(), np.finfo(float).tiny)
    return weights / scatter, max(1, int(done.nit)), losses
