"""QueryAdapter: it helps where there is something to learn, and stays out of the way elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from vicinal import ExactIndex, KNNClassifier, QueryAdapter, load_model, save_model

DATA = Path(os.environ.get("VICINAL_DATA", "/nowhere")) / "embeddings"


def turned(seed: int = 0, n: int = 900, n_documents: int = 60) -> tuple[Any, Any, Any]:
    """Return queries that lie where their documents are turned to."""
    rng = np.random.default_rng(seed)
    documents = rng.normal(size=(n_documents, 10)).astype(np.float32)
    relevant = rng.integers(n_documents, size=n)
    turn = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    queries = documents[relevant] @ turn + 0.5 * rng.normal(size=(n, 10))
    return queries.astype(np.float32), documents, relevant


def guesses(seed: int = 0) -> tuple[Any, Any, Any]:
    """Return queries that have nothing to do with their documents."""
    queries, documents, relevant = turned(seed, 300)
    return queries, documents, np.random.default_rng(seed).permutation(relevant)


def quick(**parameters: Any) -> QueryAdapter:
    return QueryAdapter(random_state=0, **{"loss": "softmax", "max_iter": 8, **parameters})


@pytest.mark.parametrize("loss", ["softmax", "hinge", "gerrymandering"])
@pytest.mark.parametrize("negatives", ["all", "batch", "mined"])
def test_a_turn_of_the_queries_is_learned(loss, negatives):
    queries, documents, relevant = turned()
    adapter = quick(loss=loss, negatives=negatives).fit(queries[200:], documents, relevant[200:])
    plain = QueryAdapter(regularization=1e6, loss="softmax").fit(*turned())
    after = adapter.score(queries[:200], documents, relevant[:200], scoring="mrr@10")
    before = plain.score(queries[:200], documents, relevant[:200], scoring="mrr@10")
    assert after > before + 0.2
    gains = {row["held_out"]: row["gain"] for row in adapter.report_ if row["measure"] == "mrr@10"}
    assert gains["queries"] > 0.2
    assert gains["documents"] > 0.2


@pytest.mark.parametrize("maps", ["query", "document", "both"])
def test_the_identity_stays_where_there_is_nothing_to_learn(maps):
    queries, documents, relevant = guesses()
    adapter = quick(maps=maps).fit(queries, documents, relevant)
    assert adapter.best_ == "identity"
    assert_array_equal(adapter.query_components_, np.eye(10))
    assert all(row["gain"] == 0 for row in adapter.report_)


def test_the_index_is_left_alone():
    queries, documents, relevant = turned()
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    adapter = quick(regularization=0.01).fit(queries, documents, relevant)
    assert_allclose(adapter.transform(documents), documents, rtol=1e-6)
    mapped = adapter.transform_queries(queries[:20])
    by_product = np.argsort(-(mapped @ documents.T), axis=1)[:, :5]
    assert_array_equal(ExactIndex(documents).query(mapped, 5)[1], by_product)


def test_documents_move_to_their_queries_and_others_stay():
    queries, documents, _ = turned()
    rng = np.random.default_rng(1)
    relevant = rng.integers(40, size=len(queries))
    queries = rng.normal(size=(40, 10))[relevant] + 0.4 * rng.normal(size=(len(queries), 10))
    queries = queries.astype(np.float32)
    adapter = quick(maps="document", split="queries").fit(queries, documents, relevant)
    assert adapter.best_.startswith("documents moved")
    unit = documents / np.linalg.norm(documents, axis=1, keepdims=True)
    moved = adapter.transform(documents)
    assert_allclose(moved[40:], unit[40:], rtol=1e-5)
    asking = queries[relevant == 3] / np.linalg.norm(queries[relevant == 3], axis=1, keepdims=True)
    direction = adapter.weight_ * unit[3] + asking.sum(axis=0)
    assert_allclose(moved[3], direction / np.linalg.norm(direction), rtol=1e-4)
    assert adapter.score(queries, documents, relevant) > 0.5


def test_documents_that_nobody_asked_for_are_no_wrong_answers():
    queries, documents, relevant = turned(n=600)
    asked = relevant < 40
    fits = [
        quick(unjudged=unjudged, regularization=0.01, split="queries").fit(
            queries[asked], documents, relevant[asked]
        )
        for unjudged in ("ignore", "wrong")
    ]
    fewer = quick(regularization=0.01, split="queries").fit(
        queries[asked], documents[:40], relevant[asked]
    )
    assert_allclose(fits[0].query_components_, fewer.query_components_, atol=1e-3)
    assert np.abs(fits[1].query_components_ - fewer.query_components_).max() > 0.01


def test_short_vectors_rank_nearly_as_long_ones():
    queries, documents, relevant = turned()
    queries[:, 6:], documents[:, 6:] = 1e-3 * queries[:, 6:], 1e-3 * documents[:, 6:]
    whole = quick(regularization=0.01).fit(queries, documents, relevant)
    short = quick(regularization=0.01, n_components=6).fit(queries, documents, relevant)
    assert short.transform(documents).shape == (60, 6)
    assert short.transform_queries(queries).shape == (900, 6)
    scores = [fit.score(queries, documents, relevant) for fit in (whole, short)]
    assert scores[1] > scores[0] - 0.02


def test_new_clicks_move_the_map_and_the_many_before_hold_it():
    queries, documents, relevant = turned()
    adapter = quick(regularization=0.01).fit(queries[:100], documents, relevant[:100])
    before = adapter.score(queries[600:], documents, relevant[600:])
    first = adapter.query_components_
    adapter.partial_fit(queries[100:600], documents, relevant[100:600])
    assert adapter.score(queries[600:], documents, relevant[600:]) > before
    assert adapter.n_queries_ == len(np.unique(queries[:600], axis=0))
    far = np.abs(adapter.query_components_ - first).max()
    held = quick(regularization=0.01).fit(queries[:100], documents, relevant[:100])
    held.n_queries_ = 10**7
    held.partial_fit(queries[100:600], documents, relevant[100:600])
    assert np.abs(held.query_components_ - first).max() < far / 10


def test_clicks_are_added_to_the_documents_they_are_for():
    queries, documents, relevant = turned()
    rng = np.random.default_rng(1)
    queries = (rng.normal(size=(60, 10))[relevant] + 0.3 * rng.normal(size=(900, 10))).astype("f")
    adapter = quick(maps="document", split="queries")
    adapter.fit(queries[:800], documents, relevant[:800])
    whole = clone(adapter).fit(queries, documents, relevant)
    assert adapter.weight_ == whole.weight_
    adapter.partial_fit(queries[800:], documents, relevant[800:])
    assert_allclose(adapter.transform(documents), whole.transform(documents), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("parameters", [
    {}, {"maps": "document", "split": "queries"}, {"n_components": 4}, {"offset": True},
    {"similarity": "inner"},
])  # fmt: skip
def test_a_model_file_gives_the_same_bits(parameters, tmp_path):
    queries, documents, relevant = turned()
    adapter = quick(**parameters).fit(queries, documents, relevant)
    save_model(adapter, tmp_path / "search.vicinal")
    again = load_model(tmp_path / "search.vicinal")
    assert_array_equal(again.transform_queries(queries), adapter.transform_queries(queries))
    assert_array_equal(again.transform(documents), adapter.transform(documents))
    assert again.report_ == adapter.report_


def test_labelled_rows_look_for_their_class():
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=500)
    X = np.hstack([rng.normal(size=(6, 4))[labels], 2 * rng.normal(size=(500, 12))])
    X += 0.3 * rng.normal(size=X.shape)
    adapter = QueryAdapter(random_state=0)
    after = KNNClassifier(5, adapter).fit(X[:400], labels[:400]).score(X[400:], labels[400:])
    before = KNNClassifier(5).fit(X[:400], labels[:400]).score(X[400:], labels[400:])
    assert after > before + 0.1


def test_a_question_that_cannot_be_asked_is_said():
    queries, documents, relevant = turned()
    two = relevant < 2
    adapter = quick().fit(queries[two], documents, relevant[two])
    assert any("nothing is known of new documents" in note for note in adapter.notes_)
    few = quick().fit(queries[:3], documents, relevant[:3])
    assert few.best_ == "identity"
    assert any("too few queries" in note for note in few.notes_)


def test_what_was_merged_or_left_out_is_counted():
    queries, documents, relevant = turned(n=40)
    lists = [[j] for j in relevant]
    lists[5] = []
    queries[7] = queries[6]
    adapter = quick(regularization=0.1).fit(queries, documents, lists)
    assert "queries left out that name no document: 1." in adapter.notes_
    assert "queries asked again, which count once: 1." in adapter.notes_
    assert any("not of unit length" in note for note in adapter.notes_)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q, d, r: (q[:, :4], d, r), "4 columns and documents 10"),
        (lambda q, d, r: (q, d, r + 60), "names document"),
        (lambda q, d, r: (q * np.nan, d, r), "queries hold a value that is missing"),
        (lambda q, d, r: (q, 0 * d, r), "row 0 of documents is all zeros"),
        (lambda q, d, r: (q, d[:1], 0 * r), "one document"),
        (lambda q, d, r: (q, d, None), "relevance is missing"),
        (lambda q, d, r: (q.astype(str), d, r), "must hold numbers"),
        (lambda q, d, r: (q[0], d, r), "one a row"),
        (lambda q, d, r: (1e300 * q.astype(float), d, r), "beyond float32"),
    ],
)
def test_bad_input_is_refused_in_words(change, words):
    with pytest.raises(ValueError, match=words):
        quick().fit(*change(*turned(n=80)))


@pytest.mark.parametrize(
    "parameters",
    [{"maps": "index"}, {"loss": "l2"}, {"split": "rows"}, {"negatives": "some"},
     {"unjudged": "right"}, {"similarity": "l2"}, {"regularization": -1}, {"max_iter": 0},
     {"n_components": 99}, {"n_neighbors": 0}],
)  # fmt: skip
def test_bad_parameters_are_refused_by_name(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        QueryAdapter(**parameters).fit(*turned(n=80))


def test_a_softmax_over_too_many_documents_is_refused_with_its_price():
    from vicinal.search._negatives import choose_negatives
    from vicinal.search._relevance import Judgements

    with pytest.raises(ValueError, match="8 TFLOP a step"):
        choose_negatives("all", Judgements(None), 5000, 10**6, 384, "wrong", 0)


@pytest.mark.skipif(not DATA.is_dir(), reason="VICINAL_DATA is not set")
def test_questions_about_a_report_find_their_chunks():
    with np.load(DATA / "apple_qa.npz") as file:
        queries, documents = (file[name].astype(np.float32) for name in ("queries", "documents"))
        relevant = file["relevant"]
    order = np.random.default_rng(0).permutation(len(queries))
    held, some = order[:860], order[860:1860]
    adapter = quick(split="queries").fit(queries[some], documents, relevant[some])
    assert adapter.score(queries[held], documents, relevant[held], scoring="mrr@10") > 0.39


def test_three_rows_a_class_are_judged_with_as_many_of_each_left():
    from vicinal.rows import Rows, read_target
    from vicinal.search._fitting import _class_splits

    labels = np.repeat(np.arange(20), 3)
    splits = _class_splits(Rows(np.arange(60)[:, None], read_target(labels, "classification")), 0)
    assert len(splits) == 3
    for split in splits:
        assert_array_equal(np.bincount(labels[split.train]), 2)
