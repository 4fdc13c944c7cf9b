"""The batched kernel: rows of candidates, one query each, sharing their scratch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import inference as slow

from vicinal._kernels._targeted import infer_sets, new_inferred


def infer(distances, labels, targets, k, costs):
    m = len(distances)
    found = new_inferred(m, k)
    infer_sets(distances, labels, targets, costs, found)
    return found


def batch(rng, m, c, n_classes, k, *, dtype=np.float64, tied=False):
    distances = rng.integers(0, 6, (m, c)) if tied else rng.random((m, c)) * 4
    distances = np.where(rng.random((m, c)) < 0.1, np.inf, distances).astype(dtype)
    labels = rng.integers(-1, n_classes, (m, c)).astype(np.int32)
    targets = rng.integers(0, n_classes, m).astype(np.int32)
    costs = rng.random((n_classes, n_classes)) * 3
    np.fill_diagonal(costs, 0)
    return distances, labels, targets, k, costs


def check_against_reference(found, distances, labels, targets, k, costs):
    star, hat, loss, voted = found
    for i, target in enumerate(targets):
        usable = np.where(labels[i] < 0, np.inf, distances[i])
        expected_star = slow.best_voting_set(usable, labels[i], target, k)
        expected_hat = slow.most_violating_set(usable, labels[i], target, k, costs=costs)
        assert loss[i] == slow.gerrymandering_loss(usable, labels[i], target, k, costs=costs)
        for row, expected in ((star[i], expected_star), (hat[i], expected_hat)):
            wanted = [-1] * k if expected is None else sorted(expected.indices)
            assert sorted(row) == wanted
        assert voted[i] == (-1 if expected_hat is None else expected_hat.voted)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(1, 6),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
)
def test_rows_do_not_disturb_one_another(seed, c, n_classes, k, tied, dtype):
    rows = batch(np.random.default_rng(seed), 5, c, n_classes, k, dtype=dtype, tied=tied)
    check_against_reference(infer(*rows), *rows)


@pytest.mark.parametrize(("n_classes", "k"), [(26, 7), (40, 3), (3, 31), (1, 5), (2, 2)])
def test_long_candidate_lists_agree_with_the_readable_twin(n_classes, k):
    rows = batch(np.random.default_rng(k), 8, 90, n_classes, k)
    check_against_reference(infer(*rows), *rows)


def test_nan_distances_are_unusable():
    distances = np.array([[np.nan, 1.0, 2.0]])
    labels = np.array([[0, 1, 0]], np.int32)
    star, hat, loss, voted = infer(distances, labels, np.array([0], np.int32), 1, 1 - np.eye(2))
    assert star.tolist() == [[2]]
    assert hat.tolist() == [[1]]
    assert loss.tolist() == [2.0]
    assert voted.tolist() == [1]


def test_the_voted_class_comes_first_in_each_row():
    rows = batch(np.random.default_rng(3), 20, 40, 4, 5)
    star, hat, _, voted = infer(*rows)
    labels, targets = rows[1], rows[2]
    for i in range(20):
        for chosen, winner in ((star[i], targets[i]), (hat[i], voted[i])):
            own = labels[i][chosen] == winner
            assert own[: own.sum()].all()


def test_equal_inputs_give_equal_sets_for_labels_of_either_width():
    distances, labels, targets, k, costs = batch(np.random.default_rng(5), 6, 20, 3, 4)
    narrow = infer(distances, labels, targets, k, costs)
    wide = infer(distances, labels.astype(np.int64), targets.astype(np.int64), k, costs)
    for a, b in zip(narrow, wide, strict=True):
        assert (a == b).all()
