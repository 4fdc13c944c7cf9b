"""The objective: losses of an exhaustive search, gradients by pair loops and finite differences."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from vicinal import MLNG
from vicinal.metric.candidates import order_by_class
from vicinal.metric.gerrymander._objective import (
    MEDIAN_GAP,
    REGULARIZERS,
    ConeObjective,
    FactoredObjective,
    factored_regularizer,
    force_gradient,
    metric_gradient,
)
from vicinal.metric.gerrymander._options import check_options

WEIGHTS = np.linspace(0.5, 1.5, 40)
COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [0.5, 0.5, 0.0]])


def make_objective(codes=None, *, weights=None, costs=None, amount=0.0, **told: Any):
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=40) if codes is None else np.asarray(codes)
    classes = order_by_class(codes)
    X = rng.normal(size=(len(codes), 5))
    costs = 1.0 - np.eye(codes.max() + 1) if costs is None else costs
    options = check_options(MLNG(3, random_state=0, **told), X, costs, None)
    objective = FactoredObjective(X, classes, options, weights, amount)
    objective.look(np.eye(5), 0)
    return objective


def make_cone(**options: Any):
    return ConeObjective(make_objective(solver="psd", **options), np.eye(5))


def distances(X, metric):
    gaps = X[:, None] - X
    return np.einsum("ijk,kl,ijl->ij", gaps, metric, gaps)


def exhaustive_loss(squared_distances, codes, i, k, costs):
    """max_h [Δ(h) − Σ D] + min over right votes of Σ D, over all sets of k other rows."""
    best, right = -np.inf, np.inf
    for chosen in combinations([j for j in range(len(codes)) if j != i], k):
        total = squared_distances[i, list(chosen)].sum()
        counts = np.bincount(codes[list(chosen)], minlength=len(costs))
        winners = np.flatnonzero(counts == counts.max())
        best = max(best, costs[codes[i], winners].max() - total)
        if winners.tolist() == [codes[i]]:
            right = min(right, total)
    return best + right


def test_losses_are_those_of_an_exhaustive_search():
    codes = np.arange(12) % 3
    objective = make_objective(codes, costs=COSTS)
    L = np.random.default_rng(1).normal(size=(4, 5)) / 2
    sets = objective.infer(L, np.arange(12))
    D = distances(objective.X, L.T @ L)
    costs = objective.options.costs
    assert costs.sum() == pytest.approx(6)  # mean 1 off the diagonal
    expected = [exhaustive_loss(D, objective.classes.codes, i, 3, costs) for i in range(12)]
    assert_allclose(sets.loss, expected, atol=1e-10)


def mean_loss_of(objective, sets, L):
    """Mean loss with the sets held fixed: what they lost, and how the signed distances changed."""
    queries, points, signs = sets.pairs(slice(0, len(sets.rows)))
    gaps = objective.X[queries] - objective.X[points]
    return np.sum(WEIGHTS[queries] * signs * np.square(gaps @ L.T).sum(axis=1)) / len(sets.rows)


def slope(function, place, step, h=1e-6):
    return (function(place + h * step) - function(place - h * step)) / (2 * h)


@pytest.mark.parametrize("regularizer", [None, "frobenius", "trace", "identity"])
def test_the_gradient_in_the_factor_is_that_of_the_loss_on_fixed_sets(regularizer):
    objective = make_objective(weights=WEIGHTS, regularizer=regularizer, amount=0.1, costs=COSTS)
    rng = np.random.default_rng(1)
    L, step = rng.normal(size=(2, 4, 5)) / 2
    sets = objective.infer(L, np.arange(40))
    _, gradient = objective.gradient(L, sets, slice(0, 40))

    def loss(at):
        extra = 0.1 * factored_regularizer(regularizer, at)[0] if regularizer else 0.0
        return mean_loss_of(objective, sets, at) + extra

    assert_allclose(np.vdot(gradient, step), slope(loss, L, step), rtol=1e-6)


@pytest.mark.parametrize("regularizer", [None, "frobenius", "trace", "identity"])
@pytest.mark.parametrize("kind", ["factored", "cone"])
def test_the_gradient_is_that_of_the_loss_with_inference(kind, regularizer):
    told = {"weights": WEIGHTS, "regularizer": regularizer, "amount": 0.1}
    rng = np.random.default_rng(1)
    L, step = rng.normal(size=(2, 4, 5)) / 2
    objective = make_objective(**told) if kind == "factored" else make_cone(**told)
    place = L if kind == "factored" else L.T @ L + 0.1 * np.eye(5)
    if kind == "cone":
        step = rng.normal(size=(5, 5))
        step = step + step.T

    def mean_loss(at):
        settled = objective.settle(at)
        sets = objective.infer(settled, np.arange(40))
        return objective.gradient(settled, sets, slice(0, 40))[0] / 40

    settled = objective.settle(place)
    sets = objective.infer(settled, np.arange(40))
    _, gradient = objective.gradient(settled, sets, slice(0, 40))
    assert_allclose(np.vdot(gradient, step), slope(mean_loss, place, step), rtol=1e-5)


def test_the_losses_and_gradients_of_batches_make_up_those_of_all():
    objective = make_objective(weights=WEIGHTS)
    L = np.random.default_rng(1).normal(size=(4, 5)) / 2
    sets = objective.infer(L, np.arange(40))
    total, gradient = objective.gradient(L, sets, slice(0, 40))
    halves = [objective.gradient(L, sets, part) for part in (slice(0, 20), slice(20, 40))]
    assert sum(loss for loss, _ in halves) == pytest.approx(total)
    assert_allclose(sum(part for _, part in halves) / 2, gradient)
    assert total == pytest.approx(float(WEIGHTS @ sets.loss))


def draw_pairs(seed=0):
    rng = np.random.default_rng(seed)
    X, L = rng.normal(size=(15, 4)), rng.normal(size=(3, 4))
    queries, points = rng.integers(0, 15, (2, 60)).astype(np.int32)
    return X, L, queries, points, rng.normal(size=60)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_both_gradients_are_sums_over_pairs(container):
    X, L, queries, points, weights = draw_pairs()
    expected = np.zeros((4, 4))
    for q, j, w in zip(queries, points, weights, strict=True):
        expected += w * np.outer(X[q] - X[j], X[q] - X[j])
    factored = force_gradient(L, container(X), queries, points, weights)
    assert_allclose(factored, 2 * L @ expected, atol=1e-10)
    gaps = container(X[queries] - X[points])
    assert_allclose(metric_gradient(gaps, weights), expected, atol=1e-10)


@pytest.mark.parametrize("name", sorted(REGULARIZERS))
def test_regularisers_have_their_gradients(name):
    rng = np.random.default_rng(2)
    L, step = rng.normal(size=(2, 3, 4))
    found = np.vdot(factored_regularizer(name, L)[1], step)
    assert_allclose(found, slope(lambda at: factored_regularizer(name, at)[0], L, step), rtol=1e-6)
    W, turn = rng.normal(size=(2, 4, 4))
    found = np.vdot(REGULARIZERS[name](W)[1], turn)
    assert_allclose(found, slope(lambda at: REGULARIZERS[name](at)[0], W, turn), rtol=1e-6)


def test_regularisers_are_what_their_names_say():
    W = np.array([[2.0, 1.0], [1.0, 3.0]])
    values = {name: function(W)[0] for name, function in REGULARIZERS.items()}
    assert values == {"frobenius": 15.0, "trace": 5.0, "identity": 7.0}


def test_the_loss_is_never_negative_and_zero_loss_moves_nothing():
    objective = make_objective()
    sets = objective.infer(np.eye(5), np.arange(40))
    assert (sets.loss >= 0).all()
    assert (sets.loss == 0).any()
    assert (np.diff(sets.starts)[sets.loss == 0] == 0).all()


@pytest.mark.parametrize("candidates", ["all", "exact"])
def test_rows_whose_class_cannot_win_neither_pull_nor_push(candidates):
    codes = np.append(np.arange(98) % 2, [2, 2])  # one other row is no majority of three
    objective = make_objective(codes, candidates=candidates)
    L = np.eye(5) / 3
    sets = objective.infer(L, np.arange(100))
    small = objective.classes.codes == 2
    assert_array_equal(sets.feasible, ~small)
    assert (sets.loss[small] == 0).all()
    assert (np.diff(sets.starts)[small] == 0).all()
    assert np.diff(sets.starts)[~small].sum() > 0
    loss, gradient = objective.gradient(L, sets, slice(98, 100))
    assert loss == 0
    assert_array_equal(gradient, 0)


def test_lists_are_looked_for_under_the_map_and_again_every_few_epochs():
    codes = np.arange(300) % 3
    objective = make_objective(codes, candidates="exact")
    objective.look(np.eye(5), 0)
    first = objective.candidates
    objective.look(np.eye(1, 5), 1)
    assert objective.candidates is first
    objective.look(np.eye(1, 5), 4)
    assert objective.candidates is not first
    D = np.square(objective.X[:, :1] - objective.X[:, 0])
    np.fill_diagonal(D, np.inf)
    nearest = np.argsort(D[0, :100])[:9]  # rows are in order of class
    assert set(objective.candidates[0, :9]) == set(nearest)


def test_the_cone_settles_on_the_nearest_metric_of_the_rank_asked_for():
    cone = make_cone(n_components=2)
    values = np.array([3.0, 2.0, 1.0, -1.0, -2.0])
    settled = cone.settle(np.diag(values))
    assert_allclose(settled, np.diag([3.0, 2.0, 0, 0, 0]), atol=1e-12)
    assert cone.components(settled).shape == (2, 5)
    assert_allclose(cone.components(settled).T @ cone.components(settled), settled, atol=1e-12)


def test_a_factor_settles_where_it_is():
    L = np.ones((2, 5))
    objective = make_objective()
    assert objective.settle(L) is L
    assert objective.components(L) is L


def exhaustive_gap(X, codes, i, k):
    """Nearest wrong vote less nearest right one, over all sets of k other rows."""
    squared_distances = np.square(X - X[i]).sum(axis=1)
    right, wrong = np.inf, np.inf
    for chosen in combinations([j for j in range(len(X)) if j != i], k):
        total = squared_distances[list(chosen)].sum()
        counts = np.bincount(codes[list(chosen)], minlength=codes.max() + 1)
        others = np.delete(counts, codes[i]).max()
        if counts[codes[i]] > others:
            right = min(right, total)
        if others >= counts[codes[i]]:
            wrong = min(wrong, total)
    return wrong - right


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_margin_of_a_scaled_start_is_the_median_gap_whatever_the_unit(unit):
    objective = make_objective(np.arange(12) % 3)
    scaled = objective.scale_to_margin(unit * np.eye(5), np.random.default_rng(1))
    mapped = objective.X @ scaled.T
    gaps = [exhaustive_gap(mapped, objective.classes.codes, i, 3) for i in range(12)]
    assert np.isfinite(gaps).all()
    assert np.median(np.abs(gaps)) == pytest.approx(MEDIAN_GAP)


def test_rows_without_a_right_or_a_wrong_vote_do_not_scale_a_start():
    """Class 1 cannot win; alone, class 0 has no rival to lose to."""
    objective = make_objective(np.append(np.zeros(8, np.int64), 1))
    start = np.eye(5)
    assert_array_equal(objective.scale_to_margin(start, np.random.default_rng(1)), start)


def test_a_scaled_start_keeps_its_type():
    objective = make_objective()
    objective.X = objective.X.astype(np.float32)
    scaled = objective.scale_to_margin(np.eye(5, dtype=np.float32), np.random.default_rng(1))
    assert scaled.dtype == np.float32
    assert not np.array_equal(scaled, np.eye(5))


def test_rows_that_are_all_equal_leave_the_start_as_it_is():
    objective = make_objective()
    objective.X = np.ones_like(objective.X)
    assert_array_equal(objective.scale_to_margin(np.eye(5), np.random.default_rng(1)), np.eye(5))
