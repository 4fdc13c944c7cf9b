"""Order statistics in place."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vicinal._kernels._order import kth_smallest, sort_pairs

values = st.lists(st.integers(-5, 5), min_size=1, max_size=60)


@given(values, st.data())
def test_the_kth_smallest_is_that_of_sorting(numbers, data):
    k = data.draw(st.integers(1, len(numbers)))
    assert kth_smallest(np.array(numbers, dtype=np.float32), k) == sorted(numbers)[k - 1]


def test_sorted_input_takes_no_quadratic_time():
    ramp = np.arange(300_000, dtype=np.float32)
    assert kth_smallest(ramp, 150_000) == 149_999
    assert kth_smallest(ramp[::-1].copy(), 1) == 0
    assert kth_smallest(np.zeros(300_000, np.float32), 7) == 0


@given(values)
def test_pairs_are_sorted_by_value_then_row(numbers):
    rows = np.random.default_rng(0).permutation(len(numbers))
    keys = np.array(numbers, dtype=np.float64)
    expected = sorted(zip(numbers, rows.tolist(), strict=True))
    sort_pairs(keys, rows)
    assert list(zip(keys.tolist(), rows.tolist(), strict=True)) == expected
