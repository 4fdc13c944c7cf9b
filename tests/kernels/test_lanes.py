"""Vector operations, against the same in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from vicinal._kernels._lanes import (
    LANES,
    add_gaps,
    add_unequal,
    at_most,
    first_lane,
    lanes_set,
    least_above,
    lower,
)


@njit
def run_lower(lows, flat, offset):
    lower(lows, flat, offset)


@njit
def run_least_above(lows, floor):
    return least_above(lows, floor)


@njit
def run_at_most(flat, offset, limit):
    return at_most(flat, offset, limit)


@njit
def run_places(mask):
    places = []
    while mask != 0:
        places.append(first_lane(mask))
        mask &= mask - np.uint64(1)
    return places


@njit
def run_lanes_set(mask):
    return lanes_set(mask)


@njit
def run_add_gaps(sums, offset, flat, start, value):
    add_gaps(sums, offset, flat, start, value)


@njit
def run_add_unequal(sums, offset, flat, start, value):
    add_unequal(sums, offset, flat, start, value)


@pytest.fixture
def flat():
    return np.random.default_rng(0).normal(size=3 * LANES).astype(np.float32)


@pytest.mark.parametrize("offset", [0, 1, 63, 2 * LANES])
def test_lower_is_an_elementwise_minimum(flat, offset):
    lows = np.random.default_rng(1).normal(size=LANES).astype(np.float32)
    expected = np.minimum(lows, flat[offset : offset + LANES])
    run_lower(lows, flat, offset)
    assert (lows == expected).all()


def test_least_above_steps_through_the_distinct_values_and_ends_in_infinity():
    lows = np.repeat(np.arange(LANES // 2, dtype=np.float32), 2)
    np.random.default_rng(2).shuffle(lows)
    floor, seen = np.float32(-np.inf), []
    while floor < np.inf:
        floor = np.float32(run_least_above(lows, floor))
        seen.append(floor)
    assert seen == [*range(LANES // 2), np.inf]


@pytest.mark.parametrize("offset", [0, 5, 2 * LANES])
@pytest.mark.parametrize("limit", [-10.0, -0.3, 0.0, 10.0])
def test_at_most_sets_one_bit_a_lane(flat, offset, limit):
    mask = run_at_most(flat, offset, np.float32(limit))
    expected = np.flatnonzero(flat[offset : offset + LANES] <= np.float32(limit)).tolist()
    assert [bit for bit in range(LANES) if int(mask) >> bit & 1] == expected
    assert run_lanes_set(np.uint64(mask)) == len(expected)
    if expected:
        assert list(run_places(np.uint64(mask))) == expected


def test_nan_is_never_at_most_anything():
    values = np.full(LANES, np.nan, np.float32)
    assert run_at_most(values, 0, np.float32(np.inf)) == 0


@pytest.mark.parametrize(("offset", "start"), [(0, 0), (1, 70), (LANES, 2 * LANES)])
@pytest.mark.parametrize(
    ("run", "difference"),
    [(run_add_gaps, lambda a, b: np.abs(a - b)), (run_add_unequal, lambda a, b: a != b)],
)
def test_differences_are_added_to_the_lanes_and_nowhere_else(flat, run, difference, offset, start):
    value, sums = flat[start + 3], np.arange(3 * LANES, dtype=np.float32)
    expected = sums.copy()
    expected[offset : offset + LANES] += difference(flat[start : start + LANES], value)
    run(sums, offset, flat, start, value)
    assert (sums == expected).all()
