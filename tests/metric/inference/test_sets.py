"""Voting sets, violating sets and the loss, against exhaustive search and the readable twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import inference as slow
from tests.oracles import voting

from vicinal import best_voting_set, gerrymandering_loss, most_violating_set

INF = float("inf")
COUNTEREXAMPLE = (
    np.array([1, 1, 1, 10, 0, 0, 0, 9, 9.5]),
    np.array([0, 0, 0, 0, 1, 1, 1, 2, 2]),
)


@st.composite
def queries(draw, finite=False):
    """Draw distances (often tied, some infinite, float32 or float64), labels, target, k, costs."""
    n_classes, k = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    n = draw(st.integers(1, 12))
    tied = st.integers(0, 5).map(float)
    spread = st.floats(0, 10, allow_nan=False, width=32)
    values = st.one_of(tied, spread) if finite else st.one_of(tied, spread, st.just(INF))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    distances = np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype)
    labels = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    target = draw(st.integers(0, n_classes - 1))
    entries = st.lists(st.floats(0, 8, width=32), min_size=n_classes**2, max_size=n_classes**2)
    costs = np.array(draw(entries)).reshape(n_classes, n_classes)
    np.fill_diagonal(costs, 0.0)
    return distances, labels, target, k, costs


@given(queries(), st.booleans())
def test_the_best_voting_set_is_the_best_of_all_subsets(query, ties):
    distances, labels, target, k, _ = query
    found = best_voting_set(distances, labels, target, k, ties=ties)
    expected = voting.least_total(distances, labels, target, k, ties=ties)
    assert (found is None) == (expected is None)
    if found is not None:
        assert len(set(found.indices.tolist())) == k
        assert voting.wins(found.indices, labels, target, ties=ties)
        assert found.total == pytest.approx(expected, abs=1e-12)
        assert found.total == pytest.approx(voting.total(found.indices, distances), abs=1e-12)


@given(queries())
def test_the_most_violating_set_is_the_worst_of_all_subsets(query):
    distances, labels, target, k, costs = query
    found = most_violating_set(distances, labels, target, k, costs=costs)
    expected = voting.largest_value(distances, labels, target, k, costs)
    assert (found is None) == (expected is None)
    if found is not None:
        assert voting.wins(found.indices, labels, found.voted, ties=True)
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert found.value == costs[target, found.voted] - found.total
        assert found.total == pytest.approx(voting.total(found.indices, distances), abs=1e-12)


@given(queries())
def test_the_loss_is_the_violation_plus_the_best_total(query):
    distances, labels, target, k, costs = query
    least = voting.least_total(distances, labels, target, k, ties=False)
    loss = gerrymandering_loss(distances, labels, target, k, costs=costs)
    if least is None:
        assert loss == 0.0
    else:
        value = voting.largest_value(distances, labels, target, k, costs)
        assert loss == pytest.approx(value + least, abs=1e-12)


@given(queries(), st.booleans())
def test_kernels_and_their_readable_twin_give_the_same_bits(query, ties):
    distances, labels, target, k, costs = query
    for found, twin in (
        (
            best_voting_set(distances, labels, target, k, ties=ties),
            slow.best_voting_set(distances, labels, target, k, ties=ties),
        ),
        (
            most_violating_set(distances, labels, target, k, costs=costs),
            slow.most_violating_set(distances, labels, target, k, costs=costs),
        ),
    ):
        assert (found is None) == (twin is None)
        if found is not None and twin is not None:
            assert found.indices.tolist() == twin.indices.tolist()
            assert found.total == twin.total
            assert getattr(found, "voted", None) == getattr(twin, "voted", None)
    loss = gerrymandering_loss(distances, labels, target, k, costs=costs)
    assert loss == slow.gerrymandering_loss(distances, labels, target, k, costs=costs)


@given(queries())
def test_the_loss_is_never_negative_and_never_below_the_cost_of_the_nearest_neighbours_vote(query):
    distances, labels, target, k, costs = query
    loss = gerrymandering_loss(distances, labels, target, k, costs=costs)
    assert loss >= 0.0
    voted = voting.nearest_vote(distances, labels, k)
    if voting.least_total(distances, labels, target, k, ties=False) is not None:
        assert loss >= costs[target, voted] - 1e-12


@given(queries(), st.randoms(use_true_random=False))
def test_the_order_of_the_points_changes_nothing(query, random):
    distances, labels, target, k, costs = query
    order = list(range(len(labels)))
    random.shuffle(order)
    before = most_violating_set(distances, labels, target, k, costs=costs)
    after = most_violating_set(distances[order], labels[order], target, k, costs=costs)
    assert (before is None) == (after is None)
    if before is not None:
        assert after.total == pytest.approx(before.total, abs=1e-12)
        assert after.voted == before.voted
        assert sorted(distances[order][after.indices]) == sorted(distances[before.indices])
    assert gerrymandering_loss(distances[order], labels[order], target, k, costs=costs) == (
        gerrymandering_loss(distances, labels, target, k, costs=costs)
    )


@given(queries(), st.permutations(range(4)))
def test_renaming_the_classes_changes_nothing(query, names):
    distances, labels, target, k, costs = query
    names = np.argsort([names[r] for r in range(len(costs))])
    renamed = np.empty_like(costs)
    renamed[np.ix_(names, names)] = costs
    assert gerrymandering_loss(
        distances, names[labels], names[target], k, costs=renamed
    ) == gerrymandering_loss(distances, labels, target, k, costs=costs)


@given(queries(), st.integers(-8, 8))
def test_scaling_distances_and_costs_scales_the_loss(query, exponent):
    distances, labels, target, k, costs = query
    scale = 2.0**exponent  # exact in floating point
    loss = gerrymandering_loss(distances, labels, target, k, costs=costs)
    scaled = gerrymandering_loss(
        distances.astype(np.float64) * scale, labels, target, k, costs=costs * scale
    )
    assert scaled == loss * scale


@given(queries(finite=True), st.integers(0, 64))
def test_adding_a_constant_to_all_distances_leaves_the_sets_alone(query, shift):
    distances, labels, target, k, costs = query
    distances = np.round(distances.astype(np.float64) * 64) / 64  # so that sums are exact
    costs = np.round(costs * 64) / 64
    before = most_violating_set(distances, labels, target, k, costs=costs)
    after = most_violating_set(distances + shift, labels, target, k, costs=costs)
    assert (before is None) == (after is None)
    if before is not None:
        assert before.indices.tolist() == after.indices.tolist()
        assert after.total == before.total + k * shift


def test_the_printed_greedy_algorithm_is_not_exact():
    distances, labels = COUNTEREXAMPLE
    assert voting.printed_greedy(distances.tolist(), labels.tolist(), 0, 7, 3) == 21.5
    chosen = best_voting_set(distances, labels, 0, 7)
    assert chosen is not None
    assert chosen.total == 13
    assert chosen.indices.tolist() == [4, 5, 6, 0, 1, 2, 3]


@settings(max_examples=30)
@given(queries())
def test_costs_are_zero_and_one_unless_given(query):
    distances, labels, target, k, costs = query
    plain = 1.0 - np.eye(len(costs))
    assert gerrymandering_loss(distances, labels, target, k) == gerrymandering_loss(
        distances, labels, target, k, costs=plain
    )


def test_equal_distances_go_to_the_lower_index():
    chosen = best_voting_set([2.0, 1.0, 2.0, 3.0, 2.0], [1, 0, 0, 0, 2], 0, 3)
    assert chosen is not None
    assert chosen.indices.tolist() == [1, 0, 2]


def test_equal_totals_go_to_the_clearer_vote():
    chosen = best_voting_set([1.0, 1.0, 1.0, 1.0], [1, 0, 0, 0], 0, 3)
    assert chosen is not None
    assert chosen.indices.tolist() == [1, 2, 3]


def test_equal_values_go_to_the_own_class_then_to_the_lower():
    own = most_violating_set([1.0, 1.0], [0, 1], 1, 1, costs=np.zeros((2, 2)))
    other = most_violating_set([1.0, 1.0, 1.0], [2, 1, 0], 0, 1)
    assert own is not None
    assert other is not None
    assert own.voted == 1
    assert other.voted == 1


def test_classes_without_points_may_have_any_number():
    found = most_violating_set([1.0, 1.5], [7, 10**9], 7, 1)
    assert found is not None
    assert found.voted == 10**9
    assert gerrymandering_loss([1.0, 1.5], [7, 10**9], 7, 1) == 0.5


def test_a_target_nobody_belongs_to_has_no_set_and_no_loss():
    assert best_voting_set([1.0, 2.0], [0, 0], 1, 1) is None
    assert gerrymandering_loss([1.0, 2.0], [0, 0], 1, 1) == 0.0
    found = most_violating_set([1.0, 2.0], [0, 0], 1, 1)
    assert found is not None
    assert found.value == 0.0


def test_more_neighbours_than_points_is_a_set_that_does_not_exist():
    assert best_voting_set([1.0], [0], 0, 2) is None
    assert most_violating_set([1.0], [0], 0, 2) is None
    assert best_voting_set([], [], 0, 1) is None
    assert gerrymandering_loss([], [], 0, 1) == 0.0


def test_totals_of_float32_distances_are_summed_in_float64():
    distances = np.array([1e8, 1.0, 1.0, 1.0], np.float32)
    chosen = best_voting_set(distances, [0, 0, 0, 0], 0, 4)
    assert chosen is not None
    assert chosen.total == 100000003.0


BAD: dict[str, dict[str, Any]] = {
    "one-dimensional": {"squared_distances": [[1.0, 2.0]]},
    r"squared_distances\[1\] is nan": {"squared_distances": [1.0, np.nan]},
    r"squared_distances\[0\] is -inf": {"squared_distances": [-INF, 1.0]},
    "one entry a point": {"labels": [0, 1, 1]},
    "integers 0..R-1, got float64": {"labels": [0.0, 1.0]},
    "must not be negative, got -1": {"labels": [0, -1]},
    "target must be a whole number": {"target": 0.5},
    "target must be at least 0": {"target": -1},
    "n_neighbors must be at least 1": {"n_neighbors": 0},
    "n_neighbors must be a whole number": {"n_neighbors": 1.5},
    "square matrix": {"costs": [0.0, 1.0]},
    "costs has 1 rows but there are 2 classes": {"costs": [[0.0]]},
    "one entry is -1": {"costs": [[0.0, -1.0], [1.0, 0.0]]},
    "one entry is inf": {"costs": [[0.0, INF], [1.0, 0.0]]},
    r"costs\[1, 1\] is 2": {"costs": [[0.0, 1.0], [1.0, 2.0]]},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_refused_with_its_reason(message):
    given_: dict[str, Any] = {
        "squared_distances": [1.0, 2.0],
        "labels": [0, 1],
        "target": 0,
        "n_neighbors": 1,
    }
    with pytest.raises(ValueError, match=message):
        gerrymandering_loss(**(given_ | BAD[message]))
