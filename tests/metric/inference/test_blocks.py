"""Both sets of a block of queries: those of each query by itself, and of exhaustive search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import voting

from vicinal import best_voting_set, gerrymandering_loss, infer_sets, most_violating_set

NONE = -1


def block(seed, m, n, n_classes, dtype=np.float64):
    """Distances that often tie, some infinite; classes of the queries may have no point."""
    rng = np.random.default_rng(seed)
    distances = np.where(rng.random((m, n)) < 0.15, np.inf, rng.integers(0, 6, (m, n)))
    labels = rng.integers(n_classes, size=(m, n))
    targets = rng.integers(n_classes, size=m)
    costs = rng.uniform(0, 3, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    return distances.astype(dtype), labels, targets, costs


sizes = st.tuples(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 9), st.integers(1, 4))


@given(sizes, st.integers(1, 5))
def test_the_sets_are_the_best_and_the_worst_of_all_subsets(size, k):
    distances, labels, targets, costs = block(*size)
    found = infer_sets(distances, labels, targets, k, costs=costs)
    for i, target in enumerate(targets):
        least = voting.least_total(distances[i], labels[i], target, k, ties=False)
        largest = voting.largest_value(distances[i], labels[i], target, k, costs)
        assert (found.best[i] == NONE).all() == (least is None)
        assert (found.violating[i] == NONE).all() == (largest is None)
        assert (found.voted[i] == NONE) == (largest is None)
        if least is None or largest is None:
            assert found.loss[i] == 0
            continue
        best, worst = found.best[i], found.violating[i]
        assert voting.wins(best, labels[i], target, ties=False)
        assert voting.wins(worst, labels[i], found.voted[i], ties=True)
        assert voting.total(best, distances[i]) == pytest.approx(least, abs=1e-12)
        value = costs[target, found.voted[i]] - voting.total(worst, distances[i])
        assert value == pytest.approx(largest, abs=1e-12)
        assert found.loss[i] == pytest.approx(largest + least, abs=1e-12)


@given(sizes, st.integers(1, 5), st.sampled_from([np.float32, np.float64]))
def test_each_query_is_answered_as_if_it_were_alone(size, k, dtype):
    distances, labels, targets, costs = block(*size, dtype)  # type: ignore[call-arg]
    labels, targets = 3 * labels, 3 * targets  # classes with gaps between them
    wide = np.zeros((3 * len(costs) - 2,) * 2)
    wide[::3, ::3] = costs
    found = infer_sets(distances, labels, targets, k, costs=wide)
    for i, target in enumerate(targets):
        query = distances[i], labels[i], int(target), k
        best, worst = best_voting_set(*query), most_violating_set(*query, costs=wide)
        assert found.best[i].tolist() == ([NONE] * k if best is None else best.indices.tolist())
        expected = [NONE] * k if worst is None else worst.indices.tolist()
        assert found.violating[i].tolist() == expected
        assert found.voted[i] == (NONE if worst is None else worst.voted)
        assert found.loss[i] == gerrymandering_loss(*query, costs=wide)


def test_points_shared_by_all_queries_are_labelled_once():
    distances, labels, targets, _ = block(0, 5, 12, 3)
    shared = infer_sets(distances, labels[0], targets, 3)
    spelled_out = infer_sets(distances, np.tile(labels[0], (5, 1)), targets, 3)
    for name in ("best", "violating", "voted", "loss"):
        np.testing.assert_array_equal(getattr(shared, name), getattr(spelled_out, name))


def test_no_queries_and_more_neighbours_than_points_are_no_trouble():
    nobody = infer_sets(np.empty((0, 4)), [0, 0, 1, 1], np.empty(0, int), 2)
    assert nobody.best.shape == nobody.violating.shape == (0, 2)
    assert nobody.voted.shape == nobody.loss.shape == (0,)
    for n in (0, 2):
        found = infer_sets(np.ones((3, n)), np.zeros(n, int), [0, 0, 1], 5)
        assert (found.best == NONE).all()
        assert found.violating.tolist() == [[NONE] * 5] * 3
        assert found.voted.tolist() == [NONE] * 3
        assert found.loss.tolist() == [0.0] * 3


def test_the_arguments_are_left_as_they_were():
    distances, labels, targets, costs = block(1, 4, 9, 3)
    before = [part.copy() for part in (distances, labels, targets, costs)]
    infer_sets(distances, labels, targets, 3, costs=costs)
    for part, copy in zip((distances, labels, targets, costs), before, strict=True):
        np.testing.assert_array_equal(part, copy)


BAD: dict[str, dict[str, Any]] = {
    r"two-dimensional, one row a query; got shape \(2,\)": {"distances": [1.0, 2.0]},
    r"distances\[0, 1\] is nan": {"distances": [[1.0, np.nan]]},
    r"labels must have .* shape \(2,\) or \(1, 2\); got shape \(3,\)": {"labels": [0, 1, 1]},
    r"targets must have .* shape \(1,\); got shape \(2,\)": {"targets": [0, 1]},
    "targets must be integers 0..R-1, got float64": {"targets": [0.5]},
    "targets must not be negative, got -2": {"targets": [-2]},
    "k must be at least 1, got 0": {"k": 0},
    "costs has 1 rows but there are 2 classes": {"costs": [[0.0]]},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_refused_with_its_reason(message):
    given_: dict[str, Any] = {"distances": [[1.0, 2.0]], "labels": [0, 1], "targets": [0], "k": 1}
    with pytest.raises(ValueError, match=message):
        infer_sets(**(given_ | BAD[message]))
