"""What a store is given of a metric: vectors, the similarity to ask by, and the queries' map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray, FloatArray
from vicinal.metric.learner import maps_of
from vicinal.metric.maps import CodeMaps, LinearMaps, Maps
from vicinal.search._adapter import QueryAdapter

Similarity = Literal["inner", "euclidean", "hamming"]


@dataclass(frozen=True)
class Layout:
    """Vectors or packed codes (n, p) of the documents, if any, and how they are asked.

    ``query_matrix`` (p, d) and ``query_offset`` (p,) map a raw query, where its map is linear.
    ``unit`` says that documents are of unit length, so that cosine ranks as the inner product does;
    ``unit_queries`` that a raw query must be brought to unit length first.
    """

    similarity: Similarity
    vectors: AnyArray | None
    width: int
    query_matrix: FloatArray | None
    query_offset: FloatArray | None = None
    unit: bool = False
    unit_queries: bool = False

    @property
    def n_inputs(self) -> int:
        """How many features a raw query has."""
        assert self.query_matrix is not None
        return int(self.query_matrix.shape[1])

    def offset(self) -> FloatArray:
        """Return the offset of queries, zero where they have none."""
        if self.query_offset is None:
            return np.zeros(self.width, np.float32)
        return self.query_offset.astype(np.float32)

    def linear(self, target: str) -> FloatArray:
        """Return the queries' matrix in float32; refuse where their map is none."""
        if self.query_matrix is None:
            raise ValueError(
                f"the queries' map is not linear, so that {target} cannot hold it; map queries "
                "with transform_queries and export to 'parquet', 'lancedb', 'qdrant' or 'usearch'."
            )
        return np.ascontiguousarray(self.query_matrix, np.float32)


def lay_out(metric: Any, documents: AnyArray | None, n_features: int | None) -> Layout:
    """Return what a store is given of a fitted metric; None is the Euclidean distance."""
    if metric is not None:
        check_is_fitted(metric)
    maps = maps_of(metric)
    if maps.ranking is not None:
        raise ValueError(
            "this metric differs from place to place, and no store can search it; export the "
            "nearest of its mean, or another metric."
        )
    vectors = None if documents is None else _mapped(metric, maps, documents)
    if maps.space == "hamming":
        if vectors is None:
            raise ValueError("codes are exported with their documents; none were given.")
        return _code_layout(maps, vectors, np.shape(documents)[1])  # type: ignore[arg-type]
    if isinstance(metric, QueryAdapter):
        return _adapter_layout(metric, vectors)
    width = _width(metric, documents, n_features)
    if not isinstance(maps, LinearMaps):
        p = vectors.shape[1] if vectors is not None else 0
        return Layout("euclidean", vectors, p, None)
    Q = maps.A if maps.Q is None else maps.Q
    matrix = np.eye(width, dtype=np.float32) if Q is None else Q
    return Layout("euclidean", vectors, matrix.shape[0], matrix, maps.b)


def _mapped(metric: Any, maps: Maps, documents: AnyArray) -> AnyArray:
    """Return documents as an index holds them: packed codes, or float32."""
    rows = np.asarray(documents)
    if rows.ndim != 2 or not len(rows) or rows.dtype.kind not in "biuf":
        raise ValueError(f"documents must be vectors, one a row, got shape {rows.shape}.")
    width = getattr(metric, "n_features_in_", rows.shape[1])
    if rows.shape[1] != width:
        raise ValueError(
            f"documents have {rows.shape[1]} columns, but the metric was fitted on {width}."
        )
    if not np.isfinite(rows).all():
        raise ValueError("documents hold a value that is missing or infinite.")
    mapped = maps.database(rows if rows.dtype.kind == "f" else rows.astype(np.float64))
    if maps.space == "hamming":
        return np.ascontiguousarray(mapped)
    return np.ascontiguousarray(mapped, np.float32)


def _width(metric: Any, documents: AnyArray | None, n_features: int | None) -> int:
    width = n_features or getattr(metric, "n_features_in_", None)
    if width is None and documents is not None:
        width = np.shape(documents)[1]
    if width is None:
        raise ValueError("the plain distance is exported with documents; none were given.")
    return int(width)


def _code_layout(maps: Maps, vectors: AnyArray, d: int) -> Layout:
    """Return codes; with the projection of queries where it is an affine map, whose signs they are.

    A projection that is one says so in its weights: it is found by what it makes of unit vectors.
    """
    n_bits = 8 * vectors.shape[1]
    if not isinstance(maps, CodeMaps) or not maps.weights:
        return Layout("hamming", vectors, n_bits, None)
    project = maps.project_queries or maps.project
    offset = project(np.zeros((1, d)))
    matrix: FloatArray = (project(np.eye(d)) - offset).T
    return Layout("hamming", vectors, n_bits, np.ascontiguousarray(matrix), offset[0])


def _adapter_layout(metric: QueryAdapter, vectors: AnyArray | None) -> Layout:
    U, b = metric.query_components_, vars(metric).get("query_offset_")
    unit = metric.similarity == "cosine"
    return Layout("inner", vectors, len(U), U, b, unit=unit, unit_queries=unit)
