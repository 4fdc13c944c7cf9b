"""Both sets of a numeric target: those whose mean is right, and those whose mean is far off.

For a query with target y, Δ(h) = (y − mean_h y_j)² is the squared error of a set's mean and
Δ̂(h) = mean_h (y − y_j)² ≥ Δ(h) a bound of it. With γ > 0

    h* = argmin_h Σ_h D + γ Δ̂(h),      ĥ = argmin_h Σ_h D − γ Δ̂(h),
    L  = [Σ_{h*} D + γ Δ̂(h*)] − [Σ_ĥ D − γ Δ̂(ĥ)]  ≥  γ Δ̂(k nearest)  ≥  γ Δ(k nearest),

and both sets are sorted sums: the k least D ± (γ/k)(y − y_j)². With Δ itself, h* is a hard problem;
it is searched by exchanges from the sets of Δ̂.
"""

from __future__ import annotations

import numpy as np

from vicinal._kernels import _target_sets as kernels
from vicinal._kernels._targeted import Inferred, new_inferred
from vicinal._types import FloatArray

TARGET_SETS = ("bound", "epsilon", "nearest-target", "swaps", "sampled")
_RULES = {"epsilon": kernels.WITHIN, "nearest-target": kernels.NEAREST}
# Steps of the random walk for every place of a set and every point: several visits to each.
STEPS = 8


def target_sets(
    squared_distances: FloatArray,
    wanted: FloatArray,
    known: FloatArray,
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
    wanted, known : ndarray of shape (m,); (n,) or (m, n)
        Targets of queries and of points.
    n_neighbors : int
        k.
    unit : float
        c = γ/k.
    sets : {"bound", "epsilon", "nearest-target", "swaps", "sampled"}
        "bound" is Δ̂. "epsilon" has h* the k nearest of the points with (y − y_j)² ≤ ``epsilon``;
        "nearest-target" the k of nearest targets; ĥ as before. "swaps" and "sampled" have Δ
        itself, by local search and by a cooling random walk.
    epsilon : float
    seed : int
        Of the random walk.

    Returns
    -------
    Inferred
        Positions in each row, −1 where there are too few points, and the loss. ``voted`` is unused.

    Notes
    -----
    Time O(m n) for sorted sums, O(m n k) an exchange for "swaps", O(m n k²) for "sampled".
    """
    found = new_inferred(len(wanted), n_neighbors)
    found.voted[:] = 0
    points = np.broadcast_to(known, squared_distances.shape)
    rule = _RULES.get(sets, kernels.BOUND)
    kernels.sets_by_bound(
        squared_distances, wanted, points, unit, rule, epsilon, found.star, found.hat, found.loss
    )
    if sets in ("swaps", "sampled"):
        _search_true_cost(squared_distances, wanted, points, unit * n_neighbors, found, sets, seed)
    return found


def _search_true_cost(
    squared_distances: FloatArray,
    wanted: FloatArray,
    known: FloatArray,
    gamma: float,
    found: Inferred,
    sets: str,
    seed: int,
) -> None:
    """Better both sets by the true cost, in place."""
    m, k = found.star.shape
    values = np.empty((2, m))
    for side, (chosen, weight) in enumerate(((found.star, gamma), (found.hat, -gamma))):
        if sets == "sampled":
            n_steps = STEPS * k * squared_distances.shape[1]
            chances = np.random.default_rng([seed, side]).random((n_steps, 3))
            kernels.metropolis(
                squared_distances, wanted, known, weight, chances, chosen, values[side]
            )
        else:
            kernels.swap_search(squared_distances, wanted, known, weight, chosen, values[side])
    # A search may end above the other set's cost; a loss is not negative all the same.
    np.maximum(values[0] - values[1], 0.0, out=found.loss)
