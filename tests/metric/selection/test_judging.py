"""What judges: splits in proportion, groups whole, cost bounded; votes as of a slow loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.metric.selection import Score, inner_splits, vote_losses


@dataclass(frozen=True)
class Rows:
    """A problem of numbered rows, as far as splitting knows one."""

    numbers: Any
    labels: Any = None
    groups: Any = None
    weights: Any = None

    @property
    def n_rows(self):
        return len(self.numbers)

    def take(self, rows):
        parts = (self.numbers, self.labels, self.groups)
        return Rows(*(None if part is None else part[rows] for part in parts))


def rows_of(n, labels=None, groups=None):
    return Rows(np.arange(n), labels, groups)


def splits_of(rows, seed=0) -> Any:
    return inner_splits(rows, seed)


def test_a_quarter_is_held_out_and_no_row_is_lost_or_on_both_sides():
    for train, held in splits_of(rows_of(200, np.arange(200) % 2)):
        assert held.n_rows == 50
        assert_array_equal(np.sort(np.append(train.numbers, held.numbers)), np.arange(200))


def test_classes_are_kept_in_proportion():
    labels = np.repeat([0, 1, 2], [120, 60, 20])
    for _, held in splits_of(rows_of(200, labels)):
        assert_array_equal(np.bincount(held.labels), [30, 15, 5])


def test_groups_are_not_parted():
    groups = np.arange(200) // 10
    for train, held in splits_of(rows_of(200, np.arange(200) % 2, groups)):
        assert not set(train.groups) & set(held.groups)
        assert 40 <= held.n_rows <= 60


def test_names_of_groups_may_be_words():
    groups = np.array(["north", "south", "east", "west"])[np.arange(80) % 4]
    for train, held in splits_of(rows_of(80, np.arange(80) // 4 % 2, groups)):
        assert not set(train.groups) & set(held.groups)


@pytest.mark.parametrize(("n_rows", "n_splits"), [(40, 4), (1660, 4), (2000, 3), (4900, 2)])
def test_few_rows_are_split_more_often(n_rows, n_splits):
    splits = splits_of(rows_of(n_rows, np.arange(n_rows) % 2))
    assert len(splits) == n_splits
    held = [tuple(part.numbers) for _, part in splits]
    assert len(set(held)) == n_splits


def test_many_rows_are_sampled_and_split_once():
    ((train, held),) = splits_of(rows_of(9000, np.arange(9000) % 3))
    assert train.n_rows + held.n_rows == 5000
    assert len(np.unique(np.append(train.numbers, held.numbers))) == 5000


def test_a_sample_takes_whole_groups():
    groups = np.repeat(np.arange(90), 100)
    for train, held in splits_of(rows_of(9000, np.arange(9000) % 3, groups)):
        sampled = np.append(train.groups, held.groups)
        assert 4800 <= len(sampled) <= 5000
        assert set(np.bincount(sampled, minlength=90)) == {0, 100}


def test_the_seed_decides():
    rows = rows_of(100, np.arange(100) % 2)
    one, again, other = (splits_of(rows, seed)[0][1].numbers for seed in (1, 1, 2))
    assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_rows_with_real_targets_are_split_too():
    splits = splits_of(rows_of(100))
    assert [held.n_rows for _, held in splits] == [25] * 4


def test_too_few_rows_or_groups_give_no_split():
    assert splits_of(rows_of(3, np.array([0, 1, 0]))) == []
    assert splits_of(rows_of(100, np.arange(100) % 2, np.zeros(100))) == []


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
