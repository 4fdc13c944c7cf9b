"""Cells: every row once, near rows together, one class each."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.metric.candidates._cells import cut_into_cells


def cells_of(n=1000, d=4, n_classes=3, size=32, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.sort(rng.integers(n_classes, size=n))
    points = rng.normal(size=(n, d)).astype(np.float32)
    return points, codes, cut_into_cells(points, codes, size, rng)


def test_every_row_is_in_one_cell_with_rows_of_its_class_only():
    _, codes, cells = cells_of()
    assert_array_equal(np.sort(cells.rows), np.arange(1000))
    for cell in range(len(cells)):
        assert set(codes[cells.of(cell)]) == {cells.codes[cell]}


def test_cells_hold_about_as_many_rows_as_asked():
    sizes = np.diff(cells_of(size=32)[2].starts)
    assert sizes.min() >= 24
    assert sizes.max() <= 32


def test_the_rows_of_a_cell_are_nearer_to_each_other_than_any_rows_are():
    points, _, cells = cells_of()
    within = np.mean([points[cells.of(c)].var(axis=0).sum() for c in range(len(cells))])
    assert within < 0.5 * points.var(axis=0).sum()


@pytest.mark.parametrize("value", [0.0, 1e12])
def test_equal_rows_can_be_cut_too(value):
    points = np.full((300, 2), value, np.float32)
    cells = cut_into_cells(points, np.zeros(300, int), 16, np.random.default_rng(0))
    assert_array_equal(np.sort(cells.rows), np.arange(300))
    assert np.diff(cells.starts).max() <= 16


def test_another_seed_cuts_elsewhere():
    assert not np.array_equal(cells_of(seed=0)[2].rows, cells_of(seed=1)[2].rows)
