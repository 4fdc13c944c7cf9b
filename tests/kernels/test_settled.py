"""Rows that are seen to have no loss: never one that has, and most of the easy ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal._kernels._targeted import infer_sets, new_inferred


def inferred(squared_distances, labels, targets, k, costs, *, skip=False):
    found = new_inferred(len(targets), k)
    infer_sets(squared_distances, labels, targets, costs, found, skip=skip)
    return found


def find_skipped(squared_distances, labels, targets, k, costs):
    """Rows written as one set of zeros; of several points no true set has that."""
    found = inferred(squared_distances, labels, targets, k, costs, skip=True)
    return np.flatnonzero((found.star == 0).all(axis=1) & (found.hat == 0).all(axis=1))


def problem(seed, k, n_classes, coarse, dtype=np.float64):
    """Distances that often tie, some infinite, some candidates missing, any costs."""
    rng = np.random.default_rng(seed)
    m, c = 40, int(rng.integers(k, 30))
    labels = rng.integers(-1, n_classes, size=(m, c)).astype(np.int32)
    targets = rng.integers(n_classes, size=m).astype(np.int32)
    far = rng.uniform(0, 6, size=(m, 1)) * (labels != targets[:, None])
    squared_distances = rng.uniform(0, 3, size=(m, c)) + far
    if coarse:
        squared_distances = np.round(squared_distances)
    squared_distances[rng.random((m, c)) < 0.03] = np.inf
    costs = rng.uniform(0, 2, size=(n_classes, n_classes)) * (1 - np.eye(n_classes))
    return squared_distances.astype(dtype), labels, targets, costs


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 8),
    n_classes=st.integers(2, 4),
    coarse=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_a_settled_row_has_no_loss_and_one_set(seed, k, n_classes, coarse, dtype):
    distances, labels, targets, costs = problem(seed, k, n_classes, coarse, dtype)
    star, hat, loss, voted = inferred(distances, labels, targets, k, costs)
    settled = find_skipped(distances, labels, targets, k, costs)
    assert_array_equal(loss[settled], 0)
    assert_array_equal(voted[settled], targets[settled])
    assert_array_equal(np.sort(star[settled]), np.sort(hat[settled]))
    others = np.setdiff1d(np.arange(40), settled)
    skipping = inferred(distances, labels, targets, k, costs, skip=True)
    for one, other in zip((star, hat, loss, voted), skipping, strict=True):
        assert_array_equal(one[others], other[others])
    assert_array_equal(skipping.loss, loss)
    assert_array_equal(skipping.voted, voted)


def test_rows_without_loss_are_mostly_seen():
    seen = lossless = 0
    for seed in range(20):
        distances, labels, targets, costs = problem(seed, 5, 3, coarse=False)
        lossless += int((inferred(distances, labels, targets, 5, costs)[2] == 0).sum())
        seen += len(find_skipped(distances, labels, targets, 5, costs))
    assert seen > 0.7 * lossless


def test_a_row_whose_class_cannot_win_is_left_to_inference():
    distances = np.array([[1.0, 2.0, 3.0, 4.0]])
    labels = np.array([[0, 1, 1, 1]], np.int32)
    assert not len(find_skipped(distances, labels, np.zeros(1, np.int32), 3, 1 - np.eye(2)))


def test_a_margin_that_is_just_met_is_left_to_inference():
    labels = np.array([[1, 0, 0, 1]], np.int32)  # so that no true set is the place 0
    target, costs = np.zeros(1, np.int32), 1 - np.eye(2)
    for gap, n_skipped in ((1.0, 0), (1.01, 1)):
        distances = np.array([[1.0 + gap, 0.0, 1.0, 9.0]])
        assert len(find_skipped(distances, labels, target, 1, costs)) == 1
        distances = np.array([[1.0 + gap, 1.0, 9.0, 9.0]])
        assert len(find_skipped(distances, labels, target, 1, costs)) == n_skipped
