"""Losses of soft neighbours: values against sums over all sets, gradients against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.oracles import differences, soft_neighbors

from vicinal.pairs import pair_distances, soft_loss
from vicinal.rivals._knca import VoteOfMany
from vicinal.rivals._mlkr import KernelRegression
from vicinal.rivals._nca import SameClass
from vicinal.rivals._soft_neighbors import (
    AllPairs,
    SampledPairs,
    _entropy,
    scale_to_perplexity,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(11, 3)), rng.integers(0, 3, 11), 0.7 * rng.normal(size=(2, 3))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_chance_of_a_vote_is_the_sum_over_all_sets(rows, k):
    X, y, A = rows
    loss = AllPairs(X, VoteOfMany(y, k))(A)[0]
    assert_allclose(1 - loss, soft_neighbors.vote_chance(A, X, y, k), rtol=1e-10)


def test_one_neighbour_drawn_is_nca(rows):
    X, y, A = rows
    one, many = AllPairs(X, SameClass(y))(A), AllPairs(X, VoteOfMany(y, 1))(A)
    assert_allclose(one[0], many[0], rtol=1e-10)
    assert_allclose(one[1], many[1], rtol=1e-10, atol=1e-14)


def test_the_error_of_kernel_regression_is_that_of_its_loop(rows):
    X, y, A = rows
    loss = AllPairs(X, KernelRegression(y[:, None].astype(float)))(A)[0]
    assert_allclose(loss, soft_neighbors.regression_error(A, X, y), rtol=1e-10)


@pytest.mark.parametrize("name", ["nca", "k = 3", "k = 4", "regression"])
def test_gradients_are_those_of_differences(rows, name):
    X, y, A = rows
    targets = np.column_stack([y, y**2]).astype(float)
    rules: dict[str, Any] = {
        "nca": SameClass(y),
        "k = 3": VoteOfMany(y, 3),
        "k = 4": VoteOfMany(y, 4),
        "regression": KernelRegression(targets),
    }
    objective = AllPairs(X, rules[name])
    wanted = differences.gradient(lambda at: objective(at)[0], A)
    assert_allclose(objective(A)[1], wanted, rtol=1e-5, atol=1e-8)


def test_far_rows_neither_overflow_nor_vanish(rows):
    X, y, A = rows
    for size in (1e-8, 1e3, 1e8):
        loss, gradient = AllPairs(X, VoteOfMany(y, 3))(size * A)
        assert 0 <= loss <= 1
        assert np.isfinite(gradient).all()


def test_batches_that_choose_among_all_rows_add_up_to_the_whole(rows):
    X, y, A = rows
    sampled = SampledPairs(X, SameClass(y), 100, 0)
    parts = [sampled.gradient(A, np.arange(11), part) for part in (slice(0, 5), slice(5, 11))]
    loss, gradient = AllPairs(X, SameClass(y))(A)
    assert_allclose(sum(part[0] for part in parts) / 11, loss, rtol=1e-5)
    assert_allclose((5 * parts[0][1] + 6 * parts[1][1]) / 11, gradient, rtol=1e-4, atol=1e-6)


def test_rows_that_are_not_asked_about_have_no_say(rows):
    X, y, A = rows
    some, among = np.array([1, 4, 8]), np.array([0, 1, 3, 8, 9])
    clean = soft_loss(SameClass(y), X, A, some, among)
    spoilt = X.copy()
    spoilt[[2, 5, 6, 7, 10]] = np.nan
    assert_allclose(soft_loss(SameClass(y), spoilt, A, some, among)[1], clean[1], rtol=1e-12)
    wanted = differences.gradient(lambda at: soft_loss(SameClass(y), X, at, some, among)[0], A)
    assert_allclose(clean[1], wanted, rtol=1e-5, atol=1e-8)


def test_blocks_give_what_one_block_gives(rows, monkeypatch):
    X, y, A = rows
    whole = AllPairs(X, SameClass(y))(A)
    monkeypatch.setattr("vicinal.pairs._soft.BLOCK", 25)
    parts = AllPairs(X, SameClass(y))(A)
    assert_allclose(parts[0], whole[0], rtol=1e-10)
    assert_allclose(parts[1], whole[1], rtol=1e-10, atol=1e-14)


def test_a_row_is_not_its_own_neighbour_among_drawn_ones(rows):
    X, _, A = rows
    queries, references = np.array([7, 2]), np.array([0, 2, 5])
    squared = pair_distances(X[queries] @ A.T, X[references] @ A.T, queries, references)
    assert_allclose(np.isinf(squared), [[False] * 3, [False, True, False]])
    loss, gradient = soft_loss(SameClass(np.arange(11)), X, A, np.array([3]), np.array([3]))
    assert loss == 1
    assert not gradient.any()


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_start_is_scaled_to_see_so_many_neighbours(size):
    X = size * np.random.default_rng(0).normal(size=(200, 5))
    A = scale_to_perplexity(np.eye(5), X, 10.0, 0)
    mapped, every = X @ A.T, np.arange(200)
    squared = pair_distances(mapped, mapped, every, every)
    squared -= squared.min(axis=1, keepdims=True)
    assert_allclose(np.exp(_entropy(squared, 1.0)), 10, rtol=1e-3)
