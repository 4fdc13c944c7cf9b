"""Search among packed bit codes, against unpacking and counting."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.oracles.search import all_hamming_distances, nearest, within

from vicinal.index import BinaryIndex


def codes(n_bytes, max_rows=40):
    # Few values, so that many distances tie.
    return st.integers(1, max_rows).flatmap(
        lambda rows: arrays(np.uint8, (rows, n_bytes), elements=st.sampled_from([0, 1, 3, 255]))
    )


pairs = st.sampled_from([1, 2, 7, 8, 9, 16, 33]).flatmap(
    lambda n_bytes: st.tuples(codes(n_bytes), codes(n_bytes, 5))
)


def random_codes(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@given(pairs, st.data())
def test_neighbours_are_those_of_unpacking_and_sorting(tables, data):
    database, queries = tables
    k = data.draw(st.integers(1, len(database)))
    block_size = data.draw(st.sampled_from([None, 1, 5]))
    expected = nearest(all_hamming_distances(queries, database), k)
    distances, indices = BinaryIndex(database, block_size=block_size).query(queries, k)
    np.testing.assert_array_equal(distances, expected[0])
    np.testing.assert_array_equal(indices, expected[1])


@given(pairs, st.sampled_from([0, 1, 2, 8.5, np.inf]))
def test_a_radius_finds_what_unpacking_finds(tables, radius):
    database, queries = tables
    expected = within(all_hamming_distances(queries, database), radius)
    found = BinaryIndex(database, block_size=6).query_radius(queries, radius)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n_bytes", [1, 8, 24, 128])
def test_neighbours_are_exact_on_random_codes(n_bytes):
    database, queries = random_codes(1500, n_bytes), random_codes(20, n_bytes, seed=1)
    expected = nearest(all_hamming_distances(queries, database), 11)
    found = BinaryIndex(database, block_size=400).query(queries, 11)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("block_size", [17, 1000, 9000])
def test_results_do_not_depend_on_blocks_or_threads(n_jobs, block_size):
    database, queries = random_codes(8000, 8), random_codes(1500, 8, seed=1)
    found = BinaryIndex(database, block_size=block_size, n_jobs=n_jobs).query(queries, 4)
    expected = BinaryIndex(database, n_jobs=1).query(queries, 4)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_complements_differ_in_every_bit():
    code = random_codes(1, 12)
    assert BinaryIndex(~code).query(code, 1)[0].tolist() == [[96]]


def test_a_pickled_index_answers_alike():
    index = BinaryIndex(random_codes(30, 3))
    again = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(again.query(index.codes, 2)[1], index.query(index.codes, 2)[1])


def test_no_queries_give_empty_answers_of_the_right_shape():
    index = BinaryIndex(random_codes(5, 2))
    assert index.query(np.empty((0, 2), np.uint8), 3)[0].shape == (0, 3)
    assert index.query_radius(np.empty((0, 2), np.uint8), 3)[2].tolist() == [0]


@pytest.mark.parametrize("bad", [np.ones((3, 8)), np.ones(8, np.uint8), np.ones((3, 8), bool)])
def test_what_is_not_packed_is_refused_with_what_to_do(bad):
    with pytest.raises(ValueError, match="packbits"):
        BinaryIndex(bad)


def test_codes_of_another_length_are_refused():
    with pytest.raises(ValueError, match="queries have 2 bytes each, but the indexed codes have 3"):
        BinaryIndex(random_codes(5, 3)).query(random_codes(5, 2), 1)
    with pytest.raises(ValueError, match="at least one row"):
        BinaryIndex(random_codes(0, 3))
