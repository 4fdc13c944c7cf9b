"""The two sides of a metric: where it puts database rows and where it puts queries."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from vicinal._types import AnyArray
from vicinal.index import BinaryIndex, ExactIndex, FaissIndex

Index = BinaryIndex | ExactIndex | FaissIndex

# What a metric may offer, the more particular first. Codes are searched by Hamming distance.
_DATABASE_VERBS = ("encode", "transform")
_QUERY_VERBS = ("encode_queries", "encode", "transform_queries", "transform")


def fit_metric(metric: Any, X: AnyArray, y: AnyArray) -> Any:
    """Return a fitted clone of the metric; None, the Euclidean distance, stays None.

    A metric in scikit-learn's ``FrozenEstimator`` is used as it is.
    """
    if metric is None:
        return None
    if isinstance(metric, type) or not all(hasattr(metric, verb) for verb in ("fit", "transform")):
        raise ValueError(
            f"metric must have fit and transform, as a metric learner has, or be None for the "
            f"Euclidean distance; got {metric!r}."
        )
    return clone(metric).fit(X, y)


def database_side(metric: Any, X: AnyArray) -> AnyArray:
    """Return database rows mapped by the fitted metric: vectors, or packed codes if it encodes."""
    return _map(metric, X, _DATABASE_VERBS)


def query_side(metric: Any, X: AnyArray) -> AnyArray:
    """Return queries mapped by the fitted metric; by the database's map where it has only one."""
    return _map(metric, X, _QUERY_VERBS)


def _map(metric: Any, X: AnyArray, verbs: tuple[str, ...]) -> AnyArray:
    if metric is None:
        return X
    if isinstance(metric, FrozenEstimator):
        return _map(metric.estimator, X, verbs)
    if isinstance(metric, Pipeline):  # only its last step knows of queries or codes
        prepared = metric[:-1].transform(X) if len(metric) > 1 else X
        last = metric[-1]
        return prepared if last == "passthrough" else _map(last, prepared, verbs)
    verb = next(verb for verb in verbs if hasattr(metric, verb))
    mapped: AnyArray = getattr(metric, verb)(X)
    return mapped


def is_binary(metric: Any) -> bool:
    """Return whether the metric gives packed codes rather than vectors."""
    if isinstance(metric, FrozenEstimator):
        return is_binary(metric.estimator)
    return hasattr(metric[-1] if isinstance(metric, Pipeline) else metric, "encode")


def build_index(
    rows: AnyArray, kind: str, *, binary: bool, block_size: int | None, n_jobs: int | None
) -> Index:
    """Return the index of the given kind: "exact", "faiss" or "faiss:" and a factory string."""
    name, _, factory = str(kind).partition(":")
    if not isinstance(kind, str) or name not in ("exact", "faiss") or (factory and name == "exact"):
        raise ValueError(
            f"index must be 'exact', 'faiss' or 'faiss:' and a factory string such as "
            f"'faiss:HNSW32', got {kind!r}."
        )
    if binary and name == "faiss":
        raise ValueError("this metric gives bit codes, which index='exact' searches; faiss cannot.")
    if binary:
        return BinaryIndex(rows, block_size=block_size, n_jobs=n_jobs)
    if name == "faiss":
        return FaissIndex(rows, factory or "Flat", n_jobs=n_jobs)
    return ExactIndex(rows, block_size=block_size, n_jobs=n_jobs)
