"""Exact inference over all points: the same sets whatever the blocks, threads and precision."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import inference as slow

from vicinal.metric.inference import _all_points
from vicinal.metric.inference._all_points import infer_over_points


def expected_sets(queries, points, labels, targets, k, costs, exclude):
    """Return h*, ĥ (sorted rows), loss and vote by the readable twin on directly summed squares."""
    sets = []
    for i, query in enumerate(np.asarray(queries, np.float64)):
        gaps = np.asarray(points, np.float64) - query
        squared = np.cumsum(gaps * gaps, axis=1)[:, -1]
        squared[labels < 0] = np.inf
        if exclude is not None and exclude[i] >= 0:
            squared[exclude[i]] = np.inf
        star = slow.best_voting_set(squared, labels, targets[i], k)
        hat = slow.most_violating_set(squared, labels, targets[i], k, costs=costs)
        loss = slow.gerrymandering_loss(squared, labels, targets[i], k, costs=costs)
        sets.append(
            (
                [-1] * k if star is None else sorted(star.indices.tolist()),
                [-1] * k if hat is None else sorted(hat.indices.tolist()),
                loss,
                -1 if hat is None else hat.voted,
            )
        )
    return sets


def check(queries, points, labels, targets, k, costs, exclude=None):
    found = infer_over_points(queries, points, labels, targets, k, costs, exclude=exclude)
    expected = expected_sets(queries, points, labels, targets, k, costs, exclude)
    for i, (star, hat, loss, voted) in enumerate(expected):
        assert sorted(found.star[i].tolist()) == star
        assert sorted(found.hat[i].tolist()) == hat
        assert found.loss[i] == loss
        assert found.voted[i] == voted


def problem(seed, n, d, n_classes, *, tied=False, dtype=np.float64, scale=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, d)) if tied else rng.normal(size=(n, d))
    labels = rng.integers(0, n_classes, n)
    costs = rng.random((n_classes, n_classes)) * 2 * scale**2
    np.fill_diagonal(costs, 0)
    return (points * scale + offset).astype(dtype), labels, costs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("n", "n_classes", "k"), [(300, 4, 7), (40, 3, 1), (130, 2, 3), (90, 26, 5)]
)
def test_leave_one_out_sets_are_exact(n, n_classes, k, tied, dtype):
    points, labels, costs = problem(n + k, n, 4, n_classes, tied=tied, dtype=dtype)
    check(points[:25], points, labels, labels[:25], k, costs, exclude=np.arange(25))


@pytest.mark.parametrize(("scale", "offset"), [(1e-3, 1e4), (1e30, 0.0), (1e-25, 0.0), (1.0, -1e6)])
def test_far_off_huge_and_tiny_data_lose_nothing(scale, offset):
    points, labels, costs = problem(3, 200, 5, 3, scale=scale, offset=offset)
    check(points[:20], points, labels, labels[:20], 5, costs, exclude=np.arange(20))


def test_one_outlier_does_not_blur_the_rest():
    points, labels, costs = problem(4, 200, 5, 3, scale=1e-6)
    points[77] = 1e7
    check(points[:20], points, labels, labels[:20], 3, costs, exclude=np.arange(20))


def test_points_that_are_all_the_same_are_chosen_by_row_number():
    points, labels = np.ones((150, 3)), np.arange(150) % 3
    check(points[:5], points, labels, labels[:5], 4, 1 - np.eye(3), exclude=np.arange(5))


@pytest.mark.parametrize("k", [64, 65, 100])
def test_more_neighbours_than_lanes_are_found_too(k):
    points, labels, costs = problem(5, 400, 3, 2)
    check(points[:4], points, labels, labels[:4], k, costs, exclude=np.arange(4))


def test_queries_need_not_be_among_the_points():
    points, labels, costs = problem(6, 120, 4, 3)
    queries, targets, _ = problem(7, 15, 4, 3)
    check(queries + 2, points, labels, targets, 3, costs)


def test_points_of_a_negative_class_and_classes_without_points_are_left_out():
    points, labels, _ = problem(8, 100, 4, 3)
    labels = np.where(labels == 1, -1, labels)
    costs = 1 - np.eye(5)
    check(points[:10], points, labels, np.full(10, 2), 3, costs, exclude=np.full(10, -1))


def test_a_class_too_small_to_win_is_marked_and_costs_nothing():
    points, labels, costs = problem(9, 60, 3, 3)
    labels = np.where(labels == 2, 0, labels)
    labels[0] = 2
    found = infer_over_points(
        points[:1], points, labels, labels[:1], 3, costs, exclude=np.array([0])
    )
    assert found.star.tolist() == [[-1, -1, -1]]
    assert found.loss.tolist() == [0.0]
    assert found.hat.min() >= 0


def test_fewer_points_than_neighbours_give_no_set():
    points, labels, costs = problem(10, 3, 2, 2)
    found = infer_over_points(points, points, labels, labels, 3, costs, exclude=np.arange(3))
    assert (found.hat == -1).all()
    assert (found.voted == -1).all()


def test_blocks_and_threads_change_no_bit(monkeypatch):
    points, labels, costs = problem(11, 500, 6, 4, dtype=np.float32)
    everyone = np.arange(500)
    whole = infer_over_points(points, points, labels, labels, 5, costs, exclude=everyone, n_jobs=1)
    monkeypatch.setattr(_all_points, "_BLOCK_ENTRIES", 500 * 17)
    for n_jobs in (1, 2, 3):
        split = infer_over_points(
            points, points, labels, labels, 5, costs, exclude=everyone, n_jobs=n_jobs
        )
        for a, b in zip(whole, split, strict=True):
            assert (a == b).all()


@pytest.mark.parametrize("cost", [0.0, 0.01, 1.0, 100.0, 1e9])
def test_the_size_of_the_costs_decides_how_many_points_matter_but_never_which_sets(cost):
    points, labels, costs = problem(12, 600, 3, 5)
    check(points[:30], points, labels, labels[:30], 5, costs * cost, exclude=np.arange(30))


def test_a_query_amid_another_class_is_answered_exactly():
    points, labels, costs = problem(13, 2000, 2, 2)
    points[labels == 1] += 30
    queries = points[labels == 1][:10]
    check(queries, points, labels, np.zeros(10, int), 3, costs)


def test_a_query_at_the_centre_of_shells_is_answered_exactly():
    rng = np.random.default_rng(14)
    points = rng.normal(size=(900, 3))
    points *= rng.uniform(5, 5.2, (900, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    labels = rng.integers(0, 3, 900)
    check(np.zeros((3, 3)), points, labels, np.arange(3), 5, 0.3 * (1 - np.eye(3)))


def test_points_that_matter_by_less_than_the_filter_can_tell_are_not_missed():
    # One neighbour: a rival matters up to the own squared distance plus its cost.
    rng = np.random.default_rng(15)
    queries = 20.0 * np.arange(100)[:, None] * np.ones(3) + rng.normal(size=(100, 3))
    own, rival = rng.normal(size=(2, 100, 3))
    reach = np.sqrt((own**2).sum(axis=1) + 1 - 1e-7)
    rival *= (reach / np.linalg.norm(rival, axis=1))[:, None]
    points = np.concatenate([queries + own, queries + rival])
    labels, costs = np.repeat([0, 1], 100), 1 - np.eye(2)
    found = infer_over_points(queries, points, labels, np.zeros(100, int), 1, costs)
    assert (found.voted == 1).all()
    check(queries, points, labels, np.zeros(100, int), 1, costs)
