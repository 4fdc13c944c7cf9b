"""The source's descent in the words of its text: full W, every set of k rows looked at.

    W ← PSD( W − η_t [W + C n (∂S-part)] ),   η_t = 1/(t + 1), one row a step.

Nothing is shared between steps and nothing is updated in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.oracles import voting


def project(matrix):
    """Return the matrix without its negative eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def exhaustive_sets(distances, labels, target, k, costs):
    """Return h* and ĥ by looking at every set, and the loss; None where h* does not exist."""
    best_star: tuple[float, Any] = (np.inf, None)
    best_hat: tuple[float, Any] = (-np.inf, None)
    for points in voting.subsets(distances, k):
        total = voting.total(points, distances)
        if voting.wins(points, labels, target, ties=False) and total < best_star[0]:
            best_star = total, points
        value = max(float(costs[target][r]) for r in voting.winners(points, labels)) - total
        if value > best_hat[0]:
            best_hat = value, points
    if best_star[1] is None:
        return None
    return best_star[1], best_hat[1], best_hat[0] + best_star[0]


def greedy_sets(distances, labels, target, k, costs):
    """Return the sets of the printed greedy algorithms, ties forbidden in h* alone."""
    n_classes = len(costs)
    star = greedy(distances, labels, target, k, n_classes, 1)
    if star is None:
        return None
    best: Any = None
    for r in [target, *(r for r in range(n_classes) if r != target)]:
        points = greedy(distances, labels, r, k, n_classes, 0)
        if points is None:
            continue
        value = float(costs[target][r]) - voting.total(points, distances)
        if best is None or value > best[0]:
            best = value, points
    return star, best[1], best[0] + voting.total(star, distances)


def greedy(distances, labels, target, k, n_classes, forbid):
    """Return the printed greedy choice for a target class, None where it comes to no end."""
    order = [j for j in np.argsort(distances, kind="stable") if np.isfinite(distances[j])]
    fewest = -(-(k + forbid * (n_classes - 1)) // n_classes)
    chosen = [j for j in order if labels[j] == target][:fewest]
    if len(chosen) < fewest:
        return None
    while len(chosen) < k:
        count = {r: sum(labels[j] == r for j in chosen) for r in range(n_classes)}
        allowed = [
            j
            for j in order
            if j not in chosen
            and (labels[j] == target or count[labels[j]] < count[target] - forbid)
        ]
        if not allowed:
            return None
        chosen.append(allowed[0])
    return tuple(chosen)


def distances_of(W, X, i):
    """Return the squared distances of row i to all rows, inf to itself."""
    gaps = X - X[i]
    squared = np.einsum("ij,jk,ik->i", gaps, W, gaps)
    squared[i] = np.inf
    return squared


def slope(X, i, star, hat):
    """Return ∂L_i/∂W: what h* pulls less what ĥ pushes."""
    pulls, pushes = X[list(star)] - X[i], X[list(hat)] - X[i]
    return pulls.T @ pulls - pushes.T @ pushes


def descend(X, y, order, k, C, start, *, costs, sets=exhaustive_sets):
    """Return W after every step over rows in the given order, and the loss before each."""
    W, path, losses = start.copy(), [], []
    for t, i in enumerate(order, 1):
        inferred = sets(distances_of(W, X, i), y, y[i], k, costs)
        gradient, loss = np.zeros_like(W), 0.0
        if inferred is not None:
            star, hat, loss = inferred
            if loss > 0:
                gradient = slope(X, i, star, hat)
        W = project(W - (W + C * len(X) * gradient) / (t + 1))
        path.append(W)
        losses.append(loss)
    return path, losses
