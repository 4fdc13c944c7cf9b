"""Checks of what MLNG is told, each with the value and the way out in its message."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_auto, check_choice, check_whole
from vicinal.metric.candidates._search import SEARCHES, require_faiss
from vicinal.metric.gerrymander._objective import REGULARIZERS
from vicinal.metric.gerrymander._records import FEW_ROWS, PARTED_ROWS

INITS = (
    "auto", "identity", "standardised", "whitening", "pca", "lda", "logistic", "relieff", "zeros",
)  # fmt: skip
SOLVERS = ("factored", "psd")


def check_costs(costs: Any, classes: AnyArray) -> FloatArray:
    """Return costs (R, R), 0/1 by default, scaled to mean 1 off the diagonal.

    The scale of costs and the scale of distances are one freedom; fixing it here keeps the margin
    at the size the start is scaled to.
    """
    n_classes = len(classes)
    if costs is None:
        return 1.0 - np.eye(n_classes)
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs must have shape ({n_classes}, {n_classes}), one row and column a class in the "
            f"order of the sorted labels; got {matrix.shape}."
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError(f"costs must be finite and not negative; the least is {matrix.min()}.")
    if np.diag(matrix).any():
        raise ValueError("costs must be zero on the diagonal: a right vote costs nothing.")
    if not matrix.any():
        raise ValueError("costs are all zero: no vote would be wrong.")
    scaled: FloatArray = matrix / (matrix.sum() / (n_classes * (n_classes - 1)))
    return scaled


def check_candidates(n_candidates: Any, n_rows: int) -> int | None:
    """Return how many other-class candidates to keep: None for "auto", n for "all"."""
    if isinstance(n_candidates, str) and n_candidates == "all":
        return n_rows
    checked: int | None = check_auto("n_candidates", n_candidates, check_whole)
    return checked


def check_epochs(max_iter: Any, n_rows: int) -> int:
    """Return the number of epochs; "auto" walks more of them over few rows and over very many."""
    epochs = check_auto("max_iter", max_iter, check_whole)
    return int(epochs or (8 if FEW_ROWS <= n_rows <= PARTED_ROWS[1] else 12))


def check_search(search: Any) -> None:
    """Refuse an unknown search, or one whose library is missing."""
    check_choice("candidate_search", search, SEARCHES)
    if search == "faiss":
        require_faiss()


def check_init(init: Any, solver: str, n_features: int) -> Any:
    """Return the init as a known name or an array (p, n_features)."""
    if isinstance(init, str):
        check_choice("init", init, INITS)
        if init == "zeros" and solver != "psd":
            raise ValueError(
                "init='zeros' needs solver='psd': at L = 0 the gradient of LᵀL vanishes."
            )
        return init
    array = np.asarray(init, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n_features or not np.isfinite(array).all():
        raise ValueError(
            f"init must be a name or a finite array of shape (n_components, {n_features}), "
            f"got shape {array.shape}."
        )
    return array


def check_regularizer(regularizer: Any) -> None:
    """Refuse an unknown regulariser."""
    check_choice("regularizer", regularizer, (None, *REGULARIZERS))


def choose_training_neighbors(codes: IntArray, n_neighbors: int) -> int:
    """Return the k to learn with: 7 where k is less and the classes are large enough, else k.

    A vote of three says little about a row; sets of seven average over more of its surroundings
    and carry over to the smaller vote. Of many rows they serve larger votes as well, sooner.
    """
    if n_neighbors > 7 and PARTED_ROWS[0] < len(codes) <= PARTED_ROWS[1]:
        return 7
    skipped = count_infeasible(codes, n_neighbors)
    larger = [k for k in (7, 5) if n_neighbors < k < len(codes)]
    return next((k for k in larger if count_infeasible(codes, k) == skipped), n_neighbors)


def count_infeasible(codes: IntArray, n_neighbors: int) -> int:
    """Return how many rows no set of k other rows can vote for without a tie.

    With n' other rows of the own class and n_c of class c, k' ≤ n' own rows and at most k'−1 of
    each other class must fill k places; more own rows only help, so k' = min(n', k) decides.
    """
    counts = np.bincount(codes)
    infeasible = 0
    for r, count in enumerate(counts):
        own = min(count - 1, n_neighbors)
        others = np.minimum(np.delete(counts, r), max(own - 1, 0)).sum()
        if count and (own < 1 or own + others < n_neighbors):
            infeasible += int(count)
    return infeasible
