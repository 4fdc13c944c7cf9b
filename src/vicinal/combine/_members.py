"""Members: copies of a learner told what they were not told, and the mean of their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import has_fit_parameter

from vicinal._types import AnyArray, FloatArray, Fold
from vicinal.metric import MetricLearner
from vicinal.metric.held_out import CrossFit
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import FunctionMaps, LinearMaps, Maps, SideBySideMaps
from vicinal.metric.means import mean_map, near_squared_distance, near_squared_size
from vicinal.rows import Rows


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


def begin_member(member: Any, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
    """Return the cross-fit of a member, with weights where its ``fit`` takes them."""
    if isinstance(member, MetricLearner) and member.learns_from_rows:
        weighs = rows.weights is not None and has_fit_parameter(member, "sample_weight")
        return member.cross_fit(rows if weighs else rows.unweighted(), folds)

    def without(fold: Fold) -> Maps:
        return maps_of(fit_member(clone(member), rows.take(fold.train)))

    return CrossFit(without, lambda: fit_member(member, rows))


def task_of(member: Any) -> str:
    """Return what y is to a learner; "auto" where it does not say."""
    return (isinstance(member, MetricLearner) and member._task) or "auto"


def follow_tags(tags: Tags, estimator: Any) -> Tags:
    """Return the tags of a tool over a learner, to which classes are what they are to that."""
    if isinstance(estimator, BaseEstimator):
        tags.classifier_tags = get_tags(estimator).classifier_tags
    return tags


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
    return _matrix(maps_of(member), type(member).__name__)


def _matrix(maps: Maps, name: str) -> FloatArray:
    if not (isinstance(maps, LinearMaps) and is_linear(maps)):
        raise ValueError(
            f"{name} has no single linear map, and only the metrics of such maps have a mean."
        )
    return np.asarray(maps.A)


def average(members: Sequence[Any], X: AnyArray, n_components: int | None = None) -> LinearMaps:
    """Return the map of the mean of fitted members' metrics, near rows of X being their unit."""
    return average_matrices([linear_map(member) for member in members], X, n_components)


def average_maps(parts: Sequence[Maps], X: AnyArray, n_components: int | None = None) -> LinearMaps:
    """Return the map of the mean of several linear maps' metrics."""
    matrices = [_matrix(maps, "a learner") for maps in parts]
    return average_matrices(matrices, X, n_components)


def can_be_averaged(maps: Maps) -> bool:
    """Say whether maps have a mean with others: linear ones, or any to vectors that are plain."""
    plain = isinstance(maps, FunctionMaps) and maps.space == "euclidean" and maps.is_symmetric
    return plain or is_linear(maps)


def mean_of(parts: Sequence[Maps], X: AnyArray) -> Maps:
    """Return the map of the mean of several metrics, near rows of X (n, d) being their unit.

    That of linear maps is linear; others lie side by side, which gives the same mean of squared
    distances in as many numbers as they have together.
    """
    if all(is_linear(part) for part in parts):
        return average_maps(parts, X)
    sizes = [near_squared_size(np.ascontiguousarray(part.database(X))) for part in parts]
    scales = tuple((len(parts) * size) ** -0.5 if size > 0 else 0.0 for size in sizes)
    return SideBySideMaps(tuple(parts), scales)


def average_matrices(
    matrices: Sequence[FloatArray], X: AnyArray, n_components: int | None = None
) -> LinearMaps:
    """Return the map of the mean of the metrics of matrices (p, d)."""
    sizes = np.array([near_squared_distance(X, components) for components in matrices])
    mean = mean_map(list(matrices), sizes, n_components)
    return LinearMaps(mean.astype(X.dtype, copy=False))
