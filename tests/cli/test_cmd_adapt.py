"""``vicinal adapt``, and what follows it: ``transform``, ``export`` and ``info``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vicinal import ExactIndex, load_model

N, N_DOCUMENTS = 400, 30


@pytest.fixture
def corpus(tmp_path, monkeypatch) -> dict[str, Any]:
    """Queries that lie where their documents are turned to, in every kind of file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(N_DOCUMENTS, 8)).astype(np.float32)
    relevant = rng.integers(N_DOCUMENTS, size=N)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    queries = (documents[relevant] @ turn + 0.4 * rng.normal(size=(N, 8))).astype(np.float32)
    np.save("q.npy", queries)
    np.save("d.npy", documents)
    np.save("relevant.npy", relevant)
    np.savez("all.npz", queries=queries, documents=documents, relevant=relevant)
    lines = [{"id": f"doc {i}", "text": f"<b>chunk {i}</b>", "vector": row.tolist()}
             for i, row in enumerate(documents)]  # fmt: skip
    Path("d.jsonl").write_text("\n".join(map(json.dumps, lines)))
    lines = [{"id": i, "text": f"question {i}", "embedding": row.tolist()}
             for i, row in enumerate(queries)]  # fmt: skip
    Path("q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    pairs = [f"{i},doc {j}" for i, j in enumerate(relevant)]
    Path("pairs.csv").write_text("\n".join(["query,document", *pairs]))
    Path("numbers.csv").write_text("\n".join(f"{i},{j},1" for i, j in enumerate(relevant)))
    records = [{"query": i, "document": f"doc {j}"} for i, j in enumerate(relevant.tolist())]
    Path("pairs.jsonl").write_text("\n".join(map(json.dumps, records)))
    return {"queries": queries, "documents": documents, "relevant": relevant}


ARGUMENTS = ("--loss", "softmax", "--split", "queries")


@pytest.mark.parametrize(
    "files",
    [
        ("q.npy", "d.npy", "relevant.npy"),
        ("q.npy", "d.npy", "numbers.csv"),
        ("all.npz:queries", "all.npz:documents", "all.npz:relevant"),
        ("q.jsonl", "d.jsonl", "pairs.csv"),
        ("q.jsonl", "d.jsonl", "pairs.jsonl"),
    ],
)
def test_every_kind_of_file_gives_one_result(run, corpus, files):
    done = run("adapt", *files, *ARGUMENTS, "--json", "result.json")
    assert done.code == 0, done.err
    record = json.loads(Path("result.json").read_text())
    gains = [row["gain"] for row in record["report"] if row["measure"] == "mrr@10"]
    assert min(gains) > 0.1
    assert "Use it for new questions" in done.out
    assert record["n_queries"] == N


def test_parquet_is_read_too(run, corpus):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for name in ("queries", "documents"):
        rows = corpus[name].tolist()
        table = pa.table({"id": list(range(len(rows))), "vector": rows})
        parquet.write_table(table, f"{name}.parquet")
    columns = {"query": list(range(N)), "document": corpus["relevant"].tolist()}
    parquet.write_table(pa.table(columns), "pairs.parquet")
    done = run("adapt", "queries.parquet", "documents.parquet", "pairs.parquet", *ARGUMENTS)
    assert done.code == 0, done.err
    assert "Use it for new questions" in done.out


def test_the_page_shows_texts_as_text(run, corpus):
    done = run("adapt", "q.jsonl", "d.jsonl", "pairs.csv", *ARGUMENTS, "--report", "page.html")
    assert done.code == 0, done.err
    page = Path("page.html").read_text()
    assert "&lt;b&gt;chunk" in page
    assert "<b>chunk" not in page
    assert "question " in page
    assert "Queries that gained most" in page


def test_a_model_maps_queries_and_is_exported(run, corpus):
    assert run("adapt", "q.npy", "d.npy", "relevant.npy", *ARGUMENTS, "-o", "m.vicinal").code == 0
    done = run("transform", "m.vicinal", "q.npy", "--queries", "--out", "mapped.npy")
    assert done.code == 0, done.err
    model, mapped = load_model("m.vicinal"), np.load("mapped.npy")
    np.testing.assert_array_equal(mapped, model.transform_queries(corpus["queries"]))
    done = run("transform", "m.vicinal", "d.jsonl", "--out", "mapped.csv")
    assert Path("mapped.csv").read_text().startswith("row,id,component 1,")
    done = run("export", "m.vicinal", "--to", "faiss", "--documents", "d.npy", "--out", "d.faiss")
    assert done.code == 0, done.err
    faiss = pytest.importorskip("faiss")
    rows = faiss.read_index("d.faiss").search(corpus["queries"][:20], 5)[1]
    documents = model.transform(corpus["documents"])
    np.testing.assert_array_equal(rows, ExactIndex(documents).query(mapped[:20], 5)[1])
    done = run("export", "m.vicinal", "--to", "pgvector", "--out", "map.sql")
    assert "ask: SELECT id FROM documents ORDER BY embedding <#>" in done.out
    assert "queries adapted to documents" in run("info", "m.vicinal").out


def test_a_model_of_fit_is_exported_with_its_table(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=60)
    values = rng.normal(size=(60, 3)) + kind[:, None]
    lines = [
        f"{a:.3f},{b:.3f},{c:.3f},{'xy'[k]}" for (a, b, c), k in zip(values, kind, strict=True)
    ]
    Path("t.csv").write_text("\n".join(["a,b,c,kind", *lines]))
    fitted = run("fit", "t.csv", "--target", "kind", "--method", "lda", "-o", "m.vicinal")
    assert fitted.code == 0, fitted.err
    done = run("export", "m.vicinal", "--to", "duckdb", "--documents", "t.csv", "--out", "t.sql")
    assert done.code == 0, done.err
    assert "60 documents for duckdb" in done.out
    done = run("export", "m.vicinal", "--to", "onnx", "--documents", "t.csv", "--out", "t.onnx")
    assert "documents and the vote of" in done.out


def test_nothing_to_learn_is_said_plainly(run, corpus):
    np.save("shuffled.npy", np.random.default_rng(1).permutation(corpus["relevant"]))
    done = run("adapt", "q.npy", "d.npy", "shuffled.npy", "--loss", "softmax")
    assert done.code == 0, done.err
    assert "Use it for" not in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("q.npy", "d.npy", "none.csv"), "no such file"),
        (("q.npy", "d.npy", "pairs.csv"), "no row number"),
        (("q.jsonl", "d.jsonl", "numbers.csv"), "not among the 30 ids"),
        (("all.npz", "d.npy", "relevant.npy"), "say which array"),
        (("relevant.npy", "d.npy", "relevant.npy"), "vectors, one a row"),
        (("q.npy", "d.npy", "q.npy"), "relevance must be one row number"),
        (("q.npy", "d.npy", "broken.jsonl"), "not a file of JSON lines"),
        (("broken.npy", "d.npy", "relevant.npy"), "cannot be read as an array"),
        (("q.npy", "d.npy", "relevant.npy", "--maps", "index"), "maps"),
        (("q.npy", "d.npy", "relevant.npy", "--json", "q.npy"), "also read by this command"),
    ],
)
def test_bad_input_is_exit_code_2_and_a_sentence(run, corpus, words, message):
    Path("broken.jsonl").write_text("{")
    Path("broken.npy").write_bytes(b"nothing")
    done = run("adapt", *words)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "oracle", "--documents", "d.npy"), "target must be one of"),
        (("--to", "faiss"), "needs the documents"),
        (("--to", "faiss", "--documents", "narrow.npy"), "3 columns"),
    ],
)
def test_an_export_that_cannot_be_is_exit_code_2(run, corpus, words, message):
    np.save("narrow.npy", corpus["documents"][:, :3])
    assert run("adapt", "q.npy", "d.npy", "relevant.npy", *ARGUMENTS, "-o", "m.vicinal").code == 0
    done = run("export", "m.vicinal", "--out", "store", *words)
    assert done.code == 2
    assert message in done.err
