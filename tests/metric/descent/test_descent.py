"""Descent: rules against plain loops, the cone against eigenvalues, L-BFGS on a quadratic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal._types import FloatArray
from vicinal.metric.descent import (
    Adam,
    Descent,
    FallingRate,
    minimise,
    project_to_cone,
    spread_strata,
)


class Bowl:
    """Σ_i ‖θ − a_i‖² over rows a_i, which notes what it is asked."""

    def __init__(self, n_rows: int) -> None:
        self.targets = np.random.default_rng(0).normal(size=(n_rows, 2))
        self.looked: list[int] = []
        self.inferred: list[Any] = []
        self.parts: list[Any] = []
        self.settled = 0

    @property
    def n_rows(self) -> int:
        return len(self.targets)

    def look(self, parameters: Any, epoch: int) -> None:
        self.looked.append(epoch)

    def infer(self, parameters: Any, rows: Any) -> Any:
        self.inferred.append(rows)
        return rows

    def gradient(self, parameters: Any, sets: Any, part: slice) -> tuple[float, Any]:
        self.parts.append(sets[part])
        gaps = parameters - self.targets[sets[part]]
        return float(np.sum(gaps**2)), 2 * gaps.mean(axis=0)

    def settle(self, parameters: Any) -> Any:
        self.settled += 1
        return parameters

    def components(self, parameters: Any) -> Any:
        return parameters[None]


class Still:
    """A rule that stays where it is and notes the progress it is told."""

    def __init__(self) -> None:
        self.progress: list[float] = []

    def step(self, parameters: Any, gradient: Any, progress: float) -> Any:
        self.progress.append(progress)
        return parameters


def descent_on(bowl, rule, n_epochs=3, **options):
    return Descent(bowl, rule, np.zeros(2), n_epochs, np.random.default_rng(1), **options)


def test_adam_takes_the_steps_of_its_formula():
    rng = np.random.default_rng(0)
    rule = Adam(0.1, beta1=0.8, beta2=0.95)
    place: FloatArray = rng.normal(size=(2, 3))
    expected = place.copy()
    m, v = np.zeros((2, 3)), np.zeros((2, 3))
    for t in range(1, 8):
        gradient = rng.normal(size=(2, 3))
        progress = t / 10
        m = 0.8 * m + 0.2 * gradient
        v = 0.95 * v + 0.05 * gradient**2
        unbiased = (m / (1 - 0.8**t)) / np.sqrt(v / (1 - 0.95**t))
        expected -= 0.1 * (1 - progress) * unbiased
        place = rule.step(place, gradient, progress)
        assert_allclose(place, expected, rtol=1e-5)


def test_adams_steps_do_not_depend_on_the_unit_of_the_loss():
    gradients = np.random.default_rng(0).normal(size=(5, 4))
    ends = []
    for unit in (1e-12, 1.0, 1e12):
        rule = Adam(0.1)
        place: FloatArray = np.zeros(4)
        for gradient in gradients:
            place = rule.step(place, unit * gradient, 0.0)
        ends.append(place)
    assert_allclose(ends[0], ends[1])
    assert_allclose(ends[2], ends[1])


def test_adam_stays_where_there_is_no_slope():
    assert_array_equal(Adam(0.1).step(np.ones(3), np.zeros(3), 0.0), 1)


def test_a_falling_rate_is_zero_at_the_end():
    rule = FallingRate(0.5)
    assert_array_equal(rule.step(np.ones(2), np.ones(2), 0.0), 0.5)
    assert_array_equal(rule.step(np.ones(2), np.ones(2), 0.5), 0.75)
    assert_array_equal(rule.step(np.ones(2), np.ones(2), 1.0), 1)


@pytest.mark.parametrize("rule", [Adam(0.1), FallingRate(0.1)])
def test_rules_keep_float32(rule):
    gradient = np.ones(3, np.float32)
    assert rule.step(np.ones(3, np.float32), gradient, 0.3).dtype == np.float32


def symmetric(n, seed):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def test_the_projection_is_the_nearest_metric():
    A = symmetric(6, 3)
    projected, factor = project_to_cone(A)
    values, directions = np.linalg.eigh(A)
    assert_allclose(projected, directions * np.maximum(values, 0) @ directions.T, atol=1e-12)
    assert_allclose(factor.T @ factor, projected)
    # Optimality on a cone: what was taken away is orthogonal to what is left, and negative.
    assert_allclose(np.vdot(A - projected, projected), 0, atol=1e-9)
    assert np.linalg.eigvalsh(A - projected).max() < 1e-9


def test_the_factor_has_a_row_for_each_positive_eigenvalue_largest_first():
    A = symmetric(7, 4)
    values = np.linalg.eigvalsh(A)[::-1]
    lengths = (project_to_cone(A)[1] ** 2).sum(axis=1)
    assert_allclose(lengths, values[values > 0])


@pytest.mark.parametrize("n_components", [1, 2, 6])
def test_the_projection_of_a_rank_keeps_the_largest_eigenvalues(n_components):
    A = symmetric(6, 5)
    values, directions = np.linalg.eigh(A)
    kept = np.where(np.arange(6) >= 6 - n_components, np.maximum(values, 0), 0)
    projected, factor = project_to_cone(A, n_components)
    assert_allclose(projected, directions * kept @ directions.T, atol=1e-12)
    assert len(factor) == min(n_components, int((values > 0).sum()))


def test_a_negative_matrix_projects_to_zero_with_one_row():
    projected, factor = project_to_cone(-np.eye(3))
    assert_array_equal(projected, 0)
    assert factor.shape == (1, 3)


HESSIAN = np.array([[3.0, 1.0], [1.0, 2.0]])
LOWEST = np.array([1.0, -2.0])


def quadratic(parameters):
    gap = parameters - LOWEST
    return 0.5 * float(gap @ HESSIAN @ gap), HESSIAN @ gap


def test_minimise_finds_the_lowest_point_of_a_quadratic():
    end, losses = minimise(quadratic, np.zeros(2), max_iter=50, tol=1e-12)
    assert_allclose(end, LOWEST, atol=1e-5)
    assert losses[0] == quadratic(np.zeros(2))[0]
    assert losses[-1] == pytest.approx(0, abs=1e-9)
    assert np.all(np.diff(losses) <= 0)


def test_minimise_keeps_the_shape_and_the_number_of_iterations():
    def flat(parameters):
        assert parameters.shape == (1, 2)
        loss, gradient = quadratic(parameters[0])
        return loss, gradient[None]

    end, losses = minimise(flat, np.zeros((1, 2)), max_iter=2, tol=0.0)
    assert end.shape == (1, 2)
    assert len(losses) == 3


def test_a_listener_stops_minimise_where_it_says():
    told: list[tuple[int, float, np.ndarray]] = []

    def listener(iteration: int, loss: float, parameters: np.ndarray) -> bool:
        told.append((iteration, loss, parameters))
        return iteration == 2

    end, losses = minimise(quadratic, np.zeros(2), max_iter=50, tol=1e-12, listener=listener)
    assert [iteration for iteration, _, _ in told] == [1, 2]
    assert_array_equal(end, told[-1][2])
    assert losses[1:] == [loss for _, loss, _ in told]
    assert losses[-1] == quadratic(end)[0]


def test_a_start_at_the_lowest_point_is_where_minimise_ends():
    end, losses = minimise(quadratic, LOWEST, max_iter=5, tol=1e-9)
    assert_array_equal(end, LOWEST)
    assert losses == [0.0]


@pytest.mark.parametrize(
    ("n_rows", "batch"), [(5, 16), (100, 16), (1600, 100), (1601, 101), (9000, 563)]
)
def test_sixteen_steps_an_epoch_of_not_too_few_rows(n_rows, batch):
    assert descent_on(Bowl(n_rows), Still()).batch_size == batch


@pytest.mark.parametrize("reuse", [1, 3])
def test_an_epoch_walks_every_row_once_and_infers_a_span_at_a_time(reuse):
    bowl, rule = Bowl(100), Still()
    descent = descent_on(bowl, rule, reuse=reuse)
    descent.advance()
    assert_array_equal(np.sort(np.concatenate(bowl.parts)), np.arange(100))
    assert [len(part) for part in bowl.parts] == [16] * 6 + [4]
    assert [len(rows) for rows in bowl.inferred] == ([16] * 6 + [4] if reuse == 1 else [48, 48, 4])
    assert bowl.settled == len(bowl.inferred)
    assert bowl.looked == [0]
    assert_allclose(rule.progress, np.arange(0, 100, 16) / 300)


def test_losses_are_the_mean_over_the_rows_of_each_epoch():
    bowl = Bowl(50)
    descent = descent_on(bowl, Still())
    told = [descent.advance(), descent.advance()]
    assert_allclose(descent.losses, np.sum(bowl.targets**2) / 50)
    assert told == descent.losses
    assert descent.epoch == 2
    assert bowl.looked == [0, 1]


@pytest.mark.parametrize("rule", [Adam(0.3), FallingRate(0.5)])
def test_a_descent_reaches_the_mean_of_a_bowl(rule):
    bowl = Bowl(200)
    descent = descent_on(bowl, rule, n_epochs=8)
    for _ in range(8):
        descent.advance()
    assert_allclose(descent.components[0], bowl.targets.mean(axis=0), atol=0.1)


def test_a_descent_is_done_at_the_tolerance_or_on_a_plateau():
    assert not descent_on(Bowl(40), Still()).is_done
    for options, losses, done in [
        ({"tol": 0.5}, [0.6], False),
        ({"tol": 0.5}, [0.6, 0.5], True),
        ({"fall": 0.01}, [0.6], False),
        ({"fall": 0.01}, [0.6, 0.59], False),
        ({"fall": 0.01}, [0.6, 0.59, 0.589], True),
        ({}, [0.6, 0.7], False),
    ]:
        assert descent_on(Bowl(40), Still(), losses=losses, **options).is_done is done


@pytest.mark.parametrize("seed", range(5))
def test_spread_strata_have_their_share_in_every_stretch_of_the_order(seed):
    rng = np.random.default_rng(seed)
    strata = rng.permutation(np.repeat(np.arange(4), [3, 40, 57, 100]))
    order = spread_strata(strata, rng)
    assert_array_equal(np.sort(order), np.arange(200))
    shares = np.bincount(strata) / 200
    for first in range(180):
        held = np.bincount(strata[order[first : first + 20]], minlength=4)
        assert np.all(np.abs(held - 20 * shares) <= 2)
    assert not np.array_equal(order, spread_strata(strata, rng))


def test_a_descent_walks_strata_in_their_shares():
    bowl, strata = Bowl(40), np.arange(40) % 2
    descent = descent_on(bowl, Still(), n_steps=2, least_rows=1, strata=strata)
    descent.advance()
    assert_array_equal(np.sort(np.concatenate(bowl.parts)), np.arange(40))
    assert all(abs(int(strata[part].sum()) - 10) <= 1 for part in bowl.parts)
