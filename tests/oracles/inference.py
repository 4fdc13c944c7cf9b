"""Exact inference and votes in slow and readable NumPy: the explanation of the kernels.

Same names, same rule, same order of summation, hence the same bits. The readable sweep over k'
is :func:`best_voting_set`; all of inference is built from it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

FloatArray = np.ndarray[Any, Any]
IntArray = np.ndarray[Any, Any]
# Classes whose totals differ by no more than this share tie.
TIE = 1e-12


class VotingSet(NamedTuple):
    indices: IntArray
    total: float


class ViolatingSet(NamedTuple):
    indices: IntArray
    total: float
    voted: int
    value: float


def best_voting_set(
    squared_distances: FloatArray,
    labels: IntArray,
    target: int,
    n_neighbors: int,
    *,
    ties: bool = False,
) -> VotingSet | None:
    """Return the k points of least total squared distance whose majority is ``target``.

    For each number k' of target points: its k' nearest, then the nearest of the other classes,
    at most k' − τ of each, τ = 0 where a tie will do and 1 where it will not.
    """
    values = np.asarray(squared_distances, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    order = order[np.isfinite(values[order])]
    own, others = order[labels[order] == target], order[labels[order] != target]
    found = None
    for n in range(1, min(n_neighbors, len(own)) + 1):
        filling = _capped(others, labels, n if ties else n - 1)[: n_neighbors - n]
        if len(filling) < n_neighbors - n:
            continue
        total = _sum(values[own[:n]]) + _sum(values[filling])
        if found is None or total <= found.total:
            found = VotingSet(_ascending(values, np.concatenate([own[:n], filling])), total)
    return found


def most_violating_set(
    squared_distances: FloatArray,
    labels: IntArray,
    target: int,
    n_neighbors: int,
    *,
    costs: FloatArray,
) -> ViolatingSet | None:
    """Return the set of largest cost minus total: the best of every class's best, ties allowed."""
    found = None
    # The own class comes first, and later ones must do strictly better.
    for r in [target, *(r for r in range(len(costs)) if r != target)]:
        best = best_voting_set(squared_distances, labels, r, n_neighbors, ties=True)
        if best is None:
            continue
        value = float(costs[target, r]) - best.total
        if found is None or value > found.value:
            found = ViolatingSet(best.indices, best.total, r, value)
    return found


def gerrymandering_loss(
    squared_distances: FloatArray,
    labels: IntArray,
    target: int,
    n_neighbors: int,
    *,
    costs: FloatArray,
) -> float:
    """Return value of ĥ + total of h*, or 0 where the target class cannot win."""
    star = best_voting_set(squared_distances, labels, target, n_neighbors)
    hat = most_violating_set(squared_distances, labels, target, n_neighbors, costs=costs)
    return hat.value + star.total if star is not None and hat is not None else 0.0


def signed_pairs(
    rows: IntArray, candidates: IntArray, star: IntArray, hat: IntArray
) -> list[list[tuple[int, int]]]:
    """Return (point, sign) of each row: +1 on h*∖ĥ, then −1 on ĥ∖h*; nothing where h* is none."""
    found = []
    for row, right, wrong in zip(candidates[rows], star.tolist(), hat.tolist(), strict=True):
        signed = [(p, 1) for p in right if p not in wrong] + [
            (p, -1) for p in wrong if p not in right
        ]
        found.append([] if -1 in right else [(int(row[p]), sign) for p, sign in signed])
    return found


def _capped(points: IntArray, labels: IntArray, cap: int) -> IntArray:
    """Return, in order, the points that are among the first ``cap`` of their class."""
    taken: dict[int, int] = {}
    kept = []
    for point in points:
        r = int(labels[point])
        taken[r] = taken.get(r, 0) + 1
        if taken[r] <= cap:
            kept.append(point)
    return np.array(kept, dtype=np.int64)


def _sum(values: FloatArray) -> float:
    """Return the sum from the first to the last; NumPy's own would pair the terms."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _ascending(values: FloatArray, points: IntArray) -> IntArray:
    return points[np.lexsort((points, values[points]))]


def majority_vote(labels: IntArray, n_classes: int) -> IntArray:
    """Return what :func:`majority_vote` returns, written for reading: O(m k R)."""
    winners = []
    for row in labels:
        counts = np.bincount(row, minlength=n_classes)
        tied = np.flatnonzero(counts == counts.max())
        winners.append(next(label for label in row if label in tied))
    return np.array(winners, dtype=np.int64)


def weighted_vote(
    labels: IntArray, weights: FloatArray, indptr: IntArray, n_classes: int, fallback: int
) -> IntArray:
    """Return what :func:`weighted_vote` returns, written for reading."""
    winners = []
    for start, end in pairwise(indptr):
        totals = np.bincount(labels[start:end], weights[start:end], minlength=n_classes)
        tied = np.flatnonzero(totals >= totals.max() * (1 - TIE))
        winners.append(next((r for r in labels[start:end] if r in tied), fallback))
    return np.array(winners, dtype=np.int64)
