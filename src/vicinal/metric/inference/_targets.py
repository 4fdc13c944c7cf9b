"""Both sets of a numeric target: those whose mean is right, and those whose mean is far off.

For a query with target y, Δ(h) = (y − mean_h y_j)² is the squared error of a set's mean and
Δ̂(h) = mean_h (y − y_j)² ≥ Δ(h) a bound of it. With γ > 0

    h* = argmin_h Σ_h D + γ Δ̂(h),      ĥ = argmin_h Σ_h D − γ Δ̂(h),
    L  = [Σ_{h*} D + γ Δ̂(h*)] − [Σ_ĥ D − γ Δ̂(ĥ)]  ≥  γ Δ̂(k nearest)  ≥  γ Δ(k nearest),

and both sets are sorted sums: the k least D ± (γ/k)(y − y_j)². With Δ itself, h* is a hard problem,
searched by exchanges from the sets of Δ̂; ĥ is not: a sweep over slopes meets it.
"""

from __future__ import annotations

import numpy as np

from vicinal._kernels import _target_sets as kernels
from vicinal._kernels import _target_slopes as slopes
from vicinal._kernels._targeted import Inferred, new_inferred
from vicinal._types import FloatArray

TARGET_SETS = ("bound", "epsilon", "nearest-target", "swaps", "sampled")
_RULES = {"nearest-target": kernels.NEAREST}
# Steps of the random walk for every place of a set and every point: several visits to each.
STEPS = 8


def target_sets(
    squared_distances: FloatArray,
    targets: FloatArray,
    values: FloatArray,
    n_neighbors: int,
    unit: float,
    *,
    sets: str = "bound",
    epsilon: float = 0.0,
    seed: int = 0,
) -> Inferred:
    """Infer h* and ĥ of every query of a block.

    Parameters
    ----------
    squared_distances : ndarray of shape (m, n)
        ``inf`` marks a point that may not be used.
    targets, values : ndarray of shape (m,); (n,) or (m, n)
        Targets of queries and of points.
    n_neighbors : int
        k.
    unit : float
        c = γ/k.
    sets : {"bound", "epsilon", "nearest-target", "swaps", "sampled"}
        "bound" is Δ̂. "epsilon" has h* the nearest of the sets with Δ(h) ≤ ``epsilon``;
        "nearest-target" the k points of nearest targets; ĥ as before. "swaps" and "sampled" have Δ
        itself: h* by local search or by a cooling random walk, ĥ exactly.
    epsilon : float
    seed : int
        Of the random walk.

    Returns
    -------
    Inferred
        Positions in each row, −1 where there are too few points, and the loss. ``voted`` is unused.

    Notes
    -----
    Time O(m n) for sorted sums, O(m n k) an exchange for "swaps" and a set that ĥ's sweep meets,
    O(m n k²) for "sampled". "epsilon" is exact where 20,000 changes of the set that a multiplier
    gives settle it, which few rows need; else the nearest set met.
    """
    inferred = new_inferred(len(targets), n_neighbors)
    inferred.voted[:] = 0
    points = np.broadcast_to(values, squared_distances.shape)
    rule = _RULES.get(sets, kernels.BOUND)
    kernels.sets_by_bound(
        squared_distances, targets, points, unit, rule, inferred.star, inferred.hat, inferred.loss
    )
    if sets == "epsilon":
        _take_nearest_within(squared_distances, targets, points, unit, epsilon, inferred)
    elif sets in ("swaps", "sampled"):
        gamma = unit * n_neighbors
        _search_true_cost(squared_distances, targets, points, gamma, inferred, sets, seed)
    return inferred


def _take_nearest_within(
    squared_distances: FloatArray,
    targets: FloatArray,
    values: FloatArray,
    unit: float,
    epsilon: float,
    inferred: Inferred,
) -> None:
    """Replace h* by the nearest set whose mean is within √ε, in place; the loss has Σ_{h*} D."""
    slopes.near_within(squared_distances, targets, values, epsilon, inferred.star)
    none = inferred.star[:, 0] < 0
    inferred.hat[none], inferred.loss[none] = -1, 0.0
    rows = np.flatnonzero(~none)[:, None]
    star, hat = inferred.star[rows[:, 0]], inferred.hat[rows[:, 0]]
    feared = squared_distances[rows, hat] - unit * (targets[rows] - values[rows, hat]) ** 2
    near = squared_distances[rows, star].sum(axis=1, dtype=np.float64)
    inferred.loss[rows[:, 0]] = near - feared.sum(axis=1)


def _search_true_cost(
    squared_distances: FloatArray,
    targets: FloatArray,
    values: FloatArray,
    gamma: float,
    inferred: Inferred,
    sets: str,
    seed: int,
) -> None:
    """Better h* by the true cost, and find ĥ of it, in place."""
    m, k = inferred.star.shape
    near, far = np.empty(m), np.empty(m)
    slopes.far_means(squared_distances, targets, values, gamma, inferred.hat, far)
    if sets == "sampled":
        chances = np.random.default_rng([seed, 0]).random((STEPS * k * values.shape[1], 3))
        kernels.metropolis(squared_distances, targets, values, gamma, chances, inferred.star, near)
    else:
        kernels.swap_search(squared_distances, targets, values, gamma, inferred.star, near)
    inferred.loss[:] = np.where(inferred.star[:, 0] < 0, 0.0, near - far)
