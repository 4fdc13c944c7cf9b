"""The regularised objective solved from zero: dual averaging of pushes and pulls.

The minimiser of ½‖W‖²_F + C Σ_i L_i over metrics is W = C Σ_i (push_i − pull_i) at its own sets,
as far as that is a metric. So W is kept at

    W_t = c PSD( Σ_s s (push_s − pull_s) / Σ_s s ),                                        (1)

push and pull being the mean outer products of differences to the rows of ĥ and of h*, of sets
inferred under W_{s−1} for half of the rows, drawn anew each step. Later steps, whose sets are
nearer to the last, count more. No rate is needed, and where LDA or any other start parts its own
training rows, so that every margin holds and nothing is left to learn, (1) still has the
regulariser to learn by. Of many coordinates it is followed along the leading principal
directions, for each step takes an eigendecomposition.
"""

from __future__ import annotations

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.descent import project_to_cone
from vicinal.metric.gerrymander._objective import FactoredObjective, differences, metric_gradient
from vicinal.metric.starts import principal_map

# Steps, the share of the rows whose sets each of them infers, and steps between searches.
STEPS, PARTS, REFRESH = 24, 2, 12
# Directions at most: the projections of all steps then take a quarter of a second.
MOST_DIRECTIONS = 300


def average_from_zero(
    objective: FactoredObjective, plain: FloatArray, strength: float, rng: np.random.Generator
) -> FloatArray:
    """Return L (p, r) of (1).

    Parameters
    ----------
    objective : FactoredObjective
        Whose rows, classes, costs and weights count.
    plain : ndarray of shape (r, r)
        A multiple of the identity at which about half of the rows have something to teach: the
        first sets are those it infers, and c is ``strength`` times its squared norm.
    strength : float
    rng : numpy Generator
    """
    X, n, basis = objective.X, objective.X.shape[0], None
    if X.shape[1] > MOST_DIRECTIONS:
        basis = principal_map(X, MOST_DIRECTIONS, rng)
        X = X @ basis.T
    width = X.shape[1]
    batch, order = max(16, -(-n // PARTS)), np.empty(0, np.int64)
    total, weight, first = np.zeros((width, width)), 0.0, 0.0
    components, unit = plain, float(np.sqrt(width) * np.square(plain).sum() / plain.shape[1])
    for step in range(1, STEPS + 1):
        if len(order) < batch:
            order = np.concatenate([order, rng.permutation(n)])
        rows, order = order[:batch], order[batch:]
        if step % REFRESH == 0 and step < STEPS:
            objective.look(components, 4 * (step // REFRESH))
        gradient = _gradient(objective, X, components, rows)
        first = first or float(np.linalg.norm(gradient))
        total -= step * gradient
        weight += step
        if first > 0:
            components = project_to_cone(total * (strength * unit / first / weight))[1]
            components = components if basis is None else components @ basis
            components = components.astype(plain.dtype)
    return components


def _gradient(
    objective: FactoredObjective, X: AnyArray, components: FloatArray, rows: IntArray
) -> FloatArray:
    """Return the gradient by W, a metric of X, of the mean loss of some rows; sets by a map."""
    sets = objective.infer(components, rows)
    everything = slice(0, len(rows))
    queries, points, signs = sets.pairs(everything)
    weights, _ = objective.weigh(sets, everything, queries, signs)
    gaps = differences(X, queries, points)
    return metric_gradient(gaps, weights).astype(np.float64)
