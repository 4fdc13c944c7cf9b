"""Members: copies of a learner told what they were not told, and the mean of their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from vicinal._types import AnyArray, FloatArray
from vicinal.metric import MetricLearner
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import LinearMaps, Maps
from vicinal.pairs import nearest_rows
from vicinal.rows import Rows

# Rows looked at, and how many neighbours of each, to tell the size of a metric.
PROBES, NEAR = 1000, 5


def prepare_member(estimator: Any, *, seed: int | None = None, k: int | None = None) -> Any:
    """Return a clone; its open ``random_state`` and ``n_neighbors`` (None) take what is given."""
    member = clone(estimator)
    open_parameters = {
        name: value
        for name, value in (("random_state", seed), ("n_neighbors", k))
        if value is not None and member.get_params().get(name, 0) is None
    }
    return member.set_params(**open_parameters)


def fit_member(member: Any, rows: Rows) -> Any:
    """Return the member fitted to checked rows, with weights where its ``fit`` takes them."""
    weighs = rows.weights is not None and has_fit_parameter(member, "sample_weight")
    if isinstance(member, MetricLearner) and member.learns_from_rows:
        return member.fit_rows(rows if weighs else rows.unweighted())
    y = None if rows.target is None else rows.target.given
    return member.fit(rows.X, y, sample_weight=rows.weights) if weighs else member.fit(rows.X, y)


def task_of(member: Any) -> str:
    """Return what y is to a learner; "auto" where it does not say."""
    return (isinstance(member, MetricLearner) and member._task) or "auto"


def check_member(estimator: Any, what: str) -> None:
    """Refuse what is no learner."""
    if isinstance(estimator, type) or not all(
        hasattr(estimator, verb) for verb in ("fit", "get_params")
    ):
        raise ValueError(
            f"{what} must be a metric learner, as MLNG() is, not a class; got {estimator!r}."
        )


def is_linear(maps: Maps) -> bool:
    """Say whether maps are one linear map, the same for queries, whose mean can be taken."""
    return (
        isinstance(maps, LinearMaps)
        and maps.is_symmetric
        and maps.A is not None
        and maps.ranking is None
    )


def linear_map(member: Any) -> FloatArray:
    """Return a fitted learner's map; refuse one that has none."""
    maps = maps_of(member)
    if not (isinstance(maps, LinearMaps) and is_linear(maps)):
        raise ValueError(
            f"{type(member).__name__} has no single linear map, and only the metrics of such maps "
            "have a mean."
        )
    return np.asarray(maps.A)


def average(members: Sequence[Any], X: AnyArray, n_components: int | None = None) -> LinearMaps:
    """Return the map of the mean of fitted members' metrics, near rows of X being their unit."""
    maps = [linear_map(member) for member in members]
    sizes = np.array([near_squared_distance(X, components) for components in maps])
    return LinearMaps(mean_map(maps, sizes, n_components).astype(X.dtype, copy=False))


def mean_map(
    maps: Sequence[FloatArray], sizes: FloatArray, n_components: int | None = None
) -> FloatArray:
    """Return L with LᵀL = (1/m) Σ_s c_s L_sᵀL_s.

    Parameters
    ----------
    maps : arrays L_s of shape (p_s, d)
    sizes : ndarray of shape (m,)
        The squared distance of near rows under each map (:func:`near_squared_distance`). c_s is
        one over it: no metric counts more for its units. A map without any has no share.
    n_components : int or None
        Keep so many rows, those with the largest share in the mean; None keeps its rank.

    Returns
    -------
    ndarray of shape (p, d)
        Orthogonal rows, the longest first.
    """
    shares = np.where(sizes > 0, 1 / np.where(sizes > 0, sizes, 1), 0.0)
    scaled = [np.sqrt(c) * part.astype(np.float64) for c, part in zip(shares, maps, strict=True)]
    stacked = np.vstack(scaled) / np.sqrt(len(maps))
    _, lengths, directions = np.linalg.svd(stacked, full_matrices=False)
    rank = max(1, int(np.sum(lengths > 1e-6 * lengths[0])))
    kept = rank if n_components is None else min(rank, n_components)
    mean = lengths[:kept, None] * directions[:kept]
    return np.ascontiguousarray(mean, dtype=maps[0].dtype)


def near_squared_distance(X: AnyArray, components: FloatArray) -> float:
    """Return the mean squared distance of rows X (n, d) to their few nearest, under a map.

    Of many rows, some at equal steps are looked at: neighbours of all, so that the size is that of
    the neighbourhoods a vote is taken in. Time O(n p) times the rows looked at.
    """
    mapped = np.ascontiguousarray(X @ components.T)
    some = mapped[:: -(-len(mapped) // PROBES)]
    k = min(NEAR + 1, len(mapped))  # the first is the row itself, or its equal
    near = mapped[nearest_rows(mapped, some, k)[:, 1:]]
    gaps = near - some[:, None]
    return float(np.square(gaps, dtype=np.float64).sum(axis=2).mean()) if k > 1 else 0.0
