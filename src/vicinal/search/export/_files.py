"""Files: an index of faiss or usearch, a Parquet table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray, IntArray
from vicinal._writing import write_atomically
from vicinal.search.export._layout import Layout
from vicinal.search.export._packages import import_store


def write_faiss(layout: Layout, ids: IntArray, out: Path, table: str) -> None:
    """Write an index that takes raw queries: a linear transform before a flat index; or of bits."""
    faiss: Any = import_store("faiss")
    vectors = layout.vectors
    assert vectors is not None
    if layout.similarity == "hamming":
        codes = faiss.IndexBinaryIDMap(faiss.IndexBinaryFlat(layout.width))
        codes.add_with_ids(vectors, ids)
        write_atomically(out, bytes(faiss.serialize_index_binary(codes)))
        return
    matrix = layout.linear("faiss")
    inner = layout.similarity == "inner"
    flat = (faiss.IndexFlatIP if inner else faiss.IndexFlatL2)(layout.width)
    numbered = faiss.IndexIDMap(flat)
    numbered.add_with_ids(vectors, ids)
    transform = faiss.LinearTransform(layout.n_inputs, layout.width, True)
    faiss.copy_array_to_vector(matrix.ravel(), transform.A)
    faiss.copy_array_to_vector(layout.offset(), transform.b)
    transform.is_trained = True
    index = faiss.IndexPreTransform(transform, numbered)
    if layout.unit_queries:
        index.prepend_transform(faiss.NormalizationTransform(layout.n_inputs, 2.0))
    write_atomically(out, bytes(faiss.serialize_index(index)))


def write_usearch(layout: Layout, ids: IntArray, out: Path, table: str) -> None:
    """Write an index of mapped documents; it is asked with mapped queries."""
    usearch: Any = import_store("usearch")
    kind = {"inner": "ip", "euclidean": "l2sq", "hamming": "hamming"}[layout.similarity]
    bits = layout.similarity == "hamming"
    index = usearch.Index(ndim=layout.width, metric=kind, dtype="b1" if bits else "f32")
    index.add(ids.astype(np.uint64), layout.vectors)
    write_atomically(out, bytes(index.save()))


def write_parquet(layout: Layout, ids: IntArray, out: Path, table: str) -> None:
    """Write a table of ids and vectors, a list of fixed length each."""
    import_store("parquet")
    import pyarrow.parquet as parquet
    from pyarrow import BufferOutputStream

    buffer = BufferOutputStream()
    parquet.write_table(arrow_table(layout.vectors, ids), buffer)
    write_atomically(out, buffer.getvalue().to_pybytes())


def arrow_table(vectors: AnyArray, ids: IntArray) -> Any:
    """Return ids and vectors as a table of pyarrow."""
    pa: Any = import_store("pyarrow")
    rows = pa.FixedSizeListArray.from_arrays(pa.array(np.ravel(vectors)), vectors.shape[1])
    return pa.table({"id": pa.array(ids), "vector": rows})


def ids_of(ids: Sequence[int] | None, n: int) -> IntArray:
    """Return the documents' numbers, checked; None counts from 0."""
    if ids is None:
        return np.arange(n, dtype=np.int64)
    numbers = np.asarray(ids)
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu" or len(np.unique(numbers)) < n:
        raise ValueError(f"ids must be {n} different whole numbers, one a document.")
    if numbers.min(initial=0) < 0:
        raise ValueError(f"ids must be at least 0, got {numbers.min()}.")
    return numbers.astype(np.int64)
