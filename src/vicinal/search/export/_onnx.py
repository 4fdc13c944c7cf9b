"""An ONNX graph: raw queries in; mapped ones, the nearest documents and their vote out.

query ─▶ (unit) ─▶ Gemm ─▶ mapped ─▶ (bits) ─▶ Gemm ─▶ scores ─▶ TopK ─▶ ids
                                                            └─▶ TopK ─▶ votes ─▶ label, shares
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_neighbors
from vicinal._writing import write_atomically
from vicinal.rows import Classes, Target
from vicinal.search.export._layout import Layout
from vicinal.search.export._packages import import_store

# Graphs of this version are read by every runtime of the last years.
_OPSET, _IR = 17, 9


@dataclass(frozen=True)
class Votes:
    """What documents say when they are asked, and how many are."""

    target: Target
    n_neighbors: int


@dataclass
class _Graph:
    """Nodes, constants, inputs and outputs, as they are put together."""

    onnx: Any
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)

    def node(self, kind: str, inputs: list[str], *outputs: str, **attributes: Any) -> None:
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, list(outputs), **attributes))

    def hold(self, name: str, values: AnyArray) -> str:
        """Hold an array under a name; texts as objects."""
        rows = values.astype(object) if values.dtype.kind in "US" else values
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(rows), name))
        return name

    def port(self, name: str, kind: str, *shape: int | None) -> Any:
        """Return an input or output."""
        kinds = self.onnx.TensorProto
        return self.onnx.helper.make_tensor_value_info(name, getattr(kinds, kind), list(shape))

    def serialize(self) -> bytes:
        make = self.onnx.helper
        graph = make.make_graph(self.nodes, "vicinal", self.inputs, self.outputs, self.constants)
        model = make.make_model(
            graph, opset_imports=[make.make_opsetid("", _OPSET)], ir_version=_IR,
            producer_name="vicinal",
        )  # fmt: skip
        self.onnx.checker.check_model(model)
        serialized: bytes = model.SerializeToString()
        return serialized


def write_onnx(
    layout: Layout, ids: IntArray | None, out: Path, table: str, votes: Votes | None = None
) -> None:
    """Write a graph from raw queries to mapped ones, and with documents to their order.

    ``query`` (m, d) to ``mapped`` (m, p) by one Gemm; with documents also ``k`` (1,) to ``ids``
    (m, k), the nearest first. With votes ``label`` (m,) and ``shares`` (m, R), or ``mean``.
    """
    graph = _Graph(import_store("onnx"))
    _map(graph, layout)
    if layout.vectors is not None and ids is not None:
        _rank(graph, layout)
        graph.inputs.append(graph.port("k", "INT64", 1))
        graph.node("TopK", ["scores", "k"], "best", "rows", axis=1)
        graph.node("Gather", [graph.hold("numbers", ids.astype(np.int64)), "rows"], "ids", axis=0)
        graph.outputs.append(graph.port("ids", "INT64", None, None))
        if votes is not None:
            _vote(graph, votes, len(ids))
    write_atomically(out, graph.serialize())


def _map(graph: _Graph, layout: Layout) -> None:
    graph.hold("matrix", layout.linear("ONNX"))
    graph.hold("offset", layout.offset())
    graph.inputs.append(graph.port("query", "FLOAT", None, layout.n_inputs))
    graph.outputs.append(graph.port("mapped", "FLOAT", None, layout.width))
    if layout.unit_queries:
        graph.node("LpNormalization", ["query"], "unit", axis=1, p=2)
    first = "unit" if layout.unit_queries else "query"
    graph.node("Gemm", [first, "matrix", "offset"], "mapped", transB=1)


def _rank(graph: _Graph, layout: Layout) -> None:
    """Score documents so that scores descend as the distance rises."""
    queries, shift = "mapped", np.zeros(len(layout.vectors), np.float32)  # type: ignore[arg-type]
    if layout.similarity == "hamming":
        # Bits as −1 and 1: an inner product is what agrees less what differs.
        bits = np.unpackbits(layout.vectors, axis=1)  # type: ignore[arg-type]
        vectors = 2 * bits.astype(np.float32) - 1
        for name, value in (("zero", 0.0), ("one", 1.0), ("minus one", -1.0)):
            graph.hold(name, np.array(value, np.float32))
        graph.node("Greater", ["mapped", "zero"], "is positive")
        graph.node("Where", ["is positive", "one", "minus one"], "bits")
        queries = "bits"
    else:
        vectors = np.asarray(layout.vectors, np.float32)
        if layout.similarity == "euclidean":
            squared = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
            vectors, shift = 2 * vectors, -squared.astype(np.float32)
    graph.hold("documents", vectors)
    graph.hold("shift", shift)
    graph.node("Gemm", [queries, "documents", "shift"], "scores", transB=1)


def _vote(graph: _Graph, votes: Votes, n: int) -> None:
    """Vote as KNNClassifier does, a tie going to the nearest; or take the mean, as KNNRegressor."""
    k = check_neighbors(votes.n_neighbors, n)
    graph.hold("voters", np.array([k]))
    graph.node("TopK", ["scores", "voters"], "nearness", "nearest", axis=1)
    if not isinstance(votes.target, Classes):
        values: FloatArray = np.asarray(votes.target.given, np.float32)
        graph.node("Gather", [graph.hold("values", values), "nearest"], "votes", axis=0)
        graph.node("ReduceMean", ["votes"], "mean", axes=[1], keepdims=0)
        graph.outputs.append(graph.port("mean", "FLOAT", *[None] * values.ndim))
        return
    names, codes = votes.target.names, votes.target.codes.astype(np.int64)
    graph.node("Gather", [graph.hold("classes", codes), "nearest"], "votes", axis=0)
    graph.hold("n classes", np.array([len(names)]))
    graph.hold("off and on", np.array([0.0, 1.0], np.float32))
    graph.node("OneHot", ["votes", "n classes", "off and on"], "ballots", axis=2)
    graph.node("ReduceMean", ["ballots"], "shares", axes=[1], keepdims=0)
    # Less than a vote, and the more the nearer the first neighbour of a class is.
    nearer = (k - np.arange(k, dtype=np.float32)) / (k + 1)
    graph.node("Mul", ["ballots", graph.hold("nearer", nearer[:, None])], "places")
    graph.node("ReduceMax", ["places"], "first place", axes=[1], keepdims=0)
    graph.node("ReduceSum", ["ballots", graph.hold("axis", np.array([1]))], "counts", keepdims=0)
    graph.node("Add", ["counts", "first place"], "standing")
    graph.node("ArgMax", ["standing"], "winner", axis=1, keepdims=0)
    texts = names.dtype.kind in "USO"
    labels = names.astype(str) if texts else names.astype(np.int64)
    graph.node("Gather", [graph.hold("names", labels), "winner"], "label", axis=0)
    graph.outputs.append(graph.port("label", "STRING" if texts else "INT64", None))
    graph.outputs.append(graph.port("shares", "FLOAT", None, len(names)))
