"""The descent on the large-margin objective: where it starts, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from vicinal._kernels._lmnn import target_squared_distances
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.data._protocols import inner_split
from vicinal.metric.candidates._exact import order_by_class
from vicinal.metric.gerrymander._initialisation import (
    discriminant_start,
    principal_start,
    scatter_of,
)
from vicinal.metric.selection._trials import vote_score
from vicinal.rivals._impostors import ImpostorSearch
from vicinal.rivals._large_margin import LargeMarginObjective, target_neighbors

INITS = ("auto", "identity", "pca", "lda")
# Pairs kept between evaluations, eight bytes each; beyond, every evaluation searches anew.
MOST_PAIRS = 2 * 10**7
# Beyond so many directions L would have millions of entries; FEW are then learned.
WIDE, FEW = 1000, 100
# Iterations without a better held-out score after which the search for the best one ends.
PATIENCE = 8


@dataclass(frozen=True)
class MarginOptions:
    """What :class:`~vicinal.LMNN` was told, checked; ``init`` a name or a map of the rows."""

    n_neighbors: int
    n_components: int | None
    init: str | FloatArray
    push_weight: float
    max_iter: int
    tol: float
    seed: int
    n_threads: int


@dataclass(frozen=True)
class Step:
    """Where a descent stands after an iteration; ``n_active`` terms of the push are above zero."""

    iteration: int
    loss: float
    n_active: int
    components: FloatArray


# Told of every step; a true answer stops the descent.
StepWatch = Callable[[Step], bool]


def learn_margins(
    X: FloatArray, codes: IntArray, options: MarginOptions, watch: StepWatch
) -> tuple[FloatArray, list[float]]:
    """Return the map L (p, d) and the losses at the start and after each iteration.

    Parameters
    ----------
    X : float64 ndarray of shape (n, d)
        About its mean.
    codes : int ndarray of shape (n,)
    options : MarginOptions
    watch : callable
    """
    classes = order_by_class(codes)
    rows = X[classes.order]
    start = make_start(rows, classes.codes, options)
    targets = target_neighbors(rows @ start.T, classes, options.n_neighbors, options.n_threads)
    if isinstance(options.init, str):
        start = scale_to_margin(start, rows, targets)
    search = ImpostorSearch(rows, classes, most_pairs=MOST_PAIRS, n_threads=options.n_threads)
    objective = LargeMarginObjective(rows, targets, search, options.push_weight)
    return descend(objective, start, options, watch)


def descend(
    objective: LargeMarginObjective, start: FloatArray, options: MarginOptions, watch: StepWatch
) -> tuple[FloatArray, list[float]]:
    """Return the map L-BFGS ends at, and the losses on its way."""
    losses: list[float] = []

    def evaluate(flat: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = objective(flat.reshape(start.shape))
        if not losses:
            losses.append(loss)
        return loss, gradient.ravel()

    def report(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))
        components = intermediate_result.x.reshape(start.shape)
        if watch(Step(len(losses) - 1, losses[-1], objective.n_active, components)):
            raise StopIteration

    found = minimize(
        evaluate,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={"maxiter": options.max_iter, "ftol": options.tol, "gtol": options.tol},
    )
    components: FloatArray = found.x.reshape(start.shape)
    return components, losses


def choose_max_iter(
    X: FloatArray, codes: IntArray, options: MarginOptions, test_size: float
) -> tuple[int, list[float]]:
    """Return after how many iterations held-out rows are voted on best, and the scores of all.

    A score is the k-NN error plus a quarter of the share of wrong neighbours, the mean over four
    splits of few rows or one of many.
    """
    n_splits = 4 if len(X) < 1500 else 1
    curves = [
        _held_out_curve(X, codes, options, test_size, options.seed + split)
        for split in range(n_splits)
    ]
    longest = max(map(len, curves))
    # A descent that ended stays where it is.
    padded = [curve + curve[-1:] * (longest - len(curve)) for curve in curves if curve]
    if not padded:
        return options.max_iter, []
    scores = np.mean(padded, axis=0)
    return int(np.argmin(scores)) + 1, scores.tolist()


def _held_out_curve(
    X: FloatArray, codes: IntArray, options: MarginOptions, test_size: float, seed: int
) -> list[float]:
    """Return the scores of held-out rows after each iteration of a descent on the others."""
    fold = inner_split(codes, test_size=test_size, seed=seed)
    costs = 1.0 - np.eye(int(codes.max()) + 1)
    scores: list[float] = []

    def score(step: Step) -> bool:
        mapped = np.ascontiguousarray(X @ step.components.T)
        error, share = vote_score(
            mapped[fold.train], mapped[fold.test], codes[fold.train], codes[fold.test],
            options.n_neighbors, costs, n_threads=options.n_threads,
        )  # fmt: skip
        scores.append(error + 0.25 * share)
        return len(scores) - 1 - int(np.argmin(scores)) >= PATIENCE

    k = min(options.n_neighbors, len(fold.train) - 1)
    inner = replace(options, n_neighbors=k, seed=seed)
    learn_margins(X[fold.train], codes[fold.train], inner, score)
    return scores


def make_start(rows: FloatArray, codes: IntArray, options: MarginOptions) -> FloatArray:
    """Return the map an init names, (p, d), not scaled yet; an array as it is."""
    width = rows.shape[1]
    if not isinstance(options.init, str):
        return np.asarray(options.init)
    p = choose_n_components(options.n_components, width)
    name = options.init
    if name == "auto":
        name = "identity" if p == width else "pca"
    if name == "identity":
        return np.eye(p, width)
    if name == "lda":
        return discriminant_start(scatter_of(rows, codes, width), p, 0.1)
    return principal_start(rows, p, np.random.default_rng(options.seed)).astype(np.float64)


def choose_n_components(n_components: int | None, width: int) -> int:
    """Return the rows of L: as asked, else all, or few of very many directions."""
    if n_components is None:
        return width if width <= WIDE else FEW
    return min(n_components, width)


def scale_to_margin(start: FloatArray, rows: FloatArray, targets: IntArray) -> FloatArray:
    """Return L such that the median squared distance to the last target is 1, the margin."""
    squared_distances = np.empty(targets.shape)
    target_squared_distances(rows @ start.T, targets, squared_distances)
    farthest = squared_distances.max(axis=1)
    farthest = farthest[farthest > 0]
    return start / np.sqrt(np.median(farthest)) if len(farthest) else start


def check_map(init: AnyArray, n_features: int) -> FloatArray:
    """Return an array given as a start; refuse other shapes than (p, n_features)."""
    given = np.asarray(init, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != n_features or not np.isfinite(given).all():
        raise ValueError(
            f"init must be one of {', '.join(map(repr, INITS))} or a finite array of shape "
            f"(n_components, {n_features}), got shape {given.shape}."
        )
    return given
