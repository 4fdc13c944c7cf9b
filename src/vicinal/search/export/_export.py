"""The door: a metric and its documents, written for one store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray, IntArray
from vicinal.rows import read_target
from vicinal.search.export._databases import write_lancedb, write_qdrant
from vicinal.search.export._files import (
    ids_of,
    write_faiss,
    write_parquet,
    write_usearch,
)
from vicinal.search.export._layout import lay_out
from vicinal.search.export._onnx import Votes, write_onnx
from vicinal.search.export._sql import write_duckdb, write_pgvector, write_sqlite

_WRITERS: dict[str, Callable[..., None]] = {
    "faiss": write_faiss,
    "pgvector": write_pgvector,
    "duckdb": write_duckdb,
    "lancedb": write_lancedb,
    "qdrant": write_qdrant,
    "usearch": write_usearch,
    "sqlite-vec": write_sqlite,
    "parquet": write_parquet,
    "onnx": write_onnx,
}
TARGETS = tuple(_WRITERS)
# What can be written without documents: the map alone.
_MAP_ALONE = ("pgvector", "duckdb", "onnx")


def export_metric(
    metric: Any,
    target: str,
    documents: AnyArray | None = None,
    *,
    out: str | os.PathLike[str],
    ids: Sequence[int] | None = None,
    table: str = "documents",
    targets: AnyArray | None = None,
    n_neighbors: int = 5,
) -> Path:
    """Write a learned metric, and the documents under it, for a store.

    Parameters
    ----------
    metric : fitted learner or None
        None is the Euclidean distance.
    target : str
        ============  ===========================================  ==========================
        target        what is written                              asked with
        ============  ===========================================  ==========================
        faiss         an index behind a linear transform           raw queries
        pgvector      SQL: table, index, a function for queries    raw queries
        duckdb        SQL: table, a macro for queries              raw queries
        onnx          a graph; with documents their order, with    raw queries
                      targets their vote
        lancedb       a folder with a table                        ``transform_queries``
        qdrant        a folder of the local mode                   ``transform_queries``
        usearch       an index                                     ``transform_queries``
        sqlite-vec    SQL: a virtual table                         ``transform_queries``
        parquet       ids and vectors                              ``transform_queries``
        ============  ===========================================  ==========================

        Codes are stored as packed bits (Qdrant: as ±1) and asked with the bits of queries.
    documents : array-like of shape (n, d), optional
        As they were before the metric. pgvector, duckdb and onnx can hold the map alone.
    out : path
        The file or, for lancedb and qdrant, the folder to write. A file is replaced; of a folder
        the table of that name is.
    ids : sequence of int, optional
        What the documents are called; their row numbers unless told.
    table : str, default="documents"
        What the table or collection is called.
    targets : array-like of shape (n,), optional
        Of onnx alone: classes or numbers of the documents, of which the graph also gives the vote
        or the mean of the nearest, as ``KNNClassifier`` and ``KNNRegressor`` do.
    n_neighbors : int, default=5
        How many vote.

    Returns
    -------
    Path
        What was written.

    Notes
    -----
    A metric of one map L is stored as Lz and asked Lx by Euclidean distance; a map of queries alone
    leaves z as it is and is asked by inner product, or by cosine where a store has no inner
    product and documents are of unit length. Time and memory O(n p).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import LDA, export_metric
    >>> X, y = load_wine(return_X_y=True)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> export_metric(LDA().fit(X, y), "duckdb", X, out=folder / "wine.sql").name
    'wine.sql'
    """
    if target not in _WRITERS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}.")
    if documents is None and target not in _MAP_ALONE:
        raise ValueError(f"exporting to {target} needs the documents.")
    place = Path(out)
    if not place.parent.is_dir():
        raise ValueError(f"the folder {place.parent} does not exist.")
    layout = lay_out(metric, documents, None)
    numbers = None if layout.vectors is None else ids_of(ids, len(layout.vectors))
    write = _WRITERS[target]
    if targets is not None:
        write = partial(write, votes=_read_votes(targets, n_neighbors, target, numbers))
    write(layout, numbers, place, table)
    return place


def _read_votes(targets: AnyArray, k: int, target: str, numbers: IntArray | None) -> Votes:
    """Return the documents' targets, checked."""
    if target != "onnx" or numbers is None:
        raise ValueError("targets are for target='onnx' with documents: no other export votes.")
    values = np.asarray(targets)
    if values.ndim != 1 or len(values) != len(numbers):
        raise ValueError(
            f"targets have shape {values.shape}, but there are {len(numbers)} documents."
        )
    return Votes(read_target(values, "auto"), k)
