"""The vote and its tie rule."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vicinal._kernels._vote import (
    majority_vote,
    majority_vote_reference,
    ragged_majority_vote,
    ragged_vote_shares,
    vote_shares,
)

votes = st.tuples(st.integers(1, 5), st.integers(1, 8)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 3))
)


def test_ties_go_to_the_nearest_neighbours_class_among_the_tied():
    labels = np.array([[2, 1, 1, 0, 0], [1, 0, 1, 0, 2], [0, 1, 2, 2, 1]])
    assert majority_vote(labels, 3).tolist() == [1, 1, 1]


def test_the_nearest_neighbour_decides_when_all_differ():
    assert majority_vote(np.array([[3, 0, 1], [1, 3, 0]]), 4).tolist() == [3, 1]


def test_a_majority_outvotes_the_nearest_neighbour():
    assert majority_vote(np.array([[0, 1, 1]]), 2).tolist() == [1]


@given(votes)
def test_the_kernel_agrees_with_its_readable_twin(labels):
    assert majority_vote(labels, 4).tolist() == majority_vote_reference(labels, 4).tolist()


@given(votes)
def test_shares_sum_to_one_and_the_largest_is_the_winners_even_in_a_tie(labels):
    shares = vote_shares(labels, 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-15)
    assert shares.argmax(axis=1).tolist() == majority_vote(labels, 4).tolist()
    counts = [[row.tolist().count(r) / len(row) for r in range(4)] for row in labels]
    np.testing.assert_allclose(shares, counts, rtol=1e-15)


@given(votes, st.data())
def test_a_ragged_vote_is_the_vote_of_each_query_by_itself(labels, data):
    sizes = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    indptr = np.cumsum([0, *sizes])
    flat = np.resize(labels.ravel(), indptr[-1])
    prior = np.array([0.2, 0.4, 0.4, 0.0])
    winners = ragged_majority_vote(flat, indptr, 4, 1)
    shares = ragged_vote_shares(flat, indptr, prior)
    for i, size in enumerate(sizes):
        own = flat[None, indptr[i] : indptr[i + 1]]
        assert winners[i] == (majority_vote(own, 4)[0] if size else 1)
        np.testing.assert_allclose(shares[i], vote_shares(own, 4)[0] if size else prior, rtol=1e-15)
    assert shares.argmax(axis=1).tolist() == winners.tolist()


def test_an_empty_query_gets_an_empty_vote():
    assert majority_vote(np.empty((0, 3), np.int64), 2).shape == (0,)
    assert vote_shares(np.empty((0, 3), np.int64), 2).shape == (0, 2)
