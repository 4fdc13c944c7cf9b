"""Neighbour sets chosen for their vote: h*, ĥ and the loss of one query or of a block of them.

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

from vicinal._kernels import _targeted as kernels
from vicinal._types import AnyArray, FloatArray, InferredSets, IntArray, ViolatingSet, VotingSet
from vicinal._validation import check_costs, check_whole, read_numbers
from vicinal.rows import refuse_masked


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
        costs[query.targets[0], query.targets[0]] = 0.0
        indices = _infer(query._replace(costs=costs)).hat
    else:
        indices = _infer(query).star
    if indices[0, 0] < 0:
        return None
    total = _total(query, indices[0], int(query.targets[0]))
    return VotingSet(_ascending(query.squared_distances, indices)[0], total)


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
    sets = _infer(query)
    voted = int(sets.voted[0])
    if voted < 0:
        return None
    total = _total(query, sets.hat[0], voted)
    value = float(query.costs[query.targets[0], voted]) - total
    indices = _ascending(query.squared_distances, sets.hat)[0]
    return ViolatingSet(indices, total, int(query.classes[voted]), value)


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
    query = _check_query(squared_distances, labels, target, n_neighbors, costs)
    return float(_infer(query).loss[0])


def infer_sets(
    distances: AnyArray,
    labels: AnyArray,
    targets: AnyArray,
    k: int,
    *,
    costs: AnyArray | None = None,
) -> InferredSets:
    """Find both sets, and the loss, of every query of a block.

    Parameters
    ----------
    distances : array-like of shape (m, N)
        Squared distance of each point to each query; ``inf`` marks a point that may not be used.
    labels : array-like of int, shape (N,) or (m, N)
        Class of each point, 0..R−1; two-dimensional where the queries have points of their own.
    targets : array-like of int, shape (m,)
        Class of each query.
    k : int
        The size of the sets.
    costs : array-like of shape (R, R), optional
        As in :func:`most_violating_set`.

    Returns
    -------
    InferredSets
        ``best`` (m, k), ``violating`` (m, k), ``voted`` (m,) and ``loss`` (m,): what
        :func:`best_voting_set`, :func:`most_violating_set` and :func:`gerrymandering_loss` say of
        each query, with −1 for sets there are not.

    Notes
    -----
    Time O(m (N + Rk + k³)), memory O(m (N + k)).

    Examples
    --------
    >>> from vicinal import infer_sets
    >>> found = infer_sets([[1.0, 4.0, 0.5, 0.7], [9.0, 8.0, 0.1, 0.2]], [0, 0, 1, 1], [0, 1], k=3)
    >>> found.best.tolist(), found.violating.tolist(), found.voted.tolist()
    ([[2, 0, 1], [2, 3, 1]], [[2, 3, 0], [2, 3, 1]], [1, 1])
    >>> found.loss.round(6).tolist()
    [4.3, 0.0]
    """
    values = _check_distances("distances", distances, 2)
    m, n = values.shape
    points = _check_classes("labels", labels, ((n,), (m, n)), "a column of distances")
    targets = _check_classes("targets", targets, ((m,),), "a row of distances")
    block = _number(values, np.broadcast_to(points, (m, n)), targets, check_whole("k", k), costs)
    sets = _infer(block)
    # One more entry, for the voted class of no set.
    voted = np.append(block.classes, -1)[sets.voted]
    best, violating = (_ascending(values, indices) for indices in (sets.star, sets.hat))
    return InferredSets(best, violating, voted, sets.loss)


class _Block(NamedTuple):
    """Checked queries, their classes renumbered 0..R−1 without gaps.

    ``squared_distances`` and ``labels`` (m, N), ``targets`` (m,), ``costs`` (R, R); ``classes``
    (R,) is what the classes were called.
    """

    squared_distances: FloatArray
    labels: IntArray
    targets: IntArray
    n_neighbors: int
    costs: FloatArray
    classes: IntArray


def _infer(block: _Block) -> kernels.Inferred:
    m, k = len(block.targets), block.n_neighbors
    if k > block.labels.shape[1]:
        none = np.broadcast_to(np.int32(-1), (m, k))
        return kernels.Inferred(none, none, np.zeros(m), none[:, 0])
    sets = kernels.new_inferred(m, k)
    kernels.infer_sets(block.squared_distances, block.labels, block.targets, block.costs, sets)
    return sets


def _total(query: _Block, indices: IntArray, voted: int) -> float:
    """Sum as the kernels do: the voted class in ascending order, then the others."""
    values = query.squared_distances[0, indices].astype(np.float64)
    own = query.labels[0, indices] == voted
    return float(sum(np.cumsum(part)[-1] for part in (values[own], values[~own]) if len(part)))


def _ascending(squared_distances: FloatArray, indices: IntArray) -> IntArray:
    """Return each row's points (m, k) by distance, then by number."""
    if not indices.size or not squared_distances.size:
        return indices.astype(np.int64)
    order = np.lexsort((indices, np.take_along_axis(squared_distances, indices, axis=1)), axis=1)
    return np.take_along_axis(indices, order, axis=1).astype(np.int64)


def _check_query(
    squared_distances: AnyArray,
    labels: AnyArray,
    target: Any,
    n_neighbors: Any,
    costs: AnyArray | None,
) -> _Block:
    values = _check_distances("squared_distances", squared_distances, 1)
    points = _check_classes("labels", labels, (values.shape,), "a point")
    targets = np.array([check_whole("target", target, 0)])
    return _number(
        values[None], points[None], targets, check_whole("n_neighbors", n_neighbors), costs
    )


def _number(
    values: FloatArray, labels: IntArray, targets: IntArray, k: int, costs: AnyArray | None
) -> _Block:
    """Return a block whose classes are numbered without gaps."""
    named = np.concatenate([labels.reshape(-1), targets])
    classes, codes = np.unique(named, return_inverse=True)
    if costs is None:
        checked = check_costs(None, len(classes))
    else:
        n_classes = int(named.max(initial=-1)) + 1
        checked = check_costs(costs, n_classes, spare=True)[np.ix_(classes, classes)]
    numbered = codes.reshape(-1).astype(np.int32)
    points = numbered[: labels.size].reshape(labels.shape)
    return _Block(values, points, numbered[labels.size :], k, checked, classes)


def _check_distances(name: str, squared_distances: AnyArray, n_axes: int) -> FloatArray:
    values = np.asarray(squared_distances)
    single = values.dtype == np.float32 and not np.ma.isMaskedArray(squared_distances)
    values = values if single else read_numbers(name, squared_distances)
    if values.ndim != n_axes:
        shape = ("one-dimensional, one entry a point", "two-dimensional, one row a query")
        raise ValueError(f"{name} must be {shape[n_axes - 1]}; got shape {values.shape}.")
    for place in np.argwhere(np.isnan(values) | np.isneginf(values)):
        where = ", ".join(str(i) for i in place)
        raise ValueError(
            f"{name}[{where}] is {values[tuple(place)]}; use inf for a point that may not be used."
        )
    return np.ascontiguousarray(values)


def _check_classes(
    name: str, classes: AnyArray, shapes: tuple[tuple[int, ...], ...], each: str
) -> IntArray:
    """Return whole numbers from 0 on, in one of the shapes: one entry to ``each``."""
    refuse_masked(classes, name)
    checked = np.asarray(classes)
    if checked.shape not in shapes:
        expected = " or ".join(str(shape) for shape in shapes)
        raise ValueError(
            f"{name} must have one entry {each}, shape {expected}; got shape {checked.shape}."
        )
    if checked.size and checked.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be integers 0..R-1, got {checked.dtype}; "
            f"np.unique({name}, return_inverse=True) makes them so."
        )
    if checked.min(initial=0) < 0:
        raise ValueError(
            f"{name} must not be negative, got {checked.min()}; mark a point that may not be used "
            "by an infinite distance."
        )
    if checked.max(initial=0) > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be below 2**63, got {checked.max()}.")
    return checked.astype(np.int64)
