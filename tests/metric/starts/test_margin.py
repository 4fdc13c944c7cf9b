"""How a start is scaled: so that the margin asks something of about half of the rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vicinal.metric.starts import scale_to_margin
from vicinal.metric.starts._margin import vote_gaps


def exhaustive_gap(X, codes, i, k):
    """Nearest wrong vote less nearest right one, over all sets of k other rows."""
    squared_distances = np.square(X - X[i]).sum(axis=1)
    right, wrong = np.inf, np.inf
    for chosen in combinations([j for j in range(len(X)) if j != i], k):
        total = squared_distances[list(chosen)].sum()
        counts = np.bincount(codes[list(chosen)], minlength=codes.max() + 1)
        others = np.delete(counts, codes[i]).max()
        if counts[codes[i]] > others:
            right = min(right, total)
        if others >= counts[codes[i]]:
            wrong = min(wrong, total)
    return wrong - right


@pytest.mark.parametrize("k", [1, 3, 5])
def test_gaps_are_those_of_an_exhaustive_search(k):
    rng = np.random.default_rng(k)
    X, codes = rng.normal(size=(12, 2)), np.arange(12, dtype=np.int32) % 3
    X -= X.mean(axis=0)
    rows = np.arange(12)
    expected = [exhaustive_gap(X, codes, i, k) for i in rows]
    known = np.isfinite(expected)
    assert_allclose(vote_gaps(X, codes, k, rows), np.asarray(expected)[known], atol=1e-10)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_margin_is_the_median_gap_whatever_the_unit(unit):
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 2
    X = unit * (rng.normal(size=(200, 3)) + codes[:, None])
    scaled = scale_to_margin(np.eye(3), X, codes, 3, np.random.default_rng(1))
    mapped = X @ scaled.T
    gaps = vote_gaps(mapped - mapped.mean(axis=0), codes.astype(np.int32), 3, np.arange(200))
    assert np.median(np.abs(gaps)) == pytest.approx(1.0)


def test_a_scaled_start_keeps_its_type():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    start = np.eye(3, dtype=np.float32)
    scaled = scale_to_margin(start, X, np.arange(60) % 2, 3, np.random.default_rng(1))
    assert scaled.dtype == np.float32
    assert not np.array_equal(scaled, start)


def test_rows_that_are_all_equal_leave_the_start_as_it_is():
    codes, rng = np.arange(20) % 2, np.random.default_rng(0)
    assert_allclose(scale_to_margin(np.eye(2), np.ones((20, 2)), codes, 3, rng), np.eye(2))
