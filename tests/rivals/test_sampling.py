"""Samples in proportion: exact in size, fair to the rare."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal.rivals._sampling import sample_rows, share_out


@given(st.lists(st.integers(1, 300), min_size=1, max_size=12), st.floats(0.01, 1.0))
def test_shares_add_up_and_are_off_by_less_than_one(counts, share):
    counts = np.array(counts)
    size = max(1, int(share * counts.sum()))
    shares = share_out(counts, size)
    assert shares.sum() == size
    assert np.all(np.abs(shares - size * counts / counts.sum()) < 1)
    assert np.all(shares <= counts)


def test_the_sample_keeps_strata_in_proportion_and_two_of_the_rare():
    strata = np.array([0] * 900 + [1] * 96 + [2] * 3 + [3])
    rows = sample_rows(strata, 100, np.random.default_rng(0))
    assert_array_equal(np.bincount(strata[rows]), [90, 10, 2, 1])
    assert np.all(np.diff(rows) > 0)


def test_a_sample_is_drawn_at_random_and_repeats_with_its_seed():
    strata = np.zeros(1000, dtype=int)
    first, again, other = (sample_rows(strata, 50, np.random.default_rng(s)) for s in (0, 0, 1))
    assert_array_equal(first, again)
    assert set(first) != set(other)
    assert first.max() > 900
