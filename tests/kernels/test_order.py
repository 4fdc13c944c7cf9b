"""Order in place: inserting, selecting, sorting and merging, against Python's sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from vicinal._kernels._order import grown, insert, keep_least, merge_sorted, sort_pairs

values = st.lists(st.integers(-5, 5), min_size=1, max_size=60)


@njit
def run_insert_by_row(kept, rows, numbers, numbers_rows):
    n = 0
    for i in range(numbers.shape[0]):
        insert(kept, rows, n, numbers[i], numbers_rows[i], rows)
        n = min(n + 1, kept.shape[0])
    return n


@njit
def run_insert_by_arrival(kept, rows, numbers, numbers_rows):
    n = 0
    for i in range(numbers.shape[0]):
        insert(kept, rows, n, numbers[i], numbers_rows[i], None)
        n = min(n + 1, kept.shape[0])
    return n


@njit
def run_insert_values(kept, numbers):
    n = 0
    for i in range(numbers.shape[0]):
        insert(kept, None, n, numbers[i], None, None)
        n = min(n + 1, kept.shape[0])
    return n


@given(values, st.integers(0, 12))
def test_values_inserted_one_by_one_leave_the_least_ascending(numbers, room):
    given_, rows = np.array(numbers, float), np.random.default_rng(0).permutation(len(numbers))
    n = min(room, len(numbers))
    by_arrival = sorted(zip(numbers, range(len(numbers)), rows.tolist(), strict=True))
    by_row = sorted(zip(numbers, rows.tolist(), strict=True))
    for run, expected in (
        (run_insert_by_arrival, [(value, row) for value, _, row in by_arrival]),
        (run_insert_by_row, by_row),
    ):
        kept, kept_rows = np.empty(room), np.empty(room, np.int64)
        assert run(kept, kept_rows, given_, rows) == n
        found = list(zip(kept[:n].tolist(), kept_rows[:n].tolist(), strict=True))
        assert found == expected[:n]
    kept = np.empty(room)
    assert run_insert_values(kept, given_) == n
    assert kept[:n].tolist() == sorted(numbers)[:n]


@given(values, st.data())
def test_the_least_come_to_the_front_with_their_rows(numbers, data):
    n = data.draw(st.integers(1, len(numbers)))
    k = data.draw(st.integers(1, n))
    rows = np.random.default_rng(0).permutation(len(numbers))
    expected = sorted(zip(numbers[:n], rows[:n].tolist(), strict=True))[:k]
    front = np.array(numbers, np.float32)
    assert keep_least(front, rows, n, k) == expected[-1][0]
    assert sorted(zip(front[:k].tolist(), rows[:k].tolist(), strict=True)) == expected
    assert front[n:].tolist() == numbers[n:]
    assert keep_least(np.array(numbers, np.float32), None, n, k) == expected[-1][0]


@pytest.mark.timeout(20)
def test_sorted_input_takes_no_quadratic_time():
    n = 300_000
    ramp = np.arange(n, dtype=np.float32)
    assert keep_least(ramp, None, n, 150_000) == 149_999
    assert keep_least(ramp[::-1].copy(), None, n, 1) == 0
    assert keep_least(np.zeros(n, np.float32), None, n, 7) == 0


@given(values)
def test_pairs_are_sorted_by_value_then_row(numbers):
    rows = np.random.default_rng(0).permutation(len(numbers))
    keys = np.array(numbers, dtype=np.float64)
    expected = sorted(zip(numbers, rows.tolist(), strict=True))
    sort_pairs(keys, rows)
    assert list(zip(keys.tolist(), rows.tolist(), strict=True)) == expected


@given(values, values, st.integers(1, 20))
def test_a_merge_keeps_the_k_nearest_and_the_lower_rows_of_equals(old, new, k):
    """What was found so far is of lower rows, so that a stable sort of both is the answer."""
    before = sorted(zip(old, range(len(old)), strict=True))[:k]
    filling = [(99, -1)] * (k - len(before))
    nearest, indices = (np.array(part) for part in zip(*before, *filling, strict=True))
    entered = sorted(zip(new, range(len(new)), strict=True))
    expected = sorted([*before, *((value, 1000 + row) for value, row in entered)])[:k]
    values, rows = (np.array(part) for part in zip(*entered, strict=True))
    merge_sorted(nearest, indices, values, rows, 1000)
    found = list(zip(nearest.tolist(), indices.tolist(), strict=True))
    assert found[: len(expected)] == expected
    assert found[len(expected) :] == [(99, -1)] * (k - len(expected))


def test_grown_keeps_what_there_was():
    larger = grown(np.array([3, 1]), 5)
    assert larger.shape == (5,)
    assert larger[:2].tolist() == [3, 1]
