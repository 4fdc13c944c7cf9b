"""What is taken for rows that belong together, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal.data.tables._copies import copy_codes, find_copies
from vicinal.data.tables._dependence import BEYOND_CHANCE, near_rows, standardise
from vicinal.data.tables._subjects import likeness
from vicinal.data.tables._times import serial_dependence


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.sampled_from([0, 2, 5]))
def test_independent_rows_seldom_look_dependent(seed, n_classes):
    rng = np.random.default_rng(seed)
    n = 200
    y = rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n)
    targets, groups = standardise(y, n_classes), rng.integers(0, 20, n)
    # One in a thousand each; what lies far beyond would be a fault of the measure.
    assert serial_dependence(targets, rng.permutation(n) * 1.0) < BEYOND_CHANCE + 2
    assert likeness(targets, np.unique(groups, return_inverse=True)[1]) < BEYOND_CHANCE + 4


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e300])
def test_a_walk_depends_on_its_past_whatever_its_unit(size):
    walk = np.cumsum(np.random.default_rng(0).normal(size=100)) * size
    assert serial_dependence(standardise(walk, 0), np.arange(100.0)) > BEYOND_CHANCE


def test_copies_are_numbered_from_the_first_row():
    X = np.array([[1.0, 2], [3, 4], [1, 2], [1, 2]])
    np.testing.assert_array_equal(copy_codes(X, np.array([0, 0, 0, 1])), [0, 1, 0, 2])


def test_copies_that_chance_makes_are_left_apart_with_a_line():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (400, 3)) * 1.0, rng.integers(0, 2, 400)
    found = find_copies(X, y)
    assert found is not None
    assert found.protocol == "kfold"
    assert "(groups='copies')" in found.notes[0]
    assert find_copies(rng.normal(size=(400, 3)), y) is None


def test_near_rows_are_those_of_all_distances_and_never_a_row_itself():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)  # each row twice
    rows, near, distances = near_rows(X, 3)
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    np.fill_diagonal(squared, np.inf)
    assert not np.any(near == rows[:, None])
    np.testing.assert_allclose(distances, np.sqrt(np.sort(squared[rows], axis=1)[:, :3]), atol=1e-6)


def test_levels_of_series_are_no_dependence_on_time():
    rng = np.random.default_rng(0)
    series = np.repeat(np.arange(10), 50)
    days = np.tile(np.arange(50.0), 10)
    levels = rng.normal(size=10)[series] * 5
    noise = standardise(levels + rng.normal(size=500), 0)
    walks = standardise(levels + rng.normal(size=(10, 50)).cumsum(axis=1).ravel(), 0)
    assert serial_dependence(noise, days, series) < BEYOND_CHANCE
    assert serial_dependence(walks, days, series) > BEYOND_CHANCE
