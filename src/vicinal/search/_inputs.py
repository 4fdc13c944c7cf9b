"""Queries, documents and judgements as an adapter takes them: checked, merged, of unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.index import read_partitions
from vicinal.rows import is_distributed, refuse_disguises, refuse_distributed
from vicinal.search._lowrank import unit_rows
from vicinal.search._partitions import documents_needed, draw_queries
from vicinal.search._relevance import Judgements, merge_equal, read_judgements

SIMILARITIES = ("cosine", "inner")
# Rows whose lengths differ from 1 by less are of unit length but for the rounding of half floats.
NEARLY = 2e-3


@dataclass(frozen=True)
class SearchRows:
    """Checked queries (m, d) and documents (n, d) in float32, their judgements, and notes.

    ``numbers`` (m,) are the queries' rows as they were given: those that name nothing are gone.
    ``originals`` (n, d) are the documents before they were brought to unit length. With
    ``is_pool`` they are not all documents, but those that held-out queries are ranked among.
    """

    queries: FloatArray
    documents: FloatArray
    originals: FloatArray
    judgements: Judgements
    numbers: IntArray
    notes: tuple[str, ...]
    is_pool: bool = False


def read_search_rows(
    estimator: Any, queries: AnyArray, documents: AnyArray, relevance: Any, similarity: str,
    *, seed: int = 0, unjudged: str = "ignore",
) -> SearchRows:  # fmt: skip
    """Return what ``fit`` was given; refuse in words what it cannot be.

    Of dask arrays only what is needed is gathered (``_partitions``).
    """
    X: Any
    Z: Any
    X, Z = (
        read_partitions(rows, name) if is_distributed(rows) else read_vectors(estimator, rows, name)
        for rows, name in ((queries, "queries"), (documents, "documents"))
    )
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"queries have {X.shape[1]} columns and documents {Z.shape[1]}; both must come from "
            "one embedding."
        )
    judgements = read_judgements(relevance, len(X), len(Z))
    notes: list[str] = []
    rows: IntArray = np.arange(len(X))
    is_pool = is_distributed(Z)
    if is_distributed(X):
        rows = draw_queries(len(X), seed)
        if len(rows) < len(X):
            notes.append(f"learned from {len(rows):,} of {len(X):,} queries, drawn at random.")
        X, judgements = read_vectors(estimator, X[rows].compute(), "queries"), judgements.take(rows)
    if is_pool:
        pool = documents_needed(judgements, seed, unjudged)
        Z = read_vectors(estimator, Z[pool].compute(), "documents")
        judgements = judgements.among(pool)
    originals = Z
    if similarity == "cosine":
        X, Z = (_unit(rows, name, notes) for rows, name in ((X, "queries"), (Z, "documents")))
    n_asked = len(X) - judgements.n_left_out
    judgements, numbers = merge_equal(judgements, X, Z)
    if judgements.n_left_out:
        notes.append(f"queries left out that name no document: {judgements.n_left_out:,}.")
    if len(numbers) < n_asked:
        notes.append(f"queries asked again, which count once: {n_asked - len(numbers):,}.")
    if len(Z) < 2:
        raise ValueError("there is one document, which answers every query; nothing to learn.")
    return SearchRows(X[numbers], Z, originals, judgements, rows[numbers], tuple(notes), is_pool)


def read_vectors(estimator: Any, rows: AnyArray, name: str) -> FloatArray:
    """Return finite vectors as float32, without a copy where they are so already."""
    refuse_distributed(estimator, rows)
    refuse_disguises(rows)
    vectors = np.asarray(rows)
    if vectors.ndim != 2 or not vectors.shape[0] or not vectors.shape[1]:
        raise ValueError(f"{name} must be vectors, one a row, got shape {vectors.shape}.")
    if vectors.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, got {vectors.dtype}.")
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32, copy=False)
    for start in range(0, len(vectors), 65_536):
        wrong = np.flatnonzero(~np.isfinite(vectors[start : start + 65_536]).all(axis=1))
        if len(wrong):
            raise ValueError(
                f"{name} hold a value that is missing, infinite or beyond float32, first in row "
                f"{start + wrong[0]}."
            )
    return vectors


def _unit(rows: FloatArray, name: str, notes: list[str]) -> FloatArray:
    """Return rows of unit length, the same array where they are so; refuse rows of zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not lengths.all():
        raise ValueError(
            f"row {int(np.argmin(lengths))} of {name} is all zeros and has no direction; remove "
            "it, or give similarity='inner'."
        )
    off = np.abs(lengths - 1)
    if off.max() < 1e-6:
        return rows
    if off.max() > NEARLY:
        n_off = int(np.sum(off > NEARLY))
        notes.append(
            f"{n_off:,} of {len(rows):,} {name} were not of unit length; the cosine sees their "
            "directions alone."
        )
    return unit_rows(rows)
