"""Weighted votes: the twin's winners, ties to rounding, and shares that agree with the winner."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vicinal._kernels._vote import ragged_majority_vote
from vicinal._kernels._weighted_vote import (
    weighted_shares,
    weighted_vote,
    weighted_vote_reference,
)

N_CLASSES = 4
PRIOR = np.array([0.2, 0.4, 0.4, 0.0])


@st.composite
def votes(draw):
    """Draw stretches of labels, some of them empty, and weights of which many tie."""
    sizes = draw(st.lists(st.integers(0, 7), min_size=1, max_size=6))
    total = sum(sizes)
    labels = draw(st.lists(st.integers(0, N_CLASSES - 1), min_size=total, max_size=total))
    few = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 1e-9, 1e9])
    weights = draw(st.lists(few, min_size=total, max_size=total))
    return np.array(labels, np.int64), np.array(weights), np.cumsum([0, *sizes])


@given(votes())
def test_the_kernel_agrees_with_its_readable_twin(drawn):
    labels, weights, indptr = drawn
    found = weighted_vote(labels, weights, indptr, N_CLASSES, 1)
    expected = weighted_vote_reference(labels, weights, indptr, N_CLASSES, 1)
    assert found.tolist() == expected.tolist()


@given(votes(), st.sampled_from([1.0, 0.1, 1 / 3, 7e5]))
def test_equal_weights_give_the_plain_vote(drawn, weight):
    labels, _, indptr = drawn
    found = weighted_vote(labels, np.full(len(labels), weight), indptr, N_CLASSES, 1)
    assert found.tolist() == ragged_majority_vote(labels, indptr, N_CLASSES, 1).tolist()


@given(votes())
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
