"""The large-margin objective of fixed target neighbours, with its gradient, and its descent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vicinal._kernels._forces import add_forces
from vicinal._kernels._lmnn import push, target_squared_distances
from vicinal._types import FloatArray, IntArray
from vicinal.index import ExactIndex, without_itself
from vicinal.metric.candidates import ClassOrder, order_by_class
from vicinal.metric.descent import FramedRows, minimise
from vicinal.metric.starts import Start, start_for
from vicinal.rivals._impostors import ImpostorSearch

# Pairs kept between evaluations, eight bytes each; beyond, every evaluation searches anew.
MOST_PAIRS = 2 * 10**7


@dataclass(frozen=True)
class MarginOptions:
    """What :class:`~vicinal.LMNN` was told, checked; ``init`` is a start or a map of the rows."""

    n_neighbors: int
    init: Start | FloatArray
    push_weight: float
    max_iter: int
    tol: float
    seed: int
    n_threads: int


def target_neighbors(mapped: FloatArray, classes: ClassOrder, k: int, n_jobs: int = 1) -> IntArray:
    """Return each row's k nearest rows of its own class, (n, k); −1 where the class has no more.

    Rows are in order of class; equal distances by lower row.
    """
    targets = np.full((len(mapped), k), -1, np.int32)
    for first in np.unique(classes.start):
        last = int(classes.stop[first])
        n_found = min(k, last - first - 1)
        if n_found == 0:
            continue
        members = np.ascontiguousarray(mapped[first:last])
        near = ExactIndex(members, n_jobs=n_jobs).query(members, n_found + 1)
        nearest = without_itself(*near, np.arange(len(members)))[1]
        targets[first:last, :n_found] = first + nearest
    return targets


def pull(mapped: FloatArray, targets: IntArray, weights: FloatArray, forces: FloatArray) -> None:
    """Add half the derivative by z of Σ w_ia ‖z_i − z_j‖² over the targets (n, k) of every row."""
    queries = np.repeat(np.arange(len(mapped), dtype=np.int32), targets.shape[1])
    strengths = np.where(targets >= 0, weights, 0.0).reshape(-1)
    add_forces(mapped, mapped, queries, targets.reshape(-1), strengths, forces, forces)


class LargeMarginObjective:
    """The mean over rows of what pulls targets near and pushes impostors away.

    With targets j of row i and rows l of other classes, z = L x and D_ij = ‖z_i − z_j‖²,

        f(L) = (1/n) Σ_i Σ_j [ (1 − μ) D_ij + μ Σ_l (1 + D_ij − D_il)₊ ].            (1)

    Its gradient is a sum of w_ij (z_i − z_j)(x_i − x_j)ᵀ over pairs, that is 2 Fᵀ X with
    F_i = Σ_j w_ij (z_i − z_j) gathered pair by pair: the product of a graph's Laplacian, never
    formed, with the mapped rows.

    Parameters
    ----------
    X : float64 ndarray of shape (n, d)
        Rows in order of class, about their mean.
    targets : int32 ndarray of shape (n, k)
    search : ImpostorSearch
        Over the same rows.
    push_weight : float
        μ.
    """

    def __init__(
        self, X: FloatArray, targets: IntArray, search: ImpostorSearch, push_weight: float
    ) -> None:
        self.X, self.targets, self.search = X, targets, search
        self.push_weight = push_weight
        self.n_active = 0

    def __call__(self, components: FloatArray) -> tuple[float, FloatArray]:
        """Return f(L) and its gradient (p, d) at L (p, d)."""
        mapped = self.X @ components.T
        squared_distances = np.empty(self.targets.shape)
        target_squared_distances(mapped, self.targets, squared_distances)
        active, forces = np.zeros(self.targets.shape), np.zeros_like(mapped)
        pushed = self._push(components, mapped, 1.0 + squared_distances, active, forces)
        mu = self.push_weight
        forces *= mu
        pull(mapped, self.targets, (1 - mu) + mu * active, forces)
        pulled = squared_distances[self.targets >= 0].sum()
        self.n_active = int(active.sum())
        n = len(self.X)
        return ((1 - mu) * pulled + mu * pushed) / n, (2 / n) * forces.T @ self.X

    def _push(
        self,
        components: FloatArray,
        mapped: FloatArray,
        margins: FloatArray,
        active: FloatArray,
        forces: FloatArray,
    ) -> float:
        parts = self.search.near_pairs(components, mapped, margins.max(axis=1))
        return sum(
            push(mapped, pairs, left_out, margins, active, forces) for pairs, left_out in parts
        )


def learn_margins(
    rows: FramedRows,
    options: MarginOptions,
    listener: Callable[[int, float, FloatArray, int], bool],
) -> tuple[FloatArray, list[float]]:
    """Return the map L (p, r) of labelled rows and the losses at the start and each iteration.

    The listener is told of every iteration, and how many terms of the push are above zero.
    """
    classes = order_by_class(rows.codes)
    X, init = rows.X[classes.order], options.init
    start = start_for(rows, init, options.seed) if isinstance(init, Start) else init
    k = min(options.n_neighbors, rows.n_rows - 1)
    targets = target_neighbors(X @ start.T, classes, k, options.n_threads)
    if isinstance(init, Start):
        start = scale_to_targets(start, X, targets)
    search = ImpostorSearch(X, classes, most_pairs=MOST_PAIRS, n_threads=options.n_threads)
    objective = LargeMarginObjective(X, targets, search, options.push_weight)
    return minimise(
        objective,
        start,
        max_iter=options.max_iter,
        tol=options.tol,
        listener=lambda i, loss, map_: listener(i, loss, map_, objective.n_active),
    )


def scale_to_targets(start: FloatArray, rows: FloatArray, targets: IntArray) -> FloatArray:
    """Return L such that the median squared distance to the last target is 1, the margin."""
    squared_distances = np.empty(targets.shape)
    target_squared_distances(rows @ start.T, targets, squared_distances)
    farthest = squared_distances.max(axis=1)
    farthest = farthest[farthest > 0]
    return start / np.sqrt(np.median(farthest)) if len(farthest) else start
