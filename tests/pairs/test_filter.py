"""The bound on the filter's rounding holds: nothing near is ever ruled out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vicinal.pairs import fold_queries, fold_rows, folded_slack, product_blocks
from vicinal.pairs._filter import choose_centre, fits_float32, query_side, row_side


def exact_squared_distance(q, y):
    return sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(q, y, strict=True))


def assert_the_bound_holds(queries, vectors, dtype):
    centre = choose_centre(vectors)
    side, rows = query_side(queries, centre, dtype), row_side(vectors, centre, dtype)
    products = side.negated @ rows.rows.T
    assert products.dtype == dtype
    for i, query in enumerate(queries):
        for j, vector in enumerate(vectors):
            # As the kernel does it, in the filter's precision.
            reach = dtype(side.norms[i]) + rows.norms[j]
            rounded = rows.squared_norms[j] + products[i, j]
            error = exact_squared_distance(query, vector) - Fraction(float(side.norms[i])) ** 2
            error -= Fraction(float(rounded))
            assert abs(error) <= float(side.slack * (reach * reach)) + side.floor


finite = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-30 else 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    st.integers(1, 6).flatmap(
        lambda d: st.tuples(
            arrays(np.float64, (3, d), elements=finite), arrays(np.float64, (4, d), elements=finite)
        )
    )
)
def test_the_rounded_distance_is_within_its_bound(dtype, pair):
    queries, vectors = pair
    assert_the_bound_holds(queries, vectors, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [100, 3000])
def test_the_bound_holds_where_rounding_adds_up(dtype, d):
    # Equal terms round the same way each time they are added: far off what d = 0 would allow.
    for value in np.random.default_rng(0).uniform(0.5, 2, 20):
        rows = np.full((2, d), value)
        rows[1] *= -1
        assert_the_bound_holds(rows[:1], rows, dtype)


def test_the_bound_holds_where_everything_underflows():
    rows = np.array([[1e-25, 0.0], [-1e-25, 0.0], [0.0, 3e-23]])
    assert_the_bound_holds(rows, rows, np.float32)
    assert_the_bound_holds(1e-150 * rows, 1e-150 * rows, np.float64)


def test_the_bound_is_tight_enough_to_be_of_use():
    # At most a few thousandths of a percent of the squared norms for a picture of 784 pixels.
    queries = np.random.default_rng(0).normal(size=(2, 784))
    assert query_side(queries, np.zeros(784), np.float32).slack < 3e-5


def test_values_float32_cannot_hold_are_known_by_their_norms():
    side = row_side(np.array([[1e200], [0.0]]), np.zeros(1), np.float32)
    assert not fits_float32(side.norms)
    assert fits_float32(np.array([3.0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 7, 300])
def test_the_bound_of_folded_norms_holds(dtype, d):
    rng = np.random.default_rng(d)
    queries, vectors = rng.normal(size=(4, d)), rng.normal(size=(6, d)) + 0.1
    vectors[:2] = np.sign(vectors[:2])  # equal terms round the same way each time
    left, panel = fold_queries(queries.astype(dtype)), fold_rows(vectors.astype(dtype))
    ((_, _, products),) = product_blocks(left, [panel])
    for i, query in enumerate(queries):
        s = np.linalg.norm(query)
        for j, vector in enumerate(vectors):
            error = exact_squared_distance(query, vector) - exact_squared_distance(query, 0 * query)
            error -= Fraction(float(products[i, j]))
            reach = s + np.linalg.norm(vector)
            assert abs(error) <= folded_slack(d, dtype) * reach**2
