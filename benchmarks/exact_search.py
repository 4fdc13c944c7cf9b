"""Exact search against faiss and scikit-learn: building the index and answering all queries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import faiss
import joblib
import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks._measure import Case
from vicinal import BinaryIndex, ExactIndex, KNNClassifier, load_dataset

THREADS = int(os.environ.get("OMP_NUM_THREADS", joblib.cpu_count()))


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield MNIST where its data are at hand, then made-up data of other shapes."""
    faiss.omp_set_num_threads(THREADS)
    if "VICINAL_DATA" in os.environ:
        yield mnist(500 if quick else None)
    n, m = (3_000, 200) if quick else (100_000, 5_000)
    yield vectors("100,000 × 16, float32, k=10", n, m, 16, np.float32, 10)
    yield vectors("100,000 × 128, float32, k=100", n, m, 128, np.float32, 100)
    yield vectors("100,000 × 16, float64, k=5", n, m, 16, np.float64, 5, peer="scikit-learn")
    yield codes("100,000 codes of 64 bits, k=5", n, m, 8, 5)


def mnist(n_queries: int | None) -> Case:
    """All of MNIST, raw pixels, k=3, with the error of the stated tie rule."""
    digits = load_dataset("mnist")
    assert digits.is_test is not None
    X, y = digits.X[~digits.is_test], digits.y[~digits.is_test]
    queries, truth = digits.X[digits.is_test][:n_queries], digits.y[digits.is_test][:n_queries]

    def ours() -> Any:
        return KNNClassifier(n_neighbors=3, n_jobs=THREADS).fit(X, y).predict(queries)

    def check(predicted: Any, found: Any) -> Mapping[str, Any]:
        wrong = round(100 * float(np.mean(predicted != truth)), 2)
        return {"error_percent": wrong, "note": f"error {wrong:.2f} %"}

    return Case(
        name="MNIST 60,000 × 784, 10,000 queries, k=3, fit and predict",
        peer_name="faiss IndexFlatL2",
        ours=ours,
        peer=lambda: flat_faiss(X, queries, 3),
        warm_up=lambda: KNNClassifier(n_neighbors=3).fit(X[:2000], y[:2000]).predict(queries[:9]),
        check=check,
        limits={"cpu_ratio": 1.3, "peak_mb": 1500, "error_percent": 2.83},
    )


def vectors(
    name: str, n: int, m: int, d: int, dtype: Any, k: int, peer: str = "faiss IndexFlatL2"
) -> Case:
    """Normal vectors; the peer must find the same neighbours but for rounded ties."""
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    search = flat_faiss if peer.startswith("faiss") else brute_scikit_learn
    return Case(
        name=name,
        peer_name=peer,
        ours=lambda: ExactIndex(X, n_jobs=THREADS).query(queries, k),
        peer=lambda: search(X, queries, k),
        warm_up=lambda: ExactIndex(X[:5000]).query(queries[:5], k),
        check=check_neighbours,
    )


def codes(name: str, n: int, m: int, n_bytes: int, k: int) -> Case:
    """Random codes against faiss' exhaustive binary index."""
    rng = np.random.default_rng(0)
    X, queries = (rng.integers(0, 256, (rows, n_bytes), dtype=np.uint8) for rows in (n, m))

    def peer() -> Any:
        index = faiss.IndexBinaryFlat(8 * n_bytes)
        index.add(X)
        return index.search(queries, k)

    def check(found: Any, expected: Any) -> Mapping[str, Any]:
        np.testing.assert_array_equal(found[0], expected[0])
        return {"note": "same distances"}

    return Case(
        name=name,
        peer_name="faiss IndexBinaryFlat",
        ours=lambda: BinaryIndex(X, n_jobs=THREADS).query(queries, k),
        peer=peer,
        warm_up=lambda: BinaryIndex(X[:100]).query(queries[:5], k),
        check=check,
    )


def flat_faiss(X: Any, queries: Any, k: int) -> Any:
    """Build faiss' exhaustive index and search it."""
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(queries, k)


def brute_scikit_learn(X: Any, queries: Any, k: int) -> Any:
    """Search exhaustively with scikit-learn."""
    distances, indices = (
        NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors(queries)
    )
    return distances**2, indices


def check_neighbours(found: Any, expected: Any) -> Mapping[str, Any]:
    """Compare squared distances to the peer's precision; count what the rounding reordered."""
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-3, atol=1e-3)
    share = float(np.mean(found[1] != expected[1]))
    return {"note": f"{100 * share:.3g} % of neighbours ordered otherwise by the peer's rounding"}
