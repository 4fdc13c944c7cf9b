"""The metric of a predictor: named, checked, fitted; and the index of its rows."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from vicinal._types import AnyArray, Task
from vicinal.index import (
    ALIASES,
    DISTANCES,
    EUCLIDEAN,
    BinaryIndex,
    ExactIndex,
    FaissIndex,
    SparseIndex,
    check_distance,
    map_rows,
    read_partitions,
)
from vicinal.methods import get_method, make_learner
from vicinal.metric import MetricLearner
from vicinal.metric.maps import Maps
from vicinal.metric.search import Index
from vicinal.rows import Target, is_distributed


def named_metric(metric: Any, task: Task, n_neighbors: int | None) -> Any:
    """Return the unfitted learner of a method that is given by its name; others as they are.

    Nothing is learned of a distance that is named: None.
    """
    if not isinstance(metric, str):
        return metric
    if distance_name(metric) is not None:
        return None
    method = get_method(metric)
    if method.reference:
        raise ValueError(
            f"metric={metric!r}: {method.title} asks no neighbours, so there is no metric in it; "
            "vicinal.compare shows it beside metrics."
        )
    if task not in method.tasks:
        raise ValueError(f"metric={metric!r}: the method {method.name} is not made for this task.")
    return make_learner(method, task, k=n_neighbors)


def distance_name(metric: Any) -> str | None:
    """Return the name of a distance other than the Euclidean; None of all else."""
    plain = check_distance(metric) if metric in (*DISTANCES, *ALIASES) else EUCLIDEAN
    return None if plain == EUCLIDEAN else plain


def prepare_metric(metric: Any, n_neighbors: int | None) -> Any:
    """Return a clone of the metric; None, the Euclidean distance, stays None.

    Where a learner's own ``n_neighbors`` is None it learns for the predictor's. A metric in
    scikit-learn's ``FrozenEstimator`` is used as it is.
    """
    if metric is None:
        return None
    metric = clone(metric)
    learner = last_step(metric)
    if n_neighbors is not None and isinstance(learner, MetricLearner):
        parameters = learner.get_params().items()
        is_open = {name for name, value in parameters if value is None and _is_neighbors(name)}
        learner.set_params(**dict.fromkeys(is_open, n_neighbors))
    return metric


def fit_metric(metric: Any, X: AnyArray, target: Target | None, **parameters: Any) -> Any:
    """Return a prepared metric, fitted; None stays None.

    A learner is given the target as the predictor has read it, at the end of a pipeline, too.
    """
    if metric is None:
        return None
    if target is None:
        return metric.fit(X, None, **parameters)
    if reads_targets(metric):
        return metric.fit(X, target, **parameters)
    if not (isinstance(metric, Pipeline) and reads_targets(metric[-1])):
        return metric.fit(X, target.given, **parameters)
    *first, (name, learner) = metric.steps
    reading = Pipeline([*first, (name, _Reading(learner, target))], memory=metric.memory)
    reading.fit(X, target.given, **parameters)
    metric.steps = [*reading.steps[:-1], (name, learner)]
    return metric


def reads_targets(metric: Any) -> bool:
    """Return whether a metric's ``fit`` takes a y that is read already."""
    return isinstance(metric, MetricLearner) and metric.learns_from_rows


class _Reading(BaseEstimator):
    """A learner behind steps that hand y on as it was given, and the target it is to learn from."""

    def __init__(self, learner: Any, target: Target) -> None:
        self.learner = learner
        self.target = target

    def fit(self, X: AnyArray, y: Any = None, **parameters: Any) -> Any:
        """Fit the learner."""
        self.learner.fit(X, self.target, **parameters)
        return self

    def get_metadata_routing(self) -> Any:
        """Return what the learner asks for."""
        return self.learner.get_metadata_routing()


def check_metric(metric: Any) -> None:
    """Refuse what cannot be fitted and asked to map rows."""
    if metric is None or isinstance(metric, str):
        return
    if isinstance(metric, type) or not all(hasattr(metric, verb) for verb in ("fit", "transform")):
        raise ValueError(
            "metric must have fit and transform, as a metric learner has, be the name of a method "
            f"such as 'mlng', or None for the Euclidean distance; got {metric!r}."
        )


def refuse_to_gather(metric: Any) -> None:
    """Refuse a metric that would have to see all rows of a dask array at once."""
    if metric is not None and not isinstance(metric, FrozenEstimator):
        raise ValueError(
            "X is a dask array, and the metric would be fitted to all its rows in one place. Fit "
            "it with vicinal.fit_distributed, or to some of the rows, and give "
            "metric=FrozenEstimator(fitted) of sklearn.frozen."
        )


def check_partitions(estimator: Any, X: Any) -> Any:
    """Return a dask array of queries; refuse another number of columns than ``fit`` saw."""
    rows = read_partitions(X, "X")
    if rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return rows


def last_step(metric: Any) -> Any:
    """Return what learns the metric: of a pipeline its last step."""
    return last_step(metric[-1]) if isinstance(metric, Pipeline) else metric


def _is_neighbors(parameter: str) -> bool:
    # A learner made of others, such as a mean of several, hands theirs on by their names.
    return parameter.rpartition("__")[2] == "n_neighbors"


def takes_missing(metric: Any) -> bool:
    """Return whether values may be missing from the rows a metric is fitted to."""
    if isinstance(metric, Pipeline):
        return all(takes_missing(step) for _, step in metric.steps)
    is_tagged = isinstance(metric, BaseEstimator)
    return is_tagged and bool(get_tags(metric).input_tags.allow_nan)


def takes_several_targets(metric: Any) -> bool:
    """Return whether y of several columns can be given to the metric, or is not looked at."""
    if isinstance(metric, Pipeline):
        return all(takes_several_targets(step) for _, step in metric.steps)
    if isinstance(metric, str):
        return False
    if isinstance(metric, FrozenEstimator) or not isinstance(metric, BaseEstimator):
        return True
    tags = get_tags(metric).target_tags
    return tags.multi_output or not tags.required


def build_index(
    maps: Maps,
    X: AnyArray,
    kind: str,
    distance: str | None = None,
    *,
    block_size: int | None,
    n_jobs: int | None,
) -> Index:
    """Return the index of mapped rows: "exact", "faiss" or "faiss:" and a factory string.

    ``distance`` names one other than the Euclidean.
    """
    binary = maps.space == "hamming"
    if is_distributed(X) and (binary or maps.ranking is not None or kind != "exact"):
        raise ValueError(
            "rows of a dask array are searched by index='exact' under one metric: neither codes, "
            "nor a metric that differs from place to place."
        )
    rows = map_rows(maps.database, X)
    name, _, factory = str(kind).partition(":")
    if not isinstance(kind, str) or name not in ("exact", "faiss") or (factory and name == "exact"):
        raise ValueError(
            f"index must be 'exact', 'faiss' or 'faiss:' and a factory string such as "
            f"'faiss:HNSW32' or 'faiss:IVF128,Flat;nprobe=16', got {kind!r}."
        )
    if binary and name == "faiss":
        raise ValueError("this metric gives bit codes, which index='exact' searches; faiss cannot.")
    if distance is not None and name == "faiss":
        raise ValueError(f"faiss searches by Euclidean distance; {distance} is for index='exact'.")
    if binary:
        return BinaryIndex(rows, block_size=block_size, n_jobs=n_jobs)
    if issparse(rows):
        if name == "faiss":
            raise ValueError("faiss searches dense rows; sparse ones are searched by 'exact'.")
        return SparseIndex(rows, metric=distance or EUCLIDEAN, block_size=block_size)
    if name == "faiss":
        return FaissIndex(rows, factory or "Flat", n_jobs=n_jobs)
    return ExactIndex(rows, metric=distance or EUCLIDEAN, block_size=block_size, n_jobs=n_jobs)
