"""The exhaustive search, held to cases done by hand."""

from __future__ import annotations

import math

import pytest
from tests.oracles import voting

INF = math.inf


def test_subsets_leave_out_infinite_distances():
    assert list(voting.subsets([1.0, INF, 2.0, 3.0], 2)) == [(0, 2), (0, 3), (2, 3)]


def test_every_class_with_the_most_votes_is_a_winner():
    assert voting.winners([0, 1, 2, 3], [5, 5, 6, 6]) == {5, 6}
    assert voting.winners([0, 1, 2], [5, 5, 6]) == {5}


@pytest.mark.parametrize(("ties", "expected"), [(False, 5.5), (True, 1.5)])
def test_a_tie_saves_the_second_target_point(ties, expected):
    # k=2 with ties: one of each; without: both of class 0. k=3 needs both.
    distances, labels = [1.0, 4.5, 0.5, 0.7], [0, 0, 1, 1]
    assert voting.least_total(distances, labels, 0, 2, ties=ties) == expected


def test_no_set_means_none():
    assert voting.least_total([1.0, 2.0], [0, 1], 0, 2, ties=False) is None
    assert voting.least_total([1.0], [0], 0, 2, ties=True) is None
    assert voting.largest_value([1.0], [0], 0, 2, [[0.0]]) is None


def test_the_value_of_a_tied_vote_is_that_of_its_costliest_class():
    costs = [[0.0, 3.0], [1.0, 0.0]]
    assert voting.largest_value([1.0, 1.0], [0, 1], 0, 2, costs) == 1.0


def test_tied_votes_go_to_the_nearest():
    assert voting.nearest_vote([3.0, 1.0, 2.0, 2.5], [0, 1, 0, 1], 4) == 1
    assert voting.nearest_vote([1.0, 1.0], [1, 0], 1) == 1


def test_the_printed_greedy_misses_the_optimum_of_the_counterexample():
    distances, labels = [1, 1, 1, 10, 0, 0, 0, 9, 9.5], [0, 0, 0, 0, 1, 1, 1, 2, 2]
    assert voting.printed_greedy(distances, labels, 0, 7, 3) == 21.5
    assert voting.least_total(distances, labels, 0, 7, ties=False) == 13
