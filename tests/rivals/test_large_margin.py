"""The large-margin objective against loops, at one map and along a walk over many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.oracles import large_margin

from vicinal.pairs import order_by_class, search_pairs
from vicinal.rivals import _impostors
from vicinal.rivals._impostors import ImpostorSearch
from vicinal.rivals._large_margin import LargeMarginObjective, target_neighbors

EVERYTHING = 10**9


def problem(n, d, n_classes, seed, *, whole=False):
    """Rows in order of class, about their mean; whole numbers make ties and equal rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float) if whole else rng.normal(size=(n, d))
    classes = order_by_class(rng.integers(n_classes, size=n))
    return X - X.mean(axis=0), classes


def make_objective(X, classes, start, k, mu=0.5, *, most_pairs=EVERYTHING, n_threads=1):
    targets = target_neighbors(X @ start.T, classes, k)
    search = ImpostorSearch(X, classes, most_pairs=most_pairs, n_threads=n_threads)
    return LargeMarginObjective(X, targets, search, mu)


@given(
    n=st.integers(2, 20),
    d=st.integers(1, 4),
    p=st.integers(1, 4),
    k=st.integers(1, 4),
    mu=st.floats(0.1, 0.9),
    whole=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_the_objective_and_its_gradient_are_those_of_the_loops(n, d, p, k, mu, whole, seed):
    X, classes = problem(n, d, 3, seed, whole=whole)
    rng = np.random.default_rng(seed)
    start, elsewhere = rng.normal(size=(2, min(p, d), d))
    objective = make_objective(X, classes, start, k, mu)
    chosen = [[j for j in row if j >= 0] for row in objective.targets.tolist()]
    for L in (start, elsewhere, 0.1 * start, start + 1e-3 * elsewhere):
        loss, gradient = objective(L)
        assert_allclose(loss, large_margin.loss(L, X, classes.codes, chosen, mu), rtol=1e-9)
        expected = large_margin.gradient(L, X, classes.codes, chosen, mu)
        assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)
        impostors = large_margin.impostors(L, X, classes.codes, chosen)
        assert whole or objective.n_active == len(impostors)


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_the_slope_of_the_objective(seed):
    X, classes = problem(60, 5, 4, seed)
    L, step = np.random.default_rng(seed).normal(size=(2, 3, 5))
    objective = make_objective(X, classes, L, 3)
    slope = (objective(L + 1e-6 * step)[0] - objective(L - 1e-6 * step)[0]) / 2e-6
    assert_allclose(np.vdot(objective(L)[1], step), slope, rtol=1e-5)


@given(n=st.integers(2, 25), k=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_targets_are_the_nearest_rows_of_the_class(n, k, seed):
    X, classes = problem(n, 2, 3, seed)
    found = [[j for j in row if j >= 0] for row in target_neighbors(X, classes, k).tolist()]
    assert found == large_margin.targets(np.eye(2), X, classes.codes, k)


def test_no_row_is_its_own_target_however_many_are_equal():
    X, classes = np.zeros((12, 2)), order_by_class(np.arange(12) % 2)
    targets = target_neighbors(X, classes, 3)
    assert (targets != np.arange(12)[:, None]).all()
    assert (classes.codes[targets] == classes.codes[:, None]).all()


@pytest.mark.parametrize("p", [2, 4])
def test_keeping_pairs_changes_nothing_along_a_walk(p):
    X, classes = problem(400, 4, 5, 1)
    rng = np.random.default_rng(2)
    L = rng.normal(size=(p, 4))
    keeping = make_objective(X, classes, L, 3)
    forgetful = make_objective(X, classes, L, 3, most_pairs=0)
    for size in (0.0, 1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3, 1e-3, 1e-3):
        L = L * (1 + size) + size * rng.normal(size=L.shape)
        (loss, gradient), (expected, slope) = keeping(L), forgetful(L)
        assert_allclose(loss, expected, rtol=1e-12)
        assert_allclose(gradient, slope, rtol=1e-9, atol=1e-12)
    assert keeping.search.n_searched < 0.8 * forgetful.search.n_searched


def test_rows_that_outran_their_pairs_are_searched_again(monkeypatch):
    monkeypatch.setattr(_impostors, "_REACH", 1.0)
    monkeypatch.setattr(_impostors, "_STALE", 1.0)
    X, classes = problem(200, 3, 4, 5)
    L = np.eye(3)
    objective, fresh = (make_objective(X, classes, L, 2, most_pairs=m) for m in (EVERYTHING, 0))
    objective(L)
    bent = L + 0.2 * np.random.default_rng(0).normal(size=(3, 3))
    assert_allclose(objective(bent)[0], fresh(bent)[0], rtol=1e-12)
    assert 200 < objective.search.n_searched <= 400


def test_the_number_of_threads_changes_no_bit():
    X, classes = problem(700, 4, 3, 3)
    one, three = (make_objective(X, classes, np.eye(4), 3, n_threads=t) for t in (1, 3))
    (loss, gradient), (loss_3, gradient_3) = one(np.eye(4)), three(np.eye(4))
    assert loss == loss_3
    assert_array_equal(gradient, gradient_3)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e12, 1e20])
def test_no_pair_within_reach_is_missed_by_rounding(size):
    X, classes = problem(300, 6, 3, 4)
    X = np.vstack([X[:-1], 1e3 * X[-1:]]) * size
    rows = np.arange(300, dtype=np.int32)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    # Reaches that end exactly at a pair, so that rounding alone decides.
    reach = np.sort(squared, axis=1)[:, 20]
    found = np.concatenate(list(search_pairs(X, classes, rows, reach)))
    unlike = classes.codes[:, None] != classes.codes[None]
    named = np.zeros((300, 300), bool)
    named[found[:, 0], found[:, 1]] = True
    assert not (named & ~unlike).any()
    assert named[unlike & (squared <= reach[:, None])].all()
    assert len(found) == named.sum() < 0.2 * 300 * 300


def test_rows_without_a_target_neither_pull_nor_are_pushed_from():
    X, classes = np.array([[0.0], [0.1], [5.0]]), order_by_class(np.array([0, 0, 1]))
    objective = make_objective(X, classes, np.eye(1), 2)
    loss, gradient = objective(np.eye(1))
    assert_allclose(loss, 0.5 * 2 * 0.01 / 3)
    assert_allclose(gradient, [[2 * loss]])
