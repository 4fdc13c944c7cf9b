"""The one loop: blocks give what one product gives, and distances are those computed directly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.pairs import (
    distance_blocks,
    fold_queries,
    fold_rows,
    panels_of,
    product_blocks,
    rounded_squared_distances,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(9, 4)), rng.normal(size=(23, 4))


def direct(queries, points):
    return np.square(queries[:, None] - points[None]).sum(axis=2)


@pytest.mark.parametrize("width", [1, 5, 23, 100])
def test_panels_of_any_width_give_the_whole_product(rows, width):
    queries, points = rows
    left, panel = fold_queries(queries), fold_rows(points)
    parts = [
        (first, products.copy())
        for first, _, products in product_blocks(left, panels_of(panel, width))
    ]
    assert [first for first, _ in parts] == list(range(0, 23, width))
    whole = np.hstack([products for _, products in parts])
    own = np.square(queries).sum(axis=1)[:, None]
    assert_allclose(whole + own, direct(queries, points), atol=1e-12)


def test_room_that_is_given_is_used_and_room_too_small_is_not(rows):
    queries, points = rows
    left, panel = fold_queries(queries), fold_rows(points)
    room = np.empty(9 * 23 + 5)
    ((_, _, products),) = product_blocks(left, [panel], room)
    assert np.shares_memory(products, room)
    ((_, _, again),) = product_blocks(left, [panel], np.empty(3))
    assert_array_equal(again, products)


@pytest.mark.parametrize("entries", [1, 60, 10**6])
def test_blocks_of_distances_are_those_computed_directly(rows, entries):
    queries, points = rows
    parts = list(distance_blocks(queries, points, entries))
    assert_array_equal(np.concatenate([np.arange(9)[part] for part, _ in parts]), np.arange(9))
    whole = np.vstack([squared for _, squared in parts])
    assert_allclose(whole, direct(queries, points), atol=1e-12)


def test_no_rounded_distance_is_below_zero():
    points = np.full((5, 3), 1e8) + np.arange(5)[:, None] * 1e-9
    assert rounded_squared_distances(points, points).min() >= 0
