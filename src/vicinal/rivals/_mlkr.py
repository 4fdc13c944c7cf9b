"""Metric learning for kernel regression: distances under which near rows predict well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vicinal._threads import one_blas_thread
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric import MetricLearner
from vicinal.metric.descent import FramedRows, Listener, frame_rows
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import choose_held_out
from vicinal.metric.starts import principal_map
from vicinal.pairs import distance_blocks
from vicinal.rivals._nca import (
    PERPLEXITY,
    SoftOptions,
    descend_softly,
    neighbour_shares,
    plain_start,
    soft_options,
)
from vicinal.rivals._progress import Iterations
from vicinal.rivals._soft_neighbors import scale_to_perplexity
from vicinal.rows import Numbers, Rows

INITS = ("auto", "identity", "pca")
# Rows up to which all pairs are looked at. Errors of regression are smooth in the map, and worth
# more exact steps than votes are.
FEW_ROWS = 3000


class MLKR(MetricLearner):
    """Minimise the error of kernel regression of every row by the others.

    With k_ij = exp(−‖A x_i − A x_j‖²) and ŷ_i = Σ_{j≠i} k_ij y_j / Σ_{j≠i} k_ij,

        minimise over A   Σ_i (y_i − ŷ_i)² / Σ_i (y_i − ȳ)².                     (1)

    Parameters
    ----------
    n_components : int or None
        Rows of A; None keeps all features, up to 100.
    init : "auto", "identity", "pca" or ndarray of shape (n_components, n_features)
        The start; "auto" is "identity", or "pca" where fewer components are kept. A named start is
        scaled so that rows look at ten neighbours on average; an array is taken as it is.
    solver : "auto", "full-batch" or "mini-batch", default="auto"
        L-BFGS on all pairs (up to 3,000 rows), or Adam on drawn ones, as in :class:`~vicinal.NCA`.
    max_iter : int, default=100
    tol : float, default=1e-5
        L-BFGS stops when an iteration lessens (1) by no more than this share of it.
    n_references : int, default=5000
    early_stopping : bool, default=True
        Whether to end after the number of iterations at which held-out rows, while the others are
        learned from, are predicted best; then all are learned from.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    n_iter_ : int
    loss_curve_ : list of float
        (1) at the start and after each iteration, or over each pass of drawn pairs.
    solver_ : str
    settings_ : dict of str to list of float
        Held-out errors after each iteration, where rows were held out.

    Notes
    -----
    Time O(n² (d + n_components)) an iteration, or O(n n_references n_components) a pass; memory
    O(n d): pairs are made a block of rows at a time. Several targets are weighed by their
    variances. Departures from the source: as in :class:`~vicinal.NCA`.

    References
    ----------
    Weinberger and Tesauro, "Metric learning for kernel regression", AISTATS 2007 [weinberger2007].

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from vicinal import MLKR
    >>> X, y = make_friedman1(200, random_state=0)
    >>> MLKR(n_components=2, random_state=0).fit(X, y).transform(X).shape
    (200, 2)
    """

    _task = "regression"
    _several_targets = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | AnyArray = "auto",
        solver: str = "auto",
        max_iter: int = 100,
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
        if rows.n_rows < 2:
            raise ValueError(
                f"MLKR predicts rows by others, but n_samples={rows.n_rows}; give two."
            )
        with one_blas_thread():
            scaled = Numbers(scale_targets(rows.values))
            framed = frame_rows(replace(rows, target=scaled))
            options = soft_options(self, rows.X, framed, INITS, FEW_ROWS)
            if isinstance(options.init, str) and options.init == "auto":
                options = replace(options, init=plain_start(options, framed.X.shape[1]))
            components = self._learn(framed, options)
        return framed.frame.maps(components.astype(rows.X.dtype, copy=False))

    def _learn(self, rows: FramedRows, options: SoftOptions) -> FloatArray:
        self.settings_: dict[str, list[float]] = {}
        if self.early_stopping:
            choice = choose_held_out(
                rows,
                [options.init],
                lambda part, _, listener: descend_kernel(part, options, listener)[0],
                kernel_errors,
                seed=options.seed,
            )
            self.settings_ = choice.tried
            options = replace(options, n_stop=choice.n_iter)
        self.solver_ = options.solver
        iterations = Iterations("MLKR", self.verbose, options.n_stop or options.max_iter)
        components, self.loss_curve_ = descend_kernel(rows, options, iterations)
        self.n_iter_ = max(1, len(self.loss_curve_) - (options.solver == "full-batch"))
        return components


def descend_kernel(
    rows: FramedRows, options: SoftOptions, listener: Listener
) -> tuple[FloatArray, list[float]]:
    """Return the map that (1) leads to, and the losses on the way."""
    start = options.init
    if isinstance(start, str):
        rng = np.random.default_rng(options.seed)
        p = options.n_components
        plain = start == "identity"
        named = rows.frame.plain(p) if plain else principal_map(rows.X, p, rng)
        start = scale_to_perplexity(named.astype(np.float64), rows.X, PERPLEXITY, options.seed)
    return descend_softly(rows.X, KernelRegression(rows.values), start, options, listener)


def kernel_errors(train: FramedRows, components: FloatArray, held: FramedRows) -> FloatArray:
    """Return the squared errors of held-out rows, predicted by kernel regression from others."""
    predicted = predict_by_kernel(train, components, held.X)
    errors: FloatArray = np.mean((predicted - held.values) ** 2, axis=1)
    return errors


def predict_by_kernel(rows: FramedRows, components: FloatArray, queries: FloatArray) -> FloatArray:
    """Return the kernel regression of other rows (m, r) by some rows."""
    blocks = distance_blocks(queries @ components.T, rows.X @ components.T, 2**20)
    return np.concatenate([neighbour_shares(squared) @ rows.values for _, squared in blocks])


@dataclass(frozen=True)
class KernelRegression:
    """The squared error of kernel regression of row i, and its derivatives by D_ij."""

    y: FloatArray

    def __call__(
        self, squared_distances: FloatArray, queries: IntArray, references: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return losses (b,) and derivatives (b, m)."""
        shares = neighbour_shares(squared_distances)
        targets = self.y[references].astype(shares.dtype, copy=False)
        predicted = shares @ targets
        gaps = predicted - self.y[queries].astype(shares.dtype, copy=False)
        # ∂ŷ/∂D_j = p_j (ŷ − y_j), so ∂‖ŷ − y‖²/∂D_j = 2 p_j (ŷ − y)·(ŷ − y_j)
        along = np.einsum("ij,ij->i", gaps, predicted)[:, None] - gaps @ targets.T
        losses: FloatArray = np.einsum("ij,ij->i", gaps, gaps)
        return losses, 2 * shares * along


def scale_targets(y: FloatArray) -> FloatArray:
    """Return targets (n, t) about their means, their variances adding up to 1."""
    columns = y.reshape(len(y), -1)
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    scaled: FloatArray = centred / np.where(spread > 0, spread, 1.0) / np.sqrt(columns.shape[1])
    return scaled
