"""What judges: votes as of a slow loop, means of numbers, scores with their noise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vicinal.index import ExactIndex
from vicinal.metric.maps import PLAIN
from vicinal.metric.selection import Score, judge_maps, prediction_losses, vote_losses
from vicinal.rows import Classes, Numbers, Rows


def vote_slowly(database, queries, codes, wanted, costs, k):
    """Cost of each vote and a quarter of the share of wrong neighbours, at the mean cost."""
    n_classes = len(costs)
    typical = np.mean([costs[r, c] for r in range(n_classes) for c in range(n_classes) if r != c])
    losses = []
    for query, label in zip(queries, wanted, strict=True):
        order = np.argsort(np.square(database - query).sum(axis=1), kind="stable")[:k]
        labels = codes[order]
        counts = np.bincount(labels, minlength=n_classes)
        tied = np.flatnonzero(counts == counts.max())
        voted = next(c for c in labels if c in tied)  # the nearest of the tied classes
        losses.append(costs[label, voted] + 0.25 * typical * np.mean(labels != label))
    return np.array(losses)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_losses_are_those_of_a_slow_vote(k):
    rng = np.random.default_rng(k)
    database, queries = rng.normal(size=(60, 3)), rng.normal(size=(25, 3))
    codes, wanted = rng.integers(0, 3, 60), rng.integers(0, 3, 25)
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [0.5, 3.0, 0.0]])
    names = np.arange(3)
    targets = Classes(names, codes), Classes(names, wanted)
    found = prediction_losses(database, queries, *targets, k, costs=costs)
    assert_allclose(found, vote_slowly(database, queries, codes, wanted, costs, k))


def test_a_database_smaller_than_k_votes_with_all_its_rows():
    database, names = np.array([[0.0], [1.0]]), np.arange(2)
    targets = Classes(names, np.array([1, 1])), Classes(names, np.array([1, 0]))
    found = prediction_losses(database, np.zeros((2, 1)), *targets, 5)
    assert found.tolist() == [0.0, 1.25]


def test_the_share_of_wrong_neighbours_tells_equal_votes_apart():
    right = vote_losses(np.array([[0, 0, 1]]), np.array([0]), 1.0 - np.eye(2))
    assert right.tolist() == [pytest.approx(0.25 / 3)]


def test_the_noise_is_the_standard_error_of_the_paired_difference():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 200))
    expected = np.std(one - other) / np.sqrt(200)
    assert Score(one).behind(Score(other))[1] == pytest.approx(expected)
    assert Score(one).behind(Score(one + 3))[1] == pytest.approx(0, abs=1e-12)


def test_weights_count_in_the_mean_and_in_its_noise():
    losses = np.array([0.0, 1.0, 4.0])
    weights = np.array([3.0, 1.0, 0.0])
    assert Score(losses, weights).mean == pytest.approx(0.25)
    # A weight of zero is a row that is not there; a common factor changes nothing.
    other = np.array([1.0, 0.0, -7.0])
    left_out = Score(losses[:2], weights[:2]).behind(Score(other[:2]))[1]
    assert Score(losses, 10 * weights).behind(Score(other))[1] == pytest.approx(left_out)
    # Twelve rows, nine of them of one loss, by their weights or one by one, have one mean gap.
    repeated = Score(np.repeat(losses, [9, 3, 0]))
    assert Score(losses, weights).mean == pytest.approx(repeated.mean)


def test_rows_without_any_weight_have_the_plain_mean():
    assert Score(np.array([1.0, 3.0]), np.zeros(2)).mean == 2.0


def test_numbers_are_judged_by_the_squared_error_of_the_neighbours_mean():
    rng = np.random.default_rng(0)
    database, queries = rng.normal(size=(40, 2)), rng.normal(size=(9, 2))
    known, wanted = rng.normal(size=40), rng.normal(size=9)
    near = ExactIndex(database).query(queries, 3)[1]
    losses = prediction_losses(database, queries, Numbers(known), Numbers(wanted), 3)
    assert_allclose(losses, (known[near].mean(axis=1) - wanted) ** 2)


def test_settings_are_judged_by_the_search_that_predicts():
    """On a grid of whole numbers many distances are equal, and ties must go the same way."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, size=(600, 6)).astype(float), rng.integers(0, 3, 600)
    names = np.arange(3)
    train, held = (Rows(X[half], Classes(names, y[half])) for half in (slice(300), slice(300, 600)))
    near = ExactIndex(train.X).query(held.X, 3)[1]
    expected = vote_losses(train.codes[near], held.codes, 1.0 - np.eye(3))
    assert_allclose(judge_maps(PLAIN, train, held, 3).losses, expected)
    losses = prediction_losses(train.X, held.X, train.classes, held.classes, 3)
    assert_allclose(losses, expected)
