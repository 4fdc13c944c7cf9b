"""Files: an index of faiss or usearch, a Parquet table, an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._writing import write_atomically
from vicinal.search.export._layout import Layout
from vicinal.search.export._packages import import_store

# Graphs of this version are read by every runtime of the last years.
_OPSET, _IR = 17, 9


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


def write_onnx(layout: Layout, ids: IntArray | None, out: Path, table: str) -> None:
    """Write a graph from raw queries to mapped ones, and with documents to their order.

    ``query`` (m, d) to ``mapped`` (m, p) by one Gemm; with documents also ``k`` (1,) to ``ids``
    (m, k), the nearest first.
    """
    onnx: Any = import_store("onnx")
    matrix = layout.linear("ONNX")
    make, kinds = onnx.helper, onnx.TensorProto
    held = [_tensor(onnx, "matrix", matrix), _tensor(onnx, "offset", layout.offset())]
    first = "unit" if layout.unit_queries else "query"
    nodes = [make.make_node("Gemm", [first, "matrix", "offset"], ["mapped"], transB=1)]
    if layout.unit_queries:
        nodes.insert(0, make.make_node("LpNormalization", ["query"], ["unit"], axis=1, p=2))
    inputs = [make.make_tensor_value_info("query", kinds.FLOAT, [None, layout.n_inputs])]
    outputs = [make.make_tensor_value_info("mapped", kinds.FLOAT, [None, layout.width])]
    if layout.vectors is not None and ids is not None:
        scale, shift = _ranking(layout)
        held += [_tensor(onnx, "documents", scale), _tensor(onnx, "shift", shift)]
        held.append(_tensor(onnx, "numbers", ids.astype(np.int64)))
        nodes += [
            make.make_node("Gemm", ["mapped", "documents", "shift"], ["scores"], transB=1),
            make.make_node("TopK", ["scores", "k"], ["best", "rows"], axis=1),
            make.make_node("Gather", ["numbers", "rows"], ["ids"], axis=0),
        ]
        inputs.append(make.make_tensor_value_info("k", kinds.INT64, [1]))
        outputs.append(make.make_tensor_value_info("ids", kinds.INT64, [None, None]))
    graph = make.make_graph(nodes, "vicinal", inputs, outputs, held)
    model = make.make_model(
        graph, opset_imports=[make.make_opsetid("", _OPSET)], ir_version=_IR,
        producer_name="vicinal",
    )  # fmt: skip
    onnx.checker.check_model(model)
    write_atomically(out, model.SerializeToString())


def _ranking(layout: Layout) -> tuple[FloatArray, FloatArray]:
    """Return a matrix (n, p) and a shift (n,) whose scores descend as the distance rises."""
    vectors = np.asarray(layout.vectors, np.float32)
    if layout.similarity == "inner":
        return vectors, np.zeros(len(vectors), np.float32)
    squared = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return 2 * vectors, -squared.astype(np.float32)


def _tensor(onnx: Any, name: str, values: AnyArray) -> Any:
    return onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)


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
