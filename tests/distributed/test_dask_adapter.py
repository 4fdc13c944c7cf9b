"""Query adapters of documents in partitions: the map that documents in memory give."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal import ExactIndex, NearestNeighbors, QueryAdapter
from vicinal.search import _partitions


def turned(n: int = 500, n_documents: int = 90) -> tuple[Any, Any, Any]:
    """Return queries that are documents turned, the documents, and which they are."""
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(n_documents, 8)).astype(np.float32)
    relevant = rng.integers(60, size=n)
    queries = documents[relevant] @ rng.normal(size=(8, 8)) + rng.normal(size=(n, 8))
    return queries.astype(np.float32), documents, relevant


def adapter(**options: Any) -> QueryAdapter:
    return QueryAdapter(**{"regularization": 0.01, "random_state": 0, "max_iter": 4} | options)


@pytest.mark.parametrize("most", [20_000, 30])
@pytest.mark.parametrize("maps", ["query", "both"])
def test_documents_in_partitions_give_the_map_of_documents_in_memory(monkeypatch, most, maps):
    monkeypatch.setattr(_partitions, "MOST_DOCUMENTS", most)
    queries, documents, relevant = turned()
    right = adapter(maps=maps).fit(queries, documents, relevant)
    parts = da.from_array(documents, chunks=(17, 3))
    others = adapter(maps=maps).fit(da.from_array(queries, chunks=(90, 8)), parts, relevant)
    assert others.best_ == right.best_
    assert others.best_ != "identity"
    assert_array_equal(others.query_components_, right.query_components_)
    assert others.leaderboard_ == right.leaderboard_
    assert others.report_ == right.report_
    assert_array_equal(others.held_out_places_, right.held_out_places_)


def test_only_what_is_needed_is_gathered(monkeypatch):
    monkeypatch.setattr(_partitions, "MOST_DOCUMENTS", 20)
    sizes = []
    compute = da.Array.compute

    def noted(self: Any, **how: Any) -> Any:
        values = compute(self, **how)
        sizes.append(values.shape)
        return values

    monkeypatch.setattr(da.Array, "compute", noted)
    queries, documents, relevant = turned(n_documents=2000)
    adapter(loss="softmax").fit(queries, da.from_array(documents, chunks=(300, 8)), relevant)
    ((n, _),) = sizes
    assert 60 <= n <= 80


def test_of_very_many_queries_some_are_drawn_and_that_is_said(monkeypatch):
    monkeypatch.setattr(_partitions, "MOST_QUERIES", 300)
    queries, documents, relevant = turned()
    some = adapter(loss="softmax").fit(da.from_array(queries, chunks=(90, 8)), documents, relevant)
    assert some.notes_[0] == "learned from 300 of 500 queries, drawn at random."
    assert some.n_queries_ == 300
    assert some.held_out_places_[:, 0].max() > 300


def test_an_adapter_that_sees_little_searches_all():
    queries, documents, relevant = turned()
    parts = da.from_array(documents, chunks=(17, 8))
    learned = adapter(loss="softmax").fit(queries, parts, relevant)
    asked = learned.transform_queries(queries[:30])
    found = ExactIndex(parts.map_blocks(learned.transform, dtype=np.float32)).query(asked, 5)[1]
    assert_array_equal(found, ExactIndex(learned.transform(documents)).query(asked, 5)[1])


def test_more_queries_are_learned_from_documents_in_partitions():
    queries, documents, relevant = turned()
    fits = [
        adapter(loss="softmax")
        .fit(queries[:300], rows, relevant[:300])
        .partial_fit(queries[300:], rows, relevant[300:])
        for rows in (documents, da.from_array(documents, chunks=(17, 8)))
    ]
    assert_array_equal(fits[0].query_components_, fits[1].query_components_)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda q, d, r: adapter(unjudged="wrong").fit(q, d, r), "looks at every document"),
        (lambda q, d, r: adapter().fit(q, d, r + 80), "names document"),
        (lambda q, d, r: adapter().fit(q[:, :5], d, r), "5 columns and documents 8"),
        (lambda q, d, r: adapter().fit(d, r), "X is a dask collection"),
        (lambda q, d, r: adapter().fit(q, d), "relevance is missing"),
        (lambda q, d, r: adapter().fit(q, d * np.nan, r), "missing, infinite"),
        (lambda q, d, r: adapter().fit(q, d * 0, r), "all zeros"),
        (lambda q, d, r: adapter().fit(q, d.compute(), r).score(q, d, r), "y is a dask collection"),
        (lambda q, d, r: NearestNeighbors(metric=adapter()).fit(d, r[:90]), "FrozenEstimator"),
    ],
)
def test_what_cannot_be_done_with_documents_in_partitions_is_said(act, words):
    queries, documents, relevant = turned()
    with pytest.raises(ValueError, match=words):
        act(queries, da.from_array(documents, chunks=(30, 8)), relevant)
