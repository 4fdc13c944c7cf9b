"""Large margin nearest neighbours: target neighbours pulled near, impostors pushed away."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import one_blas_thread, thread_count
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_choice,
    check_components,
    check_positive,
    check_whole,
)
from vicinal.metric import MetricLearner
from vicinal.metric.descent import FramedRows, frame_rows
from vicinal.metric.maps import LinearMaps
from vicinal.metric.selection import choose_by_votes
from vicinal.metric.starts import Start, check_map
from vicinal.rivals._large_margin import MarginOptions, learn_margins
from vicinal.rivals._progress import Iterations
from vicinal.rows import Rows, usual_neighbors

INITS = ("identity", "pca", "lda")
# Beyond so many directions L would have millions of entries; FEW are then learned.
WIDE, FEW = 1000, 100


class LMNN(MetricLearner):
    """Pull every row's target neighbours near and push rows of other classes out of their reach.

    The targets of row i are its k nearest rows of its own class under the start. With
    D_ij = ‖L x_i − L x_j‖², targets j of row i and rows l of other classes,

        minimise over L   (1/n) Σ_i Σ_j [ (1 − μ) D_ij + μ Σ_l (1 + D_ij − D_il)₊ ]       (1)

    by L-BFGS. All rows l that matter ("impostors") are found at every evaluation.

    Parameters
    ----------
    n_neighbors : int or None
        Targets k of a row; fewer where its class has no more. None follows the predictor the
        metric stands in, and is 3 where there is none.
    n_components : int or None
        Rows of L, at most as many as there are features. None is all directions the rows span up
        to 1000, and 100 where there are more.
    init : "auto", "identity", "pca", "lda" or ndarray of shape (n_components, n_features)
        The start, which also chooses the targets: "identity" takes the features as they are, "pca"
        their first principal directions, "lda" whitens within the classes. "auto" chooses between
        the first (the second, where fewer components are asked for) and the last on inner splits.
        A named start is scaled so that the median squared distance to the last target is 1, the
        size of the margin; an array is taken as it is, for instance the map of an earlier fit, to
        choose the targets anew.
    regularization : float, default=0.5
        μ, between 0 and 1: how much pushing counts against pulling.
    max_iter : int, default=50
    tol : float, default=1e-5
        Stop when an iteration lessens (1) by no more than this share of it.
    early_stopping : bool, default=True
        Whether to end after the number of iterations at which held-out rows, while the others are
        learned from, are voted on best; then all are learned from.
    random_state : int, RandomState or None
        Draws the rows held out, and serves "pca" where few of many directions are asked for.
    verbose : int, default=0
        1 prints a line for every iteration.
    n_jobs : int or None
        Threads of the search. Results do not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    classes_ : ndarray of shape (R,)
    n_iter_ : int
    loss_curve_ : list of float
        (1) at the start and after each iteration.
    init_ : str
        The start.
    settings_ : dict of str to list of float
        For each start tried, the held-out scores after each iteration; empty if none was.
    n_skipped_ : int
        Rows that are alone in their class and so have no target.

    Notes
    -----
    Time O(n² p) for a search of all rows, O(p) a pair for the loss and its gradient; memory
    O(n (p + k)) and 8 bytes a pair within reach, at most 160 MB of them. A search is needed only
    at maps that differ too much from the last one searched, which a bound on the change of all
    distances tells; results are those of searching every time.
    Where there are more features than rows, directions no row varies in are mapped to zero.
    Departures from the source: L-BFGS on the factor L instead of projected steps on LᵀL, so that
    the rank can be chosen, and a scaled start; (1) is not convex in L.

    References
    ----------
    Weinberger and Saul, "Distance metric learning for large margin nearest neighbor
    classification", JMLR 10, 2009 [weinberger2009].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import LMNN
    >>> X, y = load_iris(return_X_y=True)
    >>> LMNN(n_components=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        n_components: int | None = None,
        init: str | AnyArray = "auto",
        regularization: float = 0.5,
        max_iter: int = 50,
        tol: float = 1e-5,
        early_stopping: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.init = init
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def learn(self, rows: Rows) -> LinearMaps:
        """Return the map of (1)."""
        self._count_skipped(rows.codes)
        with one_blas_thread():  # or rounding, and with it the result, would depend on threads
            framed = frame_rows(rows)
            components = self._learn(framed)
        return framed.frame.maps(components.astype(rows.X.dtype, copy=False))

    def _learn(self, rows: FramedRows) -> FloatArray:
        starts = self._starts(rows)
        options = self._options(rows, starts[0])
        self.settings_: dict[str, list[float]] = {}
        if self.early_stopping or len(starts) > 1:
            choice = choose_by_votes(
                rows,
                starts,
                lambda part, init, listener: learn_margins(
                    part, replace(options, init=init), lambda *told: listener(*told[:3])
                )[0],
                n_neighbors=options.n_neighbors,
                seed=options.seed,
                n_threads=options.n_threads,
            )
            n_iter = choice.n_iter if self.early_stopping else None
            options = replace(options, init=choice.setting, max_iter=n_iter or options.max_iter)
            self.settings_ = choice.tried
        init = options.init
        self.init_ = init.label() if isinstance(init, Start) else "array"
        iterations = Iterations("LMNN", self.verbose, options.max_iter)

        def listener(iteration: int, loss: float, components: FloatArray, n_active: int) -> bool:
            iterations.tell(iteration, loss, f", {n_active:,} margins broken")
            return False

        components, self.loss_curve_ = learn_margins(rows, options, listener)
        self.n_iter_ = max(1, len(self.loss_curve_) - 1)
        return components

    def _starts(self, rows: FramedRows) -> list[Start | FloatArray]:
        """Return the starts to try."""
        d, width = len(rows.frame.scale), rows.X.shape[1]
        if not isinstance(self.init, str):
            return [rows.frame.unfold(check_map(self.init, d, self.n_components))]
        check_choice("init", self.init, ("auto", *INITS))
        check_components(self.n_components, d)
        p = min(self.n_components or (width if width <= WIDE else FEW), width)
        if self.init != "auto":
            return [Start(self.init, p)]
        return [Start("identity" if p == width else "pca", p), Start("lda", p)]

    def _options(self, rows: FramedRows, init: Start | FloatArray) -> MarginOptions:
        check_choice("early_stopping", self.early_stopping, (True, False))
        if check_positive("regularization", self.regularization) >= 1:
            raise ValueError(
                f"regularization must lie between 0 and 1, got {self.regularization!r}: it is the "
                "share of the objective that pushes impostors away."
            )
        return MarginOptions(
            n_neighbors=usual_neighbors(self.n_neighbors, rows.n_rows - 1),
            init=init,
            push_weight=float(self.regularization),
            max_iter=check_whole("max_iter", self.max_iter),
            tol=check_positive("tol", self.tol, zero=True),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_threads=thread_count(self.n_jobs),
        )

    def _count_skipped(self, codes: IntArray) -> None:
        counts = np.bincount(codes)
        self.n_skipped_ = int(np.sum(counts == 1))
        if self.n_skipped_ == len(counts):
            raise ValueError(
                "every class has a single row, so no row has a target neighbour to be pulled near; "
                "LMNN needs a class with two rows or more."
            )
        if self.n_skipped_:
            warnings.warn(
                f"{self.n_skipped_} of {len(codes)} rows are alone in their class and have no "
                "target neighbour; they only push. Give these classes more rows, or drop them.",
                UserWarning,
                stacklevel=3,
            )
