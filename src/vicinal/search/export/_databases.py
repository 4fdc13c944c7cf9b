"""Databases in a folder: LanceDB, and Qdrant's local mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import IntArray
from vicinal.search.export._files import arrow_table
from vicinal.search.export._layout import Layout
from vicinal.search.export._packages import import_store

_QDRANT = {"inner": "DOT", "euclidean": "EUCLID", "hamming": "DOT"}


def write_lancedb(layout: Layout, ids: IntArray, out: Path, table: str) -> None:
    """Write a table of a LanceDB folder: ``id`` and ``vector``."""
    lancedb: Any = import_store("lancedb")
    database = lancedb.connect(str(out))
    database.create_table(table, arrow_table(layout.vectors, ids), mode="overwrite")


def write_qdrant(layout: Layout, ids: IntArray, out: Path, table: str) -> None:
    """Write a collection of a local Qdrant folder; codes as vectors of ±1, asked by dot product."""
    qdrant: Any = import_store("qdrant")
    vectors = layout.vectors
    assert vectors is not None
    if layout.similarity == "hamming":
        vectors = 2 * np.unpackbits(vectors, axis=1).astype(np.float32) - 1
    client = qdrant.QdrantClient(path=str(out))
    try:
        if client.collection_exists(table):
            client.delete_collection(table)
        distance = getattr(qdrant.models.Distance, _QDRANT[layout.similarity])
        parameters = qdrant.models.VectorParams(size=vectors.shape[1], distance=distance)
        client.create_collection(table, vectors_config=parameters)
        client.upload_collection(table, vectors=vectors, ids=ids.tolist())
    finally:
        client.close()
