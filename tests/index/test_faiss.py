"""The adapter to faiss: same questions, faiss' answers."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from vicinal.index import ExactIndex, FaissIndex

faiss = pytest.importorskip("faiss", reason="needs the extra faiss")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_flat_index_finds_what_exact_search_finds():
    vectors, queries = normal(500, 12), normal(40, 12, seed=1)
    squared_distances, indices = FaissIndex(vectors).query(queries, 5)
    expected = ExactIndex(vectors).query(queries, 5)
    np.testing.assert_array_equal(indices, expected[1])
    np.testing.assert_allclose(squared_distances, expected[0], rtol=1e-4)
    assert squared_distances.dtype == np.float64


def test_the_flat_index_finds_all_within_a_radius_and_on_it():
    vectors = np.array([[0.0], [1.0], [2.0], [3.0], [1.0]])
    values, indices, indptr = FaissIndex(vectors).query_radius([[1.0], [9.0]], 1.0)
    assert indices.tolist() == [1, 4, 0, 2]
    assert values.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert indptr.tolist() == [0, 4, 4]


@pytest.mark.parametrize("factory", ["HNSW16", "IVF4,Flat"])
def test_approximate_indexes_find_most_neighbours(factory):
    vectors = normal(600, 6)
    index = FaissIndex(vectors, factory)
    if factory.startswith("IVF"):
        index.index.nprobe = 3
    found = index.query(vectors[:100], 3)[1]
    expected = ExactIndex(vectors).query(vectors[:100], 3)[1]
    assert (found == expected).mean() > 0.9


def test_too_few_neighbours_are_said_not_returned():
    index = FaissIndex(normal(200, 4), "IVF4,Flat")
    with pytest.raises(RuntimeError, match=r"fewer than k=200 neighbours .*nprobe"):
        index.query(normal(3, 4), 200)


def test_threads_are_as_before_afterwards():
    before = faiss.omp_get_max_threads()
    FaissIndex(normal(20, 2), n_jobs=before + 1).query(normal(3, 2), 1)
    assert faiss.omp_get_max_threads() == before


def test_a_pickled_index_answers_alike():
    index = FaissIndex(normal(50, 3), "HNSW8")
    again = pickle.loads(pickle.dumps(index))
    assert again.factory == "HNSW8"
    np.testing.assert_array_equal(
        again.query(index.vectors, 1)[1], index.query(index.vectors, 1)[1]
    )


def test_an_unknown_factory_is_refused():
    with pytest.raises(ValueError, match="faiss cannot build 'Nonsense'"):
        FaissIndex(normal(20, 2), "Nonsense")


def test_an_index_without_radius_search_says_so():
    with pytest.raises(ValueError, match="cannot search by radius"):
        FaissIndex(normal(300, 4), "NSG8").query_radius(normal(1, 4), 1.0)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_rows_at_any_scale_have_the_neighbours_of_the_rows(scale):
    vectors, queries = normal(60, 3), normal(7, 3, seed=1)
    index = FaissIndex(vectors * scale)
    squared, rows = index.query(queries * scale, 5)
    expected, neighbours = ExactIndex(vectors).query(queries, 5)
    np.testing.assert_array_equal(rows, neighbours)
    np.testing.assert_allclose(
        np.sqrt(squared) * (index.unit / scale), np.sqrt(expected), rtol=1e-4
    )


def test_queries_beyond_float32_are_refused():
    with pytest.raises(ValueError, match="overflow faiss' float32"):
        FaissIndex([[1.0]]).query([[1e30]], 1)


def test_without_faiss_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"pip install 'vicinal\[faiss\]'"):
        FaissIndex([[1.0]])


@pytest.mark.parametrize(
    "factory", ["HNSW0", "HNSW1", "HNSW01,Flat", "IVF4_HNSW1,Flat", "PQ1x0", "RR0,Flat", 7, None]
)
def test_what_would_end_the_process_inside_faiss_is_refused(factory):
    with pytest.raises(ValueError, match=r"factory must be a text|numbers of its parts"):
        FaissIndex(normal(40, 4), factory)


def test_a_graph_answers_many_queries_by_radius():
    vectors = normal(300, 40)  # faiss takes some fifty queries of so many columns in a round
    index = FaissIndex(vectors, "HNSW16;efSearch=300")
    _, found, indptr = index.query_radius(vectors, 6.0)
    _, expected, expected_indptr = ExactIndex(vectors).query_radius(vectors, 6.0)
    assert len(found) == indptr[-1] > 0.9 * len(expected)
    assert len(indptr) == len(expected_indptr)
    assert set(found[indptr[7] : indptr[8]]) <= set(
        expected[expected_indptr[7] : expected_indptr[8]]
    )
    assert index.query_radius(vectors[:0], 6.0)[2].tolist() == [0]


def test_one_value_beyond_float32_does_not_hide_the_differences_of_all_others():
    vectors = normal(60, 4)
    vectors[5, 1] = 1e40
    with pytest.raises(ValueError, match="size 1e\\+40 in row 5, beside which"):
        FaissIndex(vectors)
