"""Voting sets by exhaustive search: every k-subset is looked at, nothing is assumed about them."""

from __future__ import annotations

import itertools
import math
from collections import Counter


def subsets(distances, k):
    """Yield every set of k points at a finite distance."""
    usable = [j for j, distance in enumerate(distances) if math.isfinite(distance)]
    yield from itertools.combinations(usable, k)


def winners(points, labels):
    """Return the classes with the most votes."""
    votes = Counter(int(labels[j]) for j in points)
    most = max(votes.values())
    return {r for r, count in votes.items() if count == most}


def wins(points, labels, target, *, ties):
    """Return whether ``target`` has the most votes, alone unless ties will do."""
    first = winners(points, labels)
    return target in first and (ties or len(first) == 1)


def total(points, distances):
    """Return the sum of distances, rounded once."""
    return math.fsum(float(distances[j]) for j in points)


def least_total(distances, labels, target, k, *, ties):
    """Return the least total of a set that votes for ``target``, or None."""
    totals = (
        total(points, distances)
        for points in subsets(distances, k)
        if wins(points, labels, target, ties=ties)
    )
    return min(totals, default=None)


def largest_value(distances, labels, target, k, costs):
    """Return the largest cost − total of any set, a tied vote costing what its worst costs."""
    values = (
        max(float(costs[target][r]) for r in winners(points, labels)) - total(points, distances)
        for points in subsets(distances, k)
    )
    return max(values, default=None)


def nearest_vote(distances, labels, k):
    """Return the vote of the k nearest (equal distances: lower index), tied votes to the nearest.

    None where fewer than k points may be used.
    """
    usable = [j for j, distance in enumerate(distances) if math.isfinite(distance)]
    if len(usable) < k:
        return None
    nearest = sorted(usable, key=lambda j: (distances[j], j))[:k]
    first = winners(nearest, labels)
    return next(int(labels[j]) for j in nearest if int(labels[j]) in first)


def printed_greedy(distances, labels, target, k, n_classes):
    """Return the total of the published greedy choice, ties forbidden.

    The ⌈(k + R − 1)/R⌉ nearest of the target, then always the nearest point that is of the target
    or of a class with fewer than (target's count − 1) points so far.
    """
    order = sorted(range(len(distances)), key=lambda j: (distances[j], j))
    fewest = -(-(k + n_classes - 1) // n_classes)
    chosen = [j for j in order if labels[j] == target][:fewest]
    while len(chosen) < k:
        votes = Counter(labels[j] for j in chosen)
        chosen.append(
            next(
                j
                for j in order
                if j not in chosen and (labels[j] == target or votes[labels[j]] < votes[target] - 1)
            )
        )
    return total(chosen, distances)
