"""Judgements: every way to write them is read as the same, and what cannot be is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from tests.oracles import ranking_losses as oracle

from vicinal.search._measures import list_scores, ranked_grades, read_measure
from vicinal.search._nearest import largest_products
from vicinal.search._relevance import Judgements, equal_rows, merge_equal, read_judgements
from vicinal.search._splits import split_documents, split_queries

LISTS = [[0, 2], [1], [], [2]]
DENSE = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 1]], float)


@pytest.mark.parametrize(
    "relevance",
    [LISTS, DENSE, DENSE > 0, sparse.csr_matrix(DENSE), sparse.coo_array(DENSE),
     np.argwhere(DENSE),
     np.vstack([np.argwhere(DENSE)] * 2)],
    ids=["lists", "grades", "truths", "csr", "coo", "pairs", "pairs twice"],
)  # fmt: skip
def test_every_way_to_write_judgements_is_one(relevance):
    judgements = read_judgements(relevance, 4, 3)
    assert_array_equal(judgements.grades.toarray(), DENSE)
    assert judgements.n_left_out == 1


def test_pairs_may_have_grades():
    pairs = np.array([[0, 4, 2.0], [1, 0, 0.5]])
    expected = [[0, 0, 0, 0, 2], [0.5, 0, 0, 0, 0]]
    assert_array_equal(read_judgements(pairs, 2, 5).grades.toarray(), expected)


def test_one_row_number_a_query_is_enough():
    assert_array_equal(read_judgements([2, 0], 2, 3).grades.toarray(), [[0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    ("relevance", "words"),
    [
        ([0, 5, 1, 1], "names document 5, but there are 3"),
        ([0, -1, 1, 1], "names document -1"),
        (np.array([[9, 0]]), "names query 9"),
        ([0, 1], "got shape"),
        ([[0], [1]], "2 lists for 4 queries"),
        ([0.5, 1, 1, 1], "relevance must be"),
        (["a", "b", "c", "d"], "relevance must be"),
        ([[], [], [], []], "names no relevant document at all"),
        (sparse.csr_matrix(DENSE.T), "shape"),
        (sparse.csr_matrix(-DENSE), "not a finite number of at least 0"),
        (sparse.csr_matrix(np.where(DENSE > 0, np.inf, 0)), "not a finite number"),
    ],
)
def test_judgements_that_name_what_is_not_there_are_refused(relevance, words):
    with pytest.raises(ValueError, match=words):
        read_judgements(relevance, 4, 3)


def test_equal_queries_are_one_and_equal_documents_equally_right():
    queries = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    documents = np.array([[1, 0], [0, 1], [-0.0, 1], [1, 1]], np.float32)
    merged, left = merge_equal(read_judgements([0, 1, 3], 3, 4), queries, documents)
    assert_array_equal(left, [0, 1])
    assert_array_equal(merged.grades.toarray() > 0, [[1, 0, 0, 1], [0, 1, 1, 0]])


def test_rows_are_equal_where_their_numbers_are():
    rows = np.random.default_rng(0).integers(2, size=(300, 4)).astype(np.float32)
    first: dict[tuple, int] = {}
    expected = [first.setdefault(tuple(row), i) for i, row in enumerate(rows.tolist())]
    assert_array_equal(equal_rows(rows), expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 8))
def test_measures_are_those_spelled_out(seed, n_documents, k):
    rng = np.random.default_rng(seed)
    grades = rng.integers(4, size=(6, n_documents)) * (rng.random((6, n_documents)) < 0.5)
    grades[:, 0] = np.maximum(grades[:, 0], 1)
    queries, documents = rng.normal(size=(6, 5)), rng.normal(size=(n_documents, 5))
    judgements = Judgements(sparse.csr_array(grades.astype(np.float32)))
    lists = ranked_grades(queries, documents, judgements, np.arange(6), np.arange(n_documents), 0)
    orders = np.argsort(-(queries @ documents.T), axis=1, kind="stable")
    for name, measure in (
        ("ndcg", oracle.ndcg), ("mrr", oracle.reciprocal), ("map", oracle.average_precision)
    ):  # fmt: skip
        expected = [
            measure(order.tolist(), {j: g for j, g in enumerate(row) if g}, k)
            for order, row in zip(orders, grades.tolist(), strict=True)
        ]
        assert_allclose(list_scores(f"{name}@{k}", *lists), expected, rtol=1e-5)
    hits = np.take_along_axis(grades, orders, axis=1)[:, :k] > 0
    assert_array_equal(list_scores(f"hit@{k}", *lists), hits.any(axis=1))
    possible = np.minimum((grades > 0).sum(axis=1), k)
    assert_allclose(list_scores(f"recall@{k}", *lists), hits.sum(axis=1) / possible)


@pytest.mark.parametrize("name", ["ndcg@0", "accuracy", "mrr@-1", "hit@", "ndcg@1.5"])
def test_an_unknown_measure_is_refused(name):
    with pytest.raises(ValueError, match="scoring must be one of"):
        read_measure(name)


@pytest.mark.parametrize("width", [3, 40, 10_000])
def test_largest_products_are_those_of_the_whole_matrix(width, monkeypatch):
    monkeypatch.setattr("vicinal.search._nearest._ENTRIES", 1024 * width)
    rng = np.random.default_rng(0)
    queries, documents = rng.normal(size=(50, 6)), rng.normal(size=(500, 6))
    products, rows = largest_products(queries, documents, 7)
    scores = queries @ documents.T
    assert_array_equal(rows, np.argsort(-scores, axis=1, kind="stable")[:, :7])
    assert_allclose(products, -np.sort(-scores, axis=1)[:, :7])


def test_no_document_is_on_both_sides_of_a_split_by_documents():
    rng = np.random.default_rng(0)
    lists = [rng.permutation(60)[: rng.integers(1, 3)].tolist() for _ in range(400)]
    judgements = read_judgements(lists, 400, 60)
    splits = split_documents(judgements, 0)
    assert len(splits) == 4
    for split in splits:
        sides = [judgements.named(part) for part in (split.train, split.held)]
        assert len(split.held)
        assert not np.isin(sides[0], sides[1]).any()
    held = np.concatenate([split.held for split in splits])
    assert len(np.unique(held)) == len(held)


def test_every_query_is_held_out_once_where_they_are_few():
    splits = split_queries(read_judgements(np.arange(80) % 9, 80, 9), 0)
    assert_array_equal(np.sort(np.concatenate([split.held for split in splits])), np.arange(80))
