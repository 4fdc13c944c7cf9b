"""Neighbourhood components analysis: on all pairs of few rows, on drawn pairs of many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_choice, check_components, check_positive, check_whole
from vicinal.metric import MetricLearner
from vicinal.metric.descent import FramedRows, Listener, frame_rows, minimise
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import choose_by_votes
from vicinal.metric.starts import Start, check_map, start_for
from vicinal.pairs import SoftRule
from vicinal.rivals._progress import Iterations
from vicinal.rivals._soft_neighbors import (
    AllPairs,
    SampledPairs,
    descend_sampled,
    scale_to_perplexity,
)
from vicinal.rows import USUAL_NEIGHBORS, Rows

INITS = ("auto", "identity", "pca", "lda")
SOLVERS = ("auto", "full-batch", "mini-batch")
MOST_COMPONENTS = 100
# Rows up to which all pairs are looked at: a step on more costs as much as an epoch of drawn ones
# that takes sixteen.
FEW_ROWS = 1000
# Neighbours a row looks at where a named start begins.
PERPLEXITY = 10.0
# Adam's first rate, in sizes of the start's entries.
RATE = 0.1
# Weights below exp(−CUT) of the nearest row's add nothing in double precision.
CUT = 44.0


@dataclass(frozen=True)
class SoftOptions:
    """What a learner of soft neighbours was told, checked."""

    n_components: int
    init: str | FloatArray
    solver: str
    max_iter: int
    tol: float
    n_references: int
    seed: int
    n_stop: int | None = None


class NCA(MetricLearner):
    """Maximise the chance that a row's random neighbour shares its class.

    With p_ij ∝ exp(−‖A x_i − A x_j‖²), j ≠ i,

        maximise over A   (1/n) Σ_i Σ_{j : y_j = y_i} p_ij.                      (1)

    Parameters
    ----------
    n_components : int or None
        Rows of A; None keeps all features, up to 100.
    init : "auto", "identity", "pca", "lda" or ndarray of shape (n_components, n_features)
        The start. "auto" chooses between "identity" ("pca", where fewer components are kept) and
        "lda" on inner splits. A named start is scaled so that rows look at ten neighbours on
        average; an array is taken as it is.
    solver : "auto", "full-batch" or "mini-batch", default="auto"
        "full-batch" is L-BFGS on all pairs of rows. "mini-batch" is Adam on batches of rows that
        choose among ``n_references`` rows drawn for each batch, and so bounds time and memory.
        "auto" takes the first for up to 1,000 rows.
    max_iter : int, default=50
        Iterations of L-BFGS, or at most so many passes over the rows.
    tol : float, default=1e-5
        L-BFGS stops when an iteration changes (1) by no more than this share of it.
    n_references : int, default=5000
        Rows drawn for a batch to choose among.
    early_stopping : bool, default=True
        Whether to end after the number of iterations at which held-out rows, while the others are
        learned from, are voted on best; then all are learned from.
    random_state : int, RandomState or None
    verbose : int, default=0
        1 prints a line an iteration.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    classes_ : ndarray of shape (R,)
    n_iter_ : int
    loss_curve_ : list of float
        1 − (1) at the start and after each iteration, or over each pass of drawn pairs.
    init_, solver_ : str
        What was chosen.
    settings_ : dict of str to list of float
        For each start tried, the held-out scores after each iteration; empty if none was.

    Notes
    -----
    Time O(n² (d + n_components)) an iteration of "full-batch", O(n n_references n_components) a
    pass of "mini-batch"; memory O(n d) for both. Departures from the source: the rows a batch
    chooses among are drawn, named starts are scaled, and where to stop is chosen on held-out rows.
    With a given array, ``solver="full-batch"`` and ``early_stopping=False`` the map is that of
    scikit-learn's ``NeighborhoodComponentsAnalysis``.

    References
    ----------
    Goldberger, Roweis, Hinton and Salakhutdinov, "Neighbourhood components analysis",
    NIPS 2004 [goldberger2004].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import NCA
    >>> X, y = load_iris(return_X_y=True)
    >>> NCA(n_components=2, random_state=0).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | AnyArray = "auto",
        solver: str = "auto",
        max_iter: int = 50,
        tol: float = 1e-5,
        n_references: int = 5000,
        early_stopping: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_references = n_references
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.verbose = verbose

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1)."""
        with one_blas_thread():  # or rounding, and with it the result, would depend on threads
            framed = frame_rows(rows)
            options = soft_options(self, rows.X, framed, INITS, FEW_ROWS)
            components = self._learn(framed, options)
        return framed.frame.maps(components.astype(rows.X.dtype, copy=False))

    def _rule(self, labels: IntArray) -> SoftRule:
        return SameClass(labels)

    def _judges(self) -> int:
        """How many neighbours vote on held-out rows."""
        return USUAL_NEIGHBORS

    def _learn(self, rows: FramedRows, options: SoftOptions) -> FloatArray:
        self.settings_: dict[str, list[float]] = {}
        inits = starts_of(options, rows)
        if self.early_stopping or len(inits) > 1:
            choice = choose_by_votes(
                rows,
                inits,
                lambda part, init, told: self._descend(part, replace(options, init=init), told)[0],
                n_neighbors=self._judges(),
                seed=options.seed,
            )
            self.settings_ = choice.tried
            stop = choice.n_iter if self.early_stopping else None
            options = replace(options, init=choice.setting, n_stop=stop)
        else:
            options = replace(options, init=inits[0])
        self.init_ = options.init if isinstance(options.init, str) else "array"
        self.solver_ = options.solver
        iterations = Iterations(
            type(self).__name__, self.verbose, options.n_stop or options.max_iter
        )
        components, self.loss_curve_ = self._descend(rows, options, iterations)
        self.n_iter_ = max(1, len(self.loss_curve_) - (options.solver == "full-batch"))
        return components

    def _descend(
        self, rows: FramedRows, options: SoftOptions, listener: Listener
    ) -> tuple[FloatArray, list[float]]:
        start = soft_start(rows, options)
        return descend_softly(rows.X, self._rule(rows.codes), start, options, listener)


@dataclass(frozen=True)
class SameClass:
    """The loss 1 − Σ_{j : y_j = y_i} p_ij of row i, and its derivatives by D_ij."""

    labels: IntArray

    def __call__(
        self, squared_distances: FloatArray, queries: IntArray, references: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return losses (b,) and derivatives (b, m)."""
        shares = neighbour_shares(squared_distances)
        same = self.labels[queries][:, None] == self.labels[references]
        hits = np.einsum("ij,ij->i", shares, same, dtype=shares.dtype)
        # ∂(−Σ_same p)/∂D_j = p_j ([same] − Σ_same p)
        return 1 - hits, shares * (same - hits[:, None])


def neighbour_shares(squared_distances: FloatArray) -> FloatArray:
    """Return p_ij ∝ exp(−D_ij), row by row; D is overwritten. A row with no neighbour has zeros.

    A weight below e⁻⁴⁴ of the nearest row's counts as zero.
    """
    nearest = squared_distances.min(axis=1, keepdims=True)
    nearest[~np.isfinite(nearest)] = 0.0
    np.subtract(nearest, squared_distances, out=squared_distances)
    # Products of numbers too small to be normal would take most of the time.
    np.copyto(squared_distances, -np.inf, where=squared_distances < -CUT)
    shares: FloatArray = np.exp(squared_distances, out=squared_distances)
    totals = shares.sum(axis=1, keepdims=True)
    shares /= np.where(totals > 0, totals, 1)
    return shares


def soft_options(
    told: Any, X: AnyArray, rows: Any, inits: tuple[str, ...], few_rows: int
) -> SoftOptions:
    """Return what an estimator was told, checked, for rows ``rows.X`` in ``rows.frame``."""
    check_choice("solver", told.solver, SOLVERS)
    check_choice("early_stopping", told.early_stopping, (True, False))
    check_components(told.n_components, X.shape[1])
    width, init = rows.X.shape[1], told.init
    if isinstance(init, str):
        check_choice("init", init, inits)
    else:
        init = rows.frame.unfold(check_map(init, X.shape[1], told.n_components))
    usual = "full-batch" if len(X) <= few_rows else "mini-batch"
    return SoftOptions(
        n_components=min(told.n_components or MOST_COMPONENTS, width),
        init=init,
        solver=usual if told.solver == "auto" else told.solver,
        max_iter=check_whole("max_iter", told.max_iter),
        tol=check_positive("tol", told.tol, zero=True),
        n_references=check_whole("n_references", told.n_references),
        seed=int(check_random_state(told.random_state).randint(2**31 - 1)),
    )


def starts_of(options: SoftOptions, rows: FramedRows) -> list[Any]:
    """Return the starts to try."""
    if not isinstance(options.init, str) or options.init != "auto":
        return [options.init]
    return [plain_start(options, rows.X.shape[1]), "lda"]


def plain_start(options: SoftOptions, width: int) -> str:
    """Return the start that knows no targets."""
    return "identity" if options.n_components == width else "pca"


def soft_start(rows: FramedRows, options: SoftOptions) -> FloatArray:
    """Return a start (p, r) for the rows, at the scale at which they see a few neighbours."""
    if not isinstance(options.init, str):
        return options.init
    start = start_for(rows, Start(options.init, options.n_components), options.seed)
    return scale_to_perplexity(start, rows.X, PERPLEXITY, options.seed)


def descend_softly(
    X: FloatArray,
    rule: SoftRule,
    start: FloatArray,
    options: SoftOptions,
    listener: Listener,
) -> tuple[FloatArray, list[float]]:
    """Return the map a loss of soft neighbours leads to, and the losses on the way."""
    n_stop = options.n_stop or options.max_iter
    if options.solver == "full-batch":
        objective = AllPairs(X, rule)
        return minimise(objective, start, max_iter=n_stop, tol=options.tol, listener=listener)
    sampled = SampledPairs(X, rule, options.n_references, [options.seed, 1])
    return descend_sampled(
        sampled, start, rate=RATE, n_epochs=options.max_iter, seed=[options.seed, 2],
        n_stop=n_stop, listener=listener,
    )  # fmt: skip
