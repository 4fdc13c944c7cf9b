"""Signed pairs: over lists and over all rows, against exhaustive search and the readable twin."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.oracles import inference as slow
from tests.oracles import voting

from vicinal._kernels._candidates import signed_pairs
from vicinal.metric.candidates import squared_distances_to
from vicinal.metric.inference import infer_all, infer_pairs


def problem(seed, n, n_classes, *, d=3, tied=False, dtype=np.float64):
    """Rows, their classes and costs; tied rows lie on a few places."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)) if tied else rng.normal(size=(n, d))
    costs = rng.uniform(0.2, 2, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    return X.astype(dtype), rng.integers(n_classes, size=n).astype(np.int32), costs


def everyone(n):
    return np.array([np.delete(np.arange(n), i) for i in range(n)], np.int32).reshape(n, n - 1)


def over_lists(X, codes, rows, k, costs):
    lists = everyone(len(X))
    squared_distances, labels = squared_distances_to(X, X, rows, lists, codes)
    return infer_pairs(squared_distances, labels, rows, lists, codes, k, costs)


def assert_same(found, expected):
    for name in ("rows", "starts", "points", "signs", "feasible"):
        assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert_allclose(found.loss, expected.loss, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("n", "n_classes", "k"), [(200, 4, 7), (90, 26, 3), (30, 2, 1), (9, 3, 5)])
def test_all_rows_are_as_full_lists(n, n_classes, k):
    X, codes, costs = problem(n, n, n_classes)
    rows = np.random.default_rng(0).permutation(n)[: n // 2]
    found = infer_all(X, codes, rows, k, costs)
    assert_same(found, over_lists(X, codes, rows, k, costs))
    assert_same(infer_all(X, codes, rows, k, costs, n_threads=2), found)


@given(
    st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 3), st.integers(1, 5), st.booleans()
)
def test_pairs_are_the_difference_of_the_best_of_all_subsets(seed, n, n_classes, k, tied):
    """h* and ĥ have the totals of exhaustive search, and the pairs are where they differ."""
    X, codes, costs = problem(seed, n, n_classes, tied=tied)
    found = infer_all(X, codes, np.arange(n), k, costs)
    for i in range(n):
        squared = np.square(X - X[i]).sum(axis=1)
        squared[i] = np.inf
        least = voting.least_total(squared, codes, codes[i], k, ties=False)
        part = slice(found.starts[i], found.starts[i + 1])
        assert found.feasible[i] == (least is not None)
        if least is None:
            assert found.loss[i] == 0
            assert part.start == part.stop
            continue
        value = voting.largest_value(squared, codes, codes[i], k, costs)
        assert_allclose(found.loss[i], value + least, atol=1e-9)
        star = slow.best_voting_set(squared, codes, int(codes[i]), k)
        hat = slow.most_violating_set(squared, codes, int(codes[i]), k, costs=costs)
        assert star is not None
        assert hat is not None
        pulled, pushed = (set(found.points[part][found.signs[part] == s]) for s in (1, -1))
        assert pulled == set(star.indices) - set(hat.indices)
        assert pushed == set(hat.indices) - set(star.indices)


@pytest.mark.parametrize("infer", [infer_all, over_lists])
def test_rows_of_a_class_that_cannot_win_neither_pull_nor_push(infer):
    """One other row is no majority of three; no h* must not be read as the last candidate."""
    X, _, _ = problem(3, 50, 2)
    codes = np.append(np.arange(48) % 2, [2, 2]).astype(np.int32)
    found = infer(X, codes, np.arange(50), 3, 1 - np.eye(3))
    assert_array_equal(found.feasible, codes < 2)
    assert_array_equal(np.diff(found.starts)[48:], 0)
    assert_array_equal(found.loss[48:], 0)
    assert len(found.points) > 0


def test_queries_may_have_a_map_of_their_own():
    X, codes, costs = problem(4, 40, 3)
    queries = X @ np.random.default_rng(5).normal(size=(3, 3))
    found = infer_all(X, codes, np.arange(40), 3, costs, queries=queries)
    for i in range(40):
        squared = np.square(X - queries[i]).sum(axis=1)
        squared[i] = np.inf
        expected = slow.gerrymandering_loss(squared, codes, int(codes[i]), 3, costs=costs)
        assert_allclose(found.loss[i], expected, atol=1e-9)


def test_the_pairs_of_some_rows_are_named_with_their_query():
    X, codes, costs = problem(6, 60, 3)
    rows = np.array([50, 3, 17, 20])
    found = infer_all(X, codes, rows, 3, costs)
    queries, points, signs = found.pairs(slice(1, 3))
    counts = np.diff(found.starts)
    assert queries.tolist() == [3] * counts[1] + [17] * counts[2]
    pairs = slice(found.starts[1], found.starts[3])
    assert_array_equal(points, found.points[pairs])
    assert_array_equal(signs, found.signs[pairs])


def test_memory_is_blocks_not_all_pairs():
    """Lists of all other rows would take 8,000² · 4 bytes, 256 MB."""
    X, codes, costs = problem(7, 8000, 5, dtype=np.float32)
    rows = np.arange(0, 8000, 8)
    infer_all(X[:50], codes[:50], rows[:3], 3, costs)
    tracemalloc.start()
    try:
        infer_all(X, codes, rows, 3, costs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_kernel_writes_what_its_readable_twin_returns(seed, k):
    rng = np.random.default_rng(seed)
    m, c = 6, 10
    lists = np.array([rng.permutation(50)[:c] for _ in range(9)], np.int32)
    star, hat = (np.array([rng.permutation(c)[:k] for _ in range(m)], np.int32) for _ in range(2))
    hat[0] = rng.permutation(star[0])
    star[rng.random(m) < 0.3] = -1
    rows = rng.integers(9, size=m)
    starts, (points, signs) = np.empty(m + 1, np.int64), np.empty((2, 2 * m * k), np.int32)
    signed_pairs(rows, lists, star, hat, starts, points, signs)
    found = [
        list(zip(points[a:b].tolist(), signs[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(starts)
    ]
    assert found == slow.signed_pairs(rows, lists, star, hat)
