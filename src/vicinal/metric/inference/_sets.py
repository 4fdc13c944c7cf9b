"""Neighbour sets chosen for their vote: h*, ĥ and the gerrymandering loss of one query.

For a query x of class y, a set h of k points scores S(h) = −Σ_{j∈h} D(x, x_j) and costs
Δ(h) = Λ(y, majority of h). Then

    h* = argmax { S(h) : the majority of h is y, without ties },
    ĥ  = argmax { S(h) + Δ(h) },            ties counted in favour of the costlier class,
    L  = S(ĥ) + Δ(ĥ) − S(h*)  ≥  Δ(k nearest neighbours)  ≥  0.

All three are exact (see the user guide, *Exact inference*) and see only distances and labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal._kernels._targeted import infer_sets
from vicinal._types import AnyArray, FloatArray, IntArray, ViolatingSet, VotingSet


def best_voting_set(
    squared_distances: AnyArray,
    labels: AnyArray,
    target: int,
    n_neighbors: int,
    *,
    ties: bool = False,
) -> VotingSet | None:
    """Find the k points of least total squared distance whose majority vote is ``target``.

    Parameters
    ----------
    squared_distances : array-like of shape (N,)
        Squared distance of each point to the query; ``inf`` marks a point that may not be used.
    labels : array-like of int, shape (N,)
        Class of each point, 0..R−1.
    target : int
        The class that must win.
    n_neighbors : int
        k, the size of the set.
    ties : bool, default=False
        Whether ``target`` may share the majority with other classes.

    Returns
    -------
    VotingSet or None
        ``indices`` (k,) in ascending order of distance, and their ``total``; None where no set of
        k points votes for ``target``.

    Notes
    -----
    Time O(N + k³), memory O(Rk). Equal distances go to the lower index; among sets of equal total
    the one with more points of the target class is returned. Totals are summed in float64
    whatever the input's precision.

    Examples
    --------
    >>> from vicinal import best_voting_set
    >>> chosen = best_voting_set([1.0, 4.0, 0.5, 0.7], [0, 0, 1, 1], target=0, n_neighbors=3)
    >>> chosen.indices.tolist(), chosen.total
    ([2, 0, 1], 5.5)
    """
    query = _check_query(squared_distances, labels, target, n_neighbors, None)
    if ties:
        # Every other class is priced out, so that ĥ is the target's own best set.
        costs = np.full_like(query.costs, -np.inf)
        costs[query.target, query.target] = 0.0
        chosen = _infer(query._replace(costs=costs)).hat
    else:
        chosen = _infer(query).star
    if chosen[0] < 0:
        return None
    return VotingSet(_ascending(query, chosen), _total(query, chosen, query.target))


def most_violating_set(
    squared_distances: AnyArray,
    labels: AnyArray,
    target: int,
    n_neighbors: int,
    *,
    costs: AnyArray | None = None,
) -> ViolatingSet | None:
    """Find the k points of largest cost of their vote minus total squared distance.

    This is loss-augmented inference, ĥ = argmax_h Λ(target, vote of h) − Σ_{j∈h} D_j. A tied
    vote counts as a vote for whichever of the tied classes costs most.

    Parameters
    ----------
    squared_distances, labels, target, n_neighbors
        As in :func:`best_voting_set`; ``target`` is the query's own class.
    costs : array-like of shape (R, R), optional
        Λ: what it costs to call a point of class r (row) a point of class s (column). Zero on the
        diagonal, finite and not negative. By default 1 off the diagonal.

    Returns
    -------
    ViolatingSet or None
        ``indices`` (k,) in ascending order of distance, their ``total``, the class ``voted`` and
        the ``value`` cost − total; None where fewer than k points may be used.

    Notes
    -----
    Time O(N + Rk + k³), memory O(Rk). Among classes of equal value the query's own comes first,
    then the lower one.

    Examples
    --------
    >>> from vicinal import most_violating_set
    >>> chosen = most_violating_set([1.0, 4.0, 0.5, 0.7], [0, 0, 1, 1], target=0, n_neighbors=3)
    >>> chosen.indices.tolist(), chosen.voted, round(chosen.value, 6)
    ([2, 3, 0], 1, -1.2)
    """
    query = _check_query(squared_distances, labels, target, n_neighbors, costs)
    found = _infer(query)
    if found.voted < 0:
        return None
    total = _total(query, found.hat, found.voted)
    value = float(query.costs[query.target, found.voted]) - total
    return ViolatingSet(_ascending(query, found.hat), total, int(query.classes[found.voted]), value)


def gerrymandering_loss(
    squared_distances: AnyArray,
    labels: AnyArray,
    target: int,
    n_neighbors: int,
    *,
    costs: AnyArray | None = None,
) -> float:
    """Compute the surrogate loss L = [Λ(target, ĥ) − total of ĥ] + total of h*.

    Parameters
    ----------
    squared_distances, labels, target, n_neighbors, costs
        As in :func:`most_violating_set`.

    Returns
    -------
    float
        At least 0, and at least the cost of the k nearest neighbours' vote. Exactly 0 where no
        k points can vote for ``target`` without a tie: such a query asks for nothing.

    Examples
    --------
    >>> from vicinal import gerrymandering_loss
    >>> round(gerrymandering_loss([1.0, 4.0, 0.5, 0.7], [0, 0, 1, 1], 0, 3), 6)
    4.3
    """
    return _infer(_check_query(squared_distances, labels, target, n_neighbors, costs)).loss


def check_costs(costs: AnyArray | None, n_classes: int) -> FloatArray:
    """Return Λ (R, R) as float64: 0/1 where None is given, refused where it is no cost matrix."""
    if costs is None:
        return 1.0 - np.eye(n_classes)
    checked: FloatArray = np.asarray(costs, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1]:
        raise ValueError(f"costs must be a square matrix, got shape {checked.shape}.")
    if len(checked) < n_classes:
        raise ValueError(
            f"costs has {len(checked)} rows but there are {n_classes} classes; give one row and "
            "one column to every class."
        )
    if not np.isfinite(checked).all() or (checked < 0).any():
        wrong = checked[~np.isfinite(checked) | (checked < 0)][0]
        raise ValueError(f"costs must be finite and not negative, but one entry is {wrong}.")
    if np.diagonal(checked).any():
        r = int(np.flatnonzero(np.diagonal(checked))[0])
        raise ValueError(
            f"costs must be zero on the diagonal (a right vote costs nothing), but "
            f"costs[{r}, {r}] is {checked[r, r]}."
        )
    return checked


class _Query(NamedTuple):
    """One checked query, its classes renumbered 0..R−1 without gaps."""

    squared_distances: FloatArray
    labels: IntArray
    target: int
    n_neighbors: int
    costs: FloatArray
    classes: IntArray


class _Inferred(NamedTuple):
    star: IntArray
    hat: IntArray
    loss: float
    voted: int


def _infer(query: _Query) -> _Inferred:
    k = query.n_neighbors
    if k > len(query.labels):
        nothing = np.array([-1])
        return _Inferred(nothing, nothing, 0.0, -1)
    star, hat = np.empty((1, k), np.int32), np.empty((1, k), np.int32)
    loss, voted = np.empty(1), np.empty(1, np.int32)
    infer_sets(
        query.squared_distances[None],
        query.labels[None],
        np.array([query.target], np.int32),
        k,
        query.costs,
        star,
        hat,
        loss,
        voted,
    )
    return _Inferred(star[0], hat[0], float(loss[0]), int(voted[0]))


def _total(query: _Query, chosen: IntArray, voted: int) -> float:
    """Sum as the kernels do: the voted class in ascending order, then the others."""
    values = query.squared_distances[chosen].astype(np.float64)
    own = query.labels[chosen] == voted
    return float(sum(np.cumsum(part)[-1] for part in (values[own], values[~own]) if len(part)))


def _ascending(query: _Query, chosen: IntArray) -> IntArray:
    order = np.lexsort((chosen, query.squared_distances[chosen]))
    return chosen[order].astype(np.int64)


def _check_query(
    squared_distances: AnyArray,
    labels: AnyArray,
    target: Any,
    n_neighbors: Any,
    costs: AnyArray | None,
) -> _Query:
    values = _check_distances(squared_distances)
    classes_of_points = _check_labels(labels, len(values))
    target = _check_integer("target", target, 0)
    n_neighbors = _check_integer("n_neighbors", n_neighbors, 1)
    n_classes = int(max(classes_of_points.max(initial=-1), target)) + 1
    classes, codes = np.unique(np.append(classes_of_points, target), return_inverse=True)
    if costs is None:
        checked = check_costs(None, len(classes))
    else:
        checked = check_costs(costs, n_classes)[np.ix_(classes, classes)]
    codes = codes.reshape(-1).astype(np.int32)
    return _Query(values, codes[:-1], int(codes[-1]), n_neighbors, checked, classes)


def _check_distances(squared_distances: AnyArray) -> FloatArray:
    values = np.asarray(squared_distances)
    if values.ndim != 1:
        raise ValueError(
            f"squared_distances must be one-dimensional, one entry a point; got shape "
            f"{values.shape}."
        )
    if values.dtype != np.float32:
        values = values.astype(np.float64)
    if np.isnan(values).any() or np.isneginf(values).any():
        j = int(np.flatnonzero(np.isnan(values) | np.isneginf(values))[0])
        raise ValueError(
            f"squared_distances[{j}] is {values[j]}; use inf for a point that may not be used."
        )
    return np.ascontiguousarray(values)


def _check_labels(labels: AnyArray, n_points: int) -> IntArray:
    checked = np.asarray(labels)
    if checked.shape != (n_points,):
        raise ValueError(
            f"labels must have one entry a point: squared_distances has {n_points}, labels has "
            f"shape {checked.shape}."
        )
    if checked.size and checked.dtype.kind not in "iu":
        raise ValueError(
            f"labels must be integers 0..R-1, got {checked.dtype}; "
            "np.unique(labels, return_inverse=True) makes them so."
        )
    if checked.min(initial=0) < 0:
        raise ValueError(
            f"labels must not be negative, got {checked.min()}; mark a point that may not be used "
            "by an infinite distance."
        )
    return checked.astype(np.int64)


def _check_integer(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}.")
    return int(value)
