"""Scores of held-out rows: the votes of a slow loop, and the noise of their difference."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vicinal.metric.selection import Score, vote_losses


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
    found = vote_losses(database, queries, codes, wanted, costs, k)
    assert_allclose(found, vote_slowly(database, queries, codes, wanted, costs, k))


def test_a_database_smaller_than_k_votes_with_all_its_rows():
    database, codes = np.array([[0.0], [1.0]]), np.array([1, 1])
    costs = 1.0 - np.eye(2)
    found = vote_losses(database, np.zeros((2, 1)), codes, np.array([1, 0]), costs, 5)
    assert found.tolist() == [0.0, 1.25]


def test_the_share_of_wrong_neighbours_tells_equal_votes_apart():
    database, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1])
    costs = 1.0 - np.eye(2)
    right = vote_losses(database, np.zeros((1, 1)), codes, np.array([0]), costs, 3)
    assert right.tolist() == [pytest.approx(0.25 / 3)]


def test_the_noise_is_the_standard_error_of_the_paired_difference():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 200))
    expected = np.std(one - other) / np.sqrt(200)
    assert Score(one).noise(Score(other)) == pytest.approx(expected)
    assert Score(one).noise(Score(one + 3)) == pytest.approx(0, abs=1e-12)


def test_weights_count_in_the_mean_and_in_its_noise():
    losses = np.array([0.0, 1.0, 4.0])
    weights = np.array([3.0, 1.0, 0.0])
    assert Score(losses, weights).mean == pytest.approx(0.25)
    # A weight of zero is a row that is not there; a common factor changes nothing.
    other = np.array([1.0, 0.0, -7.0])
    left_out = Score(losses[:2], weights[:2]).noise(Score(other[:2]))
    assert Score(losses, 10 * weights).noise(Score(other)) == pytest.approx(left_out)
    # Twelve rows, nine of them of one loss, by their weights or one by one, have one mean gap.
    repeated = Score(np.repeat(losses, [9, 3, 0]))
    assert Score(losses, weights).mean == pytest.approx(repeated.mean)


def test_rows_without_any_weight_have_the_plain_mean():
    assert Score(np.array([1.0, 3.0]), np.zeros(2)).mean == 2.0
