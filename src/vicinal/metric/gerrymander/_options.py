"""What MLNG was told, checked, each refusal with the value and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from vicinal._threads import thread_count
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import (
    check_auto,
    check_choice,
    check_components,
    check_positive,
    check_whole,
)
from vicinal.index import import_faiss
from vicinal.metric.candidates import SEARCHES, choose_search
from vicinal.metric.starts import STARTS, check_map
from vicinal.rows import usual_neighbors

SOLVERS = ("factored", "psd")


@dataclass(frozen=True)
class MLNGOptions:
    """Everything the learner was told; None is what it chooses on inner splits.

    ``init`` is "auto", a name or a map (p, d) of the features; ``search`` how candidates are
    found, "all" being every row.
    """

    n_neighbors: int
    n_components: int | None
    solver: str
    init: Any
    regularizer: str | None
    regularization: float | None
    costs: FloatArray
    learning_rate: float | None
    max_iter: int
    tol: float
    search: str
    n_threads: int
    seed: int


def check_options(
    learner: Any, X: AnyArray, costs: FloatArray, warm: FloatArray | None
) -> MLNGOptions:
    """Return the options of an estimator for the rows X; ``warm`` is a map to go on from."""
    n_rows, width = X.shape
    check_choice("solver", learner.solver, SOLVERS)
    check_choice("regularizer", learner.regularizer, (None, *learner._regularizers))
    check_choice("candidates", learner.candidates, ("auto", "all", *SEARCHES))
    if learner.candidates == "faiss":
        import_faiss("candidates='faiss'")
    n_components = check_components(learner.n_components, width)
    return MLNGOptions(
        n_neighbors=usual_neighbors(learner.n_neighbors, n_rows - 1),
        n_components=n_components,
        solver=learner.solver,
        init=check_init(learner, width) if warm is None else check_warm(warm, width, n_components),
        regularizer=learner.regularizer,
        regularization=check_auto("regularization", learner.regularization, check_positive),
        costs=scale_costs(costs),
        learning_rate=check_auto("learning_rate", learner.learning_rate, check_positive),
        max_iter=check_whole("max_iter", learner.max_iter),
        tol=check_positive("tol", learner.tol, zero=True),
        search=choose_search(n_rows) if learner.candidates == "auto" else learner.candidates,
        n_threads=thread_count(learner.n_jobs),
        seed=int(check_random_state(learner.random_state).randint(2**31 - 1)),
    )


def check_init(learner: Any, width: int, names: tuple[str, ...] = ("zeros", *STARTS)) -> Any:
    """Return the init as "auto", a known name or an array (p, width)."""
    init = learner.init
    if isinstance(init, str):
        check_choice("init", init, ("auto", *names))
        return init
    return check_map(init, width, learner.n_components)


def check_warm(components: FloatArray, width: int, n_components: int | None) -> FloatArray:
    """Return the present map to go on from; refuse one of other features or with too many rows.

    It may have fewer rows than were asked for: those that its rows or a projection left.
    """
    if components.shape[-1] != width:
        raise ValueError(
            f"warm_start goes on from a map of {components.shape[-1]} features, and X has {width}; "
            "give rows with as many, or fit a new estimator."
        )
    n_rows = components.shape[-2]
    if n_components is not None and n_rows > n_components:
        raise ValueError(
            f"the present map has {n_rows} rows and n_components={n_components}; ask for "
            f"{n_rows}, or fit a new estimator."
        )
    return components


def scale_costs(costs: FloatArray) -> FloatArray:
    """Return costs with mean 1 off the diagonal.

    The scale of costs and the scale of distances are one freedom; fixing it here keeps the margin
    at the size the start is scaled to.
    """
    if not costs.any():
        raise ValueError(
            "costs are all zero between the classes of these rows, so that no vote is wrong; give "
            "some of them a cost above zero."
        )
    n_classes = len(costs)
    scaled: FloatArray = costs / (costs.sum() / (n_classes * (n_classes - 1)))
    return scaled


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
