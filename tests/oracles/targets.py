"""Neighbour sets for a numeric target by exhaustive search over all k-subsets."""

from __future__ import annotations

import itertools
import math


def subsets(distances, k):
    """Yield every set of k points at a finite distance."""
    usable = [j for j, distance in enumerate(distances) if math.isfinite(distance)]
    yield from itertools.combinations(usable, k)


def total(points, distances):
    """Return the sum of a set's distances."""
    return math.fsum(float(distances[j]) for j in points)


def mean_error(points, targets, wanted):
    """Return (y − mean_h y_j)²."""
    return (wanted - math.fsum(targets[j] for j in points) / len(points)) ** 2


def error_mean(points, targets, wanted):
    """Return mean_h (y − y_j)²."""
    return math.fsum((wanted - targets[j]) ** 2 for j in points) / len(points)


def least(distances, targets, wanted, k, weight, cost):
    """Return the least Σ_h D + weight · cost(h) of any set, or None."""
    values = (
        total(points, distances) + weight * cost(points, targets, wanted)
        for points in subsets(distances, k)
    )
    return min(values, default=None)


def least_within(distances, targets, wanted, k, epsilon):
    """Return the least Σ_h D of the sets with (y − mean_h y)² ≤ ε, or None."""
    sets = (p for p in subsets(distances, k) if mean_error(p, targets, wanted) <= epsilon)
    return min((total(points, distances) for points in sets), default=None)
