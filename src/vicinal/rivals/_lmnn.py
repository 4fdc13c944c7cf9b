"""Large margin nearest neighbours: target neighbours pulled near, impostors pushed away."""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags, check_random_state

from vicinal._threads import one_blas_thread, thread_count
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_at_least_two_classes,
    check_choice,
    check_classification_input,
    check_neighbors,
    check_positive,
    check_whole,
)
from vicinal.metric._base import MetricLearner
from vicinal.metric.descent._frame import Frame
from vicinal.rivals._large_margin_fit import (
    INITS,
    MarginOptions,
    Step,
    check_map,
    choose_max_iter,
    learn_margins,
)

# With fewer rows a direction than this, all margins can be met without learning anything.
ROWS_A_DIRECTION = 10


class LMNN(MetricLearner):
    """Pull every row's target neighbours near and push rows of other classes out of their reach.

    The targets of row i are its k nearest rows of its own class under the start. With
    D_ij = ‖L x_i − L x_j‖², targets j of row i and rows l of other classes,

        minimise over L   (1/n) Σ_i Σ_j [ (1 − μ) D_ij + μ Σ_l (1 + D_ij − D_il)₊ ]       (1)

    by L-BFGS. All rows l that matter ("impostors") are found at every evaluation.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets k of a row; fewer where its class has no more.
    n_components : int or None
        Rows of L, at most as many as there are features or directions the rows span. None is
        all of those up to 1000, and 100 where there are more.
    init : "auto", "identity", "pca", "lda" or ndarray of shape (n_components, n_features)
        The start, which also chooses the targets: "identity" takes the features as they are, "pca"
        their first principal directions, "lda" whitens within the classes. "auto" is
        "identity", or "pca" where ``n_components`` is less than the features. A named start is
        scaled so that the median squared distance to the last target is 1, the size of the
        margin; an array is taken as it is, for instance the map of an earlier fit, to choose the
        targets anew.
    regularization : float, default=0.5
        μ, between 0 and 1: how much pushing counts against pulling.
    max_iter : int, default=50
    tol : float, default=1e-5
        Stop when an iteration lessens (1) by no more than this share of it.
    early_stopping : bool or "auto"
        Whether to end after the number of iterations at which held-out rows, while the others are
        learned from, are voted on best. "auto" does so where there are fewer than ten rows a
        feature (or direction the rows span): then every margin can be met by heart.
    validation_fraction : float, default=0.25
        The share of rows held out for that; then all are learned from.
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
    inner_scores_ : list of float
        Held-out scores after each iteration where it stops early; else empty.
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
        n_neighbors: int = 3,
        *,
        n_components: int | None = None,
        init: str | AnyArray = "auto",
        regularization: float = 0.5,
        max_iter: int = 50,
        tol: float = 1e-5,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.25,
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
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: AnyArray, y: AnyArray) -> LMNN:
        """Minimise (1).

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        """
        X, self.classes_, codes = check_classification_input(self, X, y)
        check_at_least_two_classes(self, self.classes_)
        frame = plain_frame(X)
        options = self._options(X, frame)
        self._count_skipped(codes)
        rows = frame.enter(X.astype(np.float64, copy=False))
        with one_blas_thread():  # or rounding, and with it the result, would depend on threads
            components = self._learn(rows, codes, options)
        self.components_ = frame.fold(components).astype(X.dtype, copy=False)
        return self

    def _learn(self, rows: FloatArray, codes: IntArray, options: MarginOptions) -> FloatArray:
        began = time.monotonic()
        self.inner_scores_: list[float] = []
        if self._stops_early(rows):
            share = check_positive("validation_fraction", self.validation_fraction)
            best, self.inner_scores_ = choose_max_iter(rows, codes, options, share)
            options = replace(options, max_iter=best)
            began = time.monotonic()

        def watch(step: Step) -> bool:
            if self.verbose:
                left = (time.monotonic() - began) / step.iteration
                self._print(step, options.max_iter, left * (options.max_iter - step.iteration))
            return False

        components, self.loss_curve_ = learn_margins(rows, codes, options, watch)
        self.n_iter_ = max(1, len(self.loss_curve_) - 1)
        return components

    def _stops_early(self, rows: FloatArray) -> bool:
        if self.early_stopping == "auto":
            return len(rows) < ROWS_A_DIRECTION * rows.shape[1] and len(rows) >= 20
        return bool(self.early_stopping)

    def _options(self, X: AnyArray, frame: Frame) -> MarginOptions:
        init = self.init
        if isinstance(init, str):
            check_choice("init", init, INITS)
        else:
            init = frame.unfold(check_map(init, X.shape[1]))
        check_choice("early_stopping", self.early_stopping, ("auto", True, False))
        if check_positive("validation_fraction", self.validation_fraction) >= 1:
            raise ValueError(f"validation_fraction must be below 1: {self.validation_fraction!r}.")
        if check_positive("regularization", self.regularization) >= 1:
            raise ValueError(
                f"regularization must lie between 0 and 1, got {self.regularization!r}: it is the "
                "share of the objective that pushes impostors away."
            )
        if self.n_components is not None:
            check_whole("n_components", self.n_components)
        return MarginOptions(
            n_neighbors=check_neighbors(self.n_neighbors, len(X) - 1),
            n_components=self.n_components,
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

    def _print(self, step: Step, max_iter: int, seconds_left: float) -> None:
        sys.stdout.write(
            f"[LMNN] iteration {step.iteration} of {max_iter}, loss {step.loss:.4f}, "
            f"{step.n_active:,} margins broken, at most {seconds_left:.0f} s left\n"
        )
        sys.stdout.flush()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def plain_frame(X: FloatArray) -> Frame:
    """Return coordinates about the mean with distances up to one factor those of the features.

    Where there are more features than rows they are those of the rows' span, so that L has no
    more columns than there are rows.
    """
    n, d = X.shape
    centre = X.mean(axis=0, dtype=np.float64)
    centred = X - centre
    size = float(np.abs(centred).max(initial=0.0)) or 1.0
    scale = np.full(d, size)
    if d <= n:
        return Frame(centre, scale)
    _, values, directions = np.linalg.svd(centred / size, full_matrices=False)
    rank = max(1, int(np.sum(values > 1e-10 * values[0])))
    return Frame(centre, scale, np.ascontiguousarray(directions[:rank].T))
