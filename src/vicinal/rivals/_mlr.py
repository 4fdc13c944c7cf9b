"""Metric learning to rank: a metric whose neighbours come in the order a measure wants."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread
from vicinal._types import FloatArray
from vicinal._validation import check_choice, check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.descent import FramedRows, frame_rows
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import choose_by_votes
from vicinal.rivals._itml import factor
from vicinal.rivals._progress import Iterations
from vicinal.rivals._rankings import MEASURES, Cut, violate
from vicinal.rivals._sampling import sample_rows
from vicinal.rows import Rows

# Values of C tried on inner splits, for rows whose mean squared distance is 1.
GRID = (10.0, 100.0, 1000.0)


class MLR(MetricLearner):
    """Learn a metric that ranks the rows of a row's class before all others.

    With ψ(q, r) = Σ r_ij (φ(q, i) − φ(q, j)) / PN over the P rows i of the class of q and the N
    others j, r_ij = 1 where ranking r has i before j and −1 where not, and
    φ(q, i) = −(q − i)(q − i)ᵀ,

        minimise over W ⪰ 0, ξ ≥ 0   ½‖W‖² + C ξ
        where, for all rankings r_q,   mean_q ⟨W, ψ(q, r*_q) − ψ(q, r_q)⟩ ≥ mean_q Δ(r_q) − ξ,   (1)

    Δ being 1 − measure, by cutting planes: the rankings most violated are added one by one.

    Parameters
    ----------
    measure : "auc", "precision", "map" or "ndcg", default="map"
        Area under the curve, precision of the first k, mean average precision, normalised
        discounted cumulative gain.
    n_neighbors : int or None
        k of "precision". None follows the predictor the metric stands in, and is 3 where there is
        none.
    C : "auto" or float, default="auto"
        For rows scaled to a mean squared distance of 1. "auto" chooses among 10, 100 and 1000 on
        inner splits.
    max_samples : int or None, default=1000
        Beyond so many rows a random sample of that size, with the classes in proportion, is learned
        from, and a warning says so: time and memory are quadratic in the rows.
    max_iter : int, default=30
        Cutting planes.
    tol : float, default=0.01
        Stop when no ranking violates its constraint by more than this beyond ξ.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        A row for every direction with a positive eigenvalue.
    C_ : float
    n_iter_ : int
    n_samples_fit_ : int
    settings_ : dict of str to list of float

    Notes
    -----
    Time O(n² d + Σ P N) a cutting plane and O(d³) for each step of the small dual problem; memory
    O(n² + d²) for at most ``max_samples`` rows. The most violated ranking of all four measures is
    found by one dynamic programme over the rows above each relevant one. Departures from it:
    ½‖W‖² in place of tr W, which makes the dual smooth; one slack for the mean of all queries.

    References
    ----------
    McFee and Lanckriet, "Metric learning to rank", ICML 2010 [mcfee2010].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import MLR
    >>> X, y = load_iris(return_X_y=True)
    >>> MLR(random_state=0).fit(X, y).transform(X).shape[0]
    150
    """

    def __init__(
        self,
        measure: str = "map",
        *,
        n_neighbors: int | None = None,
        C: str | float = "auto",
        max_samples: int | None = 1000,
        max_iter: int = 30,
        tol: float = 0.01,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.n_neighbors = n_neighbors
        self.C = C
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1)."""
        self._check()
        random = check_random_state(self.random_state)
        sample = self._sample(rows, random)
        seed = int(random.randint(2**31 - 1))
        with one_blas_thread():
            framed = frame_rows(sample)
            costs = list(GRID) if isinstance(self.C, str) else [float(self.C)]
            self.settings_: dict[str, list[float]] = {}
            if len(costs) > 1:
                choice = choose_by_votes(
                    framed,
                    costs,
                    lambda part, cost, _: self._learn(part, cost),
                    n_neighbors=self._k(),
                    seed=seed,
                )
                costs, self.settings_ = [choice.setting], choice.tried
            components = self._learn(framed, costs[0], self.verbose)
        self.C_, self.n_samples_fit_ = costs[0], sample.n_rows
        return framed.frame.maps(components.astype(rows.X.dtype, copy=False))

    def _k(self) -> int:
        return check_whole("n_neighbors", 3 if self.n_neighbors is None else self.n_neighbors)

    def _check(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        check_whole("max_iter", self.max_iter)
        check_positive("tol", self.tol, zero=True)
        if self.C != "auto":
            check_positive("C", self.C)
        if self.max_samples is not None:
            check_whole("max_samples", self.max_samples, least=2)

    def _sample(self, rows: Rows, random: Any) -> Rows:
        if self.max_samples is None or rows.n_rows <= self.max_samples:
            return rows
        some = sample_rows(rows.codes, self.max_samples, random)
        warnings.warn(
            f"MLR was fitted on a random {len(some):,} of {rows.n_rows:,} rows (max_samples); its "
            "cost is quadratic in the rows.",
            UserWarning,
            stacklevel=5,
        )
        return rows.take(some)

    def _learn(self, rows: FramedRows, cost: float, verbose: int = 0) -> FloatArray:
        size = float(np.sqrt(2 * np.mean(np.einsum("ij,ij->i", rows.X, rows.X)))) or 1.0
        X, labels = rows.X / size, rows.codes
        iterations = Iterations("MLR", verbose, self.max_iter)
        metric: FloatArray = np.zeros((X.shape[1], X.shape[1]))
        slack = 0.0
        cuts: list[Cut] = []
        multipliers: FloatArray = np.zeros(0)
        for step in range(1, self.max_iter + 1):
            self.n_iter_ = step
            cut, violation = violate(metric, X, labels, self.measure, self._k())
            iterations.tell(step, violation, f", slack {slack:.4f}")
            if violation <= slack + self.tol:
                break
            cuts.append(cut)
            metric, multipliers = solve_dual(cuts, np.append(multipliers, 0.0), cost)
            slack = max(0.0, max(c.loss - float(np.sum(c.matrix * metric)) for c in cuts))
        if not metric.any():
            return rows.frame.plain(X.shape[1])
        components = factor(metric)
        sizes = np.einsum("ij,ij->i", components, components)
        some = sizes > 1e-10 * sizes[0]
        return components[some] / size


def solve_dual(cuts: list[Cut], start: FloatArray, cost: float) -> tuple[FloatArray, FloatArray]:
    """Return W and the multipliers α ≥ 0, Σα ≤ C, of the cuts seen so far.

    The dual of (1) is to maximise Σ α_b Δ_b − ½‖[Σ α_b Ψ_b]₊‖², where [·]₊ drops negative
    eigenvalues and is W; its derivative by α_b is Δ_b − ⟨W, Ψ_b⟩.
    """
    losses = np.array([cut.loss for cut in cuts])
    matrices = np.stack([cut.matrix for cut in cuts])
    flat = matrices.reshape(len(cuts), -1)

    def primal(alpha: FloatArray) -> FloatArray:
        values, directions = eigh(np.tensordot(alpha, matrices, 1), driver="evd")
        positive = values > 0
        part = directions[:, positive]
        metric: FloatArray = (part * values[positive]) @ part.T
        return metric

    def negative_dual(shares: FloatArray) -> tuple[float, FloatArray]:
        alpha = cost * shares
        metric = primal(alpha)
        value = 0.5 * float(np.sum(metric**2)) - float(alpha @ losses)
        return value / cost, flat @ metric.ravel() - losses

    done = minimize(
        negative_dual, start / cost, jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * len(cuts),
        constraints={
            "type": "ineq",
            "fun": lambda shares: 1.0 - shares.sum(),
            "jac": lambda shares: -np.ones(len(shares)),
        },
        options={"maxiter": 50, "ftol": 1e-7},
    )  # fmt: skip
    alpha = cost * np.clip(done.x, 0.0, 1.0)
    return primal(alpha), alpha
