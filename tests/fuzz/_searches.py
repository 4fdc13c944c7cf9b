"""Bad vectors, queries and distances for indexes and for sets of neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from tests.fuzz._outcomes import Wrong
from tests.fuzz.calls import COUNTS, LENGTHS, Call, Outputs, spoil
from tests.fuzz.numbers import ANY, REFUSE, SAME, N, X, y

import vicinal
from vicinal import index

RANDOM = np.random.default_rng(1)


VECTORS = X
QUERIES = X[::5] + 0.1


def calls() -> Iterator[Call]:
    """Yield searches, their settings, and inferences."""
    yield from _searches()
    yield from _settings_of_searches()
    yield from _sets()


def _searches() -> Iterator[Call]:
    kinds: dict[str, Callable[..., Any]] = {
        "ExactIndex": index.ExactIndex,
        "ExactIndex, blocks": lambda rows: index.ExactIndex(rows, block_size=7),
        "SparseIndex": lambda rows: index.SparseIndex(rows),
        "FaissIndex": index.FaissIndex,
        "FaissIndex, graph": lambda rows: index.FaissIndex(rows, "HNSW8"),
    }
    for name, build in kinds.items():
        rows, asked = spoil(VECTORS), spoil(QUERIES)
        asked["none"] = (ANY, QUERIES[:0])
        del asked["no entries"]
        yield Call(f"{name} of its rows", _itself(build), rows=(VECTORS, rows), k=3)
        yield Call(
            f"{name}.query", lambda rows, k, build=build: build(VECTORS).query(rows, k),
            rows=(QUERIES, asked), k=(3, COUNTS),
        )  # fmt: skip
        if "graph" not in name:
            yield Call(f"{name}.query_radius", _radius(build), rows=(QUERIES, asked),
                       radius=(1.5, LENGTHS))  # fmt: skip
    codes = RANDOM.integers(0, 256, (N, 4)).astype(np.uint8)
    floats = {n: c for n, c in spoil(X).items() if n != "unsigned"}
    floats = {n: (REFUSE, v) for n, (_, v) in floats.items()}
    yield Call("BinaryIndex", _itself(index.BinaryIndex), rows=(codes, floats), k=3)
    bits = index.BinaryIndex(codes)
    yield Call("BinaryIndex.query", bits.query, codes=(codes[:9], floats), k=(3, COUNTS))
    yield Call(
        "BinaryIndex.query_radius",
        bits.query_radius,
        codes=(codes[:9], floats),
        radius=(9, LENGTHS),
    )


def _itself(build: Callable[..., Any]) -> Callable[..., Outputs]:
    def run(rows: Any, k: int) -> Outputs:
        built = build(rows)
        n = built.codes.shape[0] if hasattr(built, "codes") else built.vectors.shape[0]
        asked = rows.toarray() if sparse.issparse(rows) else rows
        values, found = built.query(asked, min(k, n))
        # A row is at distance 0 of itself, and no other row is nearer.
        if not (values[:, 0] <= 1e-6 * max(1.0, float(values.max(initial=0.0)))).all():
            raise Wrong("a row is not its own neighbour")
        return values, found

    return run


def _radius(build: Callable[..., Any]) -> Callable[..., Outputs]:
    def run(rows: Any, radius: Any) -> Outputs:
        return tuple(build(VECTORS).query_radius(rows, radius))

    return run


def _settings_of_searches() -> Iterator[Call]:
    def exact(block_size: Any, n_jobs: Any) -> Outputs:
        return index.ExactIndex(VECTORS, block_size=block_size, n_jobs=n_jobs).query(QUERIES, 3)

    sizes = COUNTS | {"None": (SAME, None), str(2**70): (ANY, 2**70), "one more": (SAME, N + 1)}
    jobs = {n: c for n, c in COUNTS.items() if n not in ("all", "one more", str(2**70), "-1")}
    jobs |= {"None": (SAME, None), "-1": (SAME, -1), "many": (SAME, 5)}
    yield Call("ExactIndex", exact, block_size=(1024, sizes), n_jobs=(1, jobs))

    def faiss(factory: Any) -> Outputs:
        return tuple(index.FaissIndex(VECTORS, factory).query(QUERIES, 3))

    factories = (
        "",
        "nosuch",
        7,
        None,
        b"Flat",
        "IVF9999,Flat",
        "PQ3",
        "Flat;nprobe=x",
        "PQ4x40",
        "Flat;",
        ";",
        "HNSW0",
        "HNSW-1",
        "IVF-1,Flat",
        "PCA9,Flat",
        "Flat\0",
        "x" * 9999,
    )
    yield Call("FaissIndex", faiss, factory=("Flat", {repr(f)[:20]: (ANY, f) for f in factories}))

    def retrieval(relevant: Any, n_returned: Any) -> Outputs:
        return tuple(index.score_lists(relevant, n_returned).record().values())

    hits = RANDOM.random((6, 9)) < 0.4
    values = {n: (REFUSE, v) for n, (_, v) in spoil(X).items() if n != "boolean"}
    values |= {
        "none": (REFUSE, np.zeros((3, 4), bool)),
        "no places": (REFUSE, np.ones((3, 0), bool)),
    }
    counts = {
        n: (REFUSE, v)
        for n, (_, v) in spoil(1.0 + np.arange(6.0)).items()
        if n
        not in (
            "nothing",
            "fortran",
            "backwards",
            "read only",
            "big endian",
            "list",
            "objects",
            "half",
            "single",
            "boolean",
            "all alike",
            "all zero",
        )
    }
    yield Call(
        "score_lists",
        retrieval,
        relevant=(hits, values),
        n_returned=(None, counts | {"pairs alike": (REFUSE, [1.0] * 6)}),
    )


def _sets() -> Iterator[Call]:
    distances = RANDOM.random((6, N))
    allowed = {"long objects", "inf", "far away", "farther away", "no entries"}
    table = {n: c for n, c in spoil(distances).items() if n not in allowed}
    table |= {"long whole numbers": (ANY, np.full((6, N), 2**60)),
              "inf": (ANY, np.where(distances > 0.5, np.inf, distances)),
              "all inf": (ANY, np.full((6, N), np.inf)),
              "negative": (ANY, -distances)}  # fmt: skip
    classes = {
        n: (REFUSE, v) for n, (_, v) in spoil(np.arange(float(N))).items() if n != "unsigned"
    } | {
        "negative": (REFUSE, y - 1),
        "huge": (ANY, y * 2**60),
        "bytes": (SAME, y.astype(np.int8)),
        "unsigned": (SAME, y.astype(np.uint64)),
        "beyond": (REFUSE, y.astype(np.uint64) + 2**63),
        "long whole numbers": (ANY, 2**60 + y),
        "one class": (ANY, 0 * y),
        "a class each": (ANY, np.arange(N)),
        "list": (SAME, y.tolist()),
    }
    counts = {n: c for n, c in COUNTS.items() if n not in ("one more", str(2**70))}
    counts |= {"one more": (ANY, N + 1)}
    costs = {n: (REFUSE, v) for n, (_, v) in spoil(1.0 - np.eye(3)).items()
             if n not in ("nothing", "fortran", "backwards", "read only", "big endian", "list",
                          "objects", "half", "single", "unsigned", "all zero", "bytes", "boolean")
             and not n.startswith("times") and n not in ("1e308", "1e150", "1e40")}  # fmt: skip
    costs |= {f"times 1e{e}": (ANY, (1 - np.eye(3)) * 10.0**e) for e in (-320, -40, 40, 300)}

    def block(distances: Any, labels: Any, targets: Any, k: Any, costs: Any) -> Outputs:
        found = vicinal.infer_sets(distances, labels, targets, k, costs=costs)
        return found.best, found.violating, found.voted, found.loss

    def one(distances: Any, labels: Any, target: Any, k: Any, costs: Any) -> Outputs:
        best = vicinal.best_voting_set(distances, labels, target, k)
        worst = vicinal.most_violating_set(distances, labels, target, k, costs=costs)
        loss = vicinal.gerrymandering_loss(distances, labels, target, k, costs=costs)
        finite = [np.zeros(0) if part is None else part.indices for part in (best, worst)]
        return *finite, loss

    free = {*allowed, "no columns", "long whole numbers", "long objects"}
    short = {n: c for n, c in spoil(distances[0]).items() if n not in free}
    yield Call("infer_sets", block, distances=(distances, table), labels=(y, classes),
               targets=np.arange(6) % 3, k=(3, counts), costs=(None, costs))  # fmt: skip
    yield Call("voting sets", one, distances=(distances[0], short), labels=(y, classes),
               target=(0, {n: c for n, c in counts.items() if c[0] == REFUSE and n != "0"}),
               k=(3, counts), costs=(None, costs))  # fmt: skip
