"""The loops of ReliefF, held to cases done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import relief


def test_differences_are_scaled_or_counted():
    X = np.array([[0.0, 1.0], [4.0, 1.0], [3.0, 2.0]])
    assert relief.difference(X, 0, 0, 2, ()) == 0.75
    assert relief.difference(X, 0, 0, 2, (0,)) == 1.0
    assert relief.difference(X, 1, 0, 1, ()) == 0.0


def test_relieff_of_four_points_by_hand():
    # Feature 0 is the class, feature 1 says nothing: hits differ by 1 in it, misses by 0.
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 0, 1, 1]
    assert relief.relieff(X, y, 1).tolist() == [1.0, -1.0]


def test_rrelieff_of_three_points_by_hand():
    # Each point's neighbour: 0 -> 1, 1 -> 0, 2 -> 1; gaps .25, .25, .75 in both x and target.
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0.0, 1.0, 4.0])
    n_c = n_a = 0.25 + 0.25 + 0.75
    n_ca = 0.25**2 + 0.25**2 + 0.75**2
    expected = n_ca / n_c - (n_a - n_ca) / (3 - n_c)
    assert relief.rrelieff(X, y, 1)[0] == pytest.approx(expected)


def test_shares_fall_with_rank_and_sum_to_one():
    shares = relief.shares(3, 2.0)
    assert sum(shares) == pytest.approx(1.0)
    assert shares[0] > shares[1] > shares[2]
