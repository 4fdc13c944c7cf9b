"""The vote and its tie rule."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.oracles import inference as slow

from vicinal._kernels._vote import majority_vote, weighted_shares, weighted_vote

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
    assert majority_vote(labels, 4).tolist() == slow.majority_vote(labels, 4).tolist()


N_CLASSES = 4
PRIOR = np.array([0.2, 0.4, 0.4, 0.0])


@st.composite
def weighted_votes(draw):
    """Draw stretches of labels, some of them empty, and weights of which many tie."""
    sizes = draw(st.lists(st.integers(0, 7), min_size=1, max_size=6))
    total = sum(sizes)
    labels = draw(st.lists(st.integers(0, N_CLASSES - 1), min_size=total, max_size=total))
    few = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 1e-9, 1e9])
    weights = draw(st.lists(few, min_size=total, max_size=total))
    return np.array(labels, np.int64), np.array(weights), np.cumsum([0, *sizes])


@given(weighted_votes())
def test_the_weighted_kernel_agrees_with_its_readable_twin(drawn):
    labels, weights, indptr = drawn
    found = weighted_vote(labels, weights, indptr, N_CLASSES, 1)
    expected = slow.weighted_vote(labels, weights, indptr, N_CLASSES, 1)
    assert found.tolist() == expected.tolist()


@given(votes, st.sampled_from([1.0, 0.1, 1 / 3, 7e5]))
def test_equal_weights_give_the_plain_vote_and_its_shares(labels, weight):
    m, k = labels.shape
    drawn = labels.ravel(), np.full(m * k, weight), np.arange(0, m * k + 1, k)
    found = weighted_vote(*drawn, N_CLASSES, 1)
    assert found.tolist() == majority_vote(labels, N_CLASSES).tolist()
    shares = weighted_shares(*drawn, PRIOR)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    counts = [[row.tolist().count(r) / k for r in range(N_CLASSES)] for row in labels]
    np.testing.assert_allclose(shares, counts, rtol=1e-12)


@given(weighted_votes())
def test_shares_are_of_the_weights_and_the_largest_is_the_winners(drawn):
    labels, weights, indptr = drawn
    shares = weighted_shares(labels, weights, indptr, PRIOR)
    winners = weighted_vote(labels, weights, indptr, N_CLASSES, 1)
    assert shares.argmax(axis=1).tolist() == winners.tolist()
    for i in range(len(indptr) - 1):
        part = slice(indptr[i], indptr[i + 1])
        totals = np.bincount(labels[part], weights[part], minlength=N_CLASSES)
        expected = totals / totals.sum() if totals.any() else PRIOR
        np.testing.assert_allclose(shares[i], expected, rtol=2e-12)


def test_a_tie_but_for_rounding_goes_to_the_nearest_neighbours_class():
    labels, indptr = np.array([1, 0, 0, 0]), np.array([0, 4])
    weights = np.array([0.3, 0.1, 0.1, 0.1])  # three tenths add up to a little more than 0.3
    assert weighted_vote(labels, weights, indptr, 2, 0).tolist() == [1]
    assert weighted_shares(labels, weights, indptr, np.ones(2)).argmax() == 1


def test_an_empty_query_gets_an_empty_vote():
    assert majority_vote(np.empty((0, 3), np.int64), 2).shape == (0,)
    nothing = np.empty(0, np.int64), np.empty(0), np.zeros(1, np.int64)
    assert weighted_shares(*nothing, np.ones(2)).shape == (0, 2)
