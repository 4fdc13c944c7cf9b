"""The door: a metric and its documents, written for one store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vicinal._types import AnyArray
from vicinal.search.export._databases import write_lancedb, write_qdrant
from vicinal.search.export._files import (
    ids_of,
    write_faiss,
    write_onnx,
    write_parquet,
    write_usearch,
)
from vicinal.search.export._layout import lay_out
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
        onnx          a graph; with documents, their order         raw queries
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
    _WRITERS[target](layout, numbers, place, table)
    return place
