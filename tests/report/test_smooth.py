"""The smooth curve and the density are what they say, on data whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from vicinal.report._smooth import MAX_POINTS, density, local_lines, smooth

RNG = np.random.default_rng(0)


def test_a_line_is_fitted_by_a_line() -> None:
    x = np.sort(RNG.uniform(-2, 2, 300))
    curve = smooth(x, 3 * x - 1)
    assert_allclose(curve.y, 3 * curve.x - 1, atol=0.05)
    assert curve.explained > 0.999


def test_a_wave_is_followed_and_noise_is_not() -> None:
    x = RNG.uniform(-3, 3, 800)
    noise = RNG.normal(size=800)
    curve = smooth(x, np.sin(2 * x) + 0.3 * noise)
    assert np.abs(curve.y - np.sin(2 * curve.x)).max() < 0.35
    assert curve.explained == pytest.approx(0.5 / 0.59, abs=0.06)
    assert smooth(x, noise).explained < 0.02


def test_every_left_out_fit_is_that_of_a_weighted_regression_without_the_point() -> None:
    x, y = RNG.normal(size=12), RNG.normal(size=12)
    found = local_lines(x, x, y, 0.7, own=True)
    for i in range(12):
        others = np.arange(12) != i
        gaps = x[others] - x[i]
        weights = np.exp(-0.5 * (gaps / 0.7) ** 2)
        design = np.column_stack([np.ones(11), gaps - np.average(gaps, weights=weights)])
        ridge = np.diag([0, 0.07**2 * weights.sum()])
        level, slope = np.linalg.solve(
            design.T @ (weights[:, None] * design) + ridge, design.T @ (weights * y[others])
        )
        expected = level - slope * np.average(gaps, weights=weights)
        assert found[i] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("x", "y"),
    [([1.0, 1.0, 1.0], [1.0, 2.0, 6.0]), ([1.0, 2.0], [2.0, 4.0]), ([5.0], [3.0])],
)
def test_too_little_to_smooth_is_level_at_the_mean(x: list[float], y: list[float]) -> None:
    curve = smooth(np.array(x), np.array(y))
    assert_allclose(curve.y, np.mean(y))
    assert np.isnan(curve.explained)


def test_a_constant_explains_nothing_that_varies() -> None:
    assert np.isnan(smooth(np.arange(9.0), np.full(9, 4.0)).explained)


def test_an_outlier_far_away_leaves_the_curve_finite() -> None:
    x = np.append(RNG.normal(size=200), 1e6)
    curve = smooth(x, np.append(np.zeros(200), 1.0))
    assert np.isfinite(curve.y).all()


def test_many_points_are_thinned() -> None:
    x = RNG.normal(size=50 * MAX_POINTS)
    assert smooth(x, np.sin(x)).explained > 0.99


def test_a_density_sums_to_one_and_resembles_the_normal_one() -> None:
    grid = np.linspace(-5, 5, 401)
    found = density(RNG.normal(size=4000), grid)
    assert found.sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-3)
    assert np.abs(found - norm.pdf(grid)).max() < 0.03


def test_the_density_of_one_value_is_a_narrow_peak_there() -> None:
    grid = np.linspace(-1, 1, 101)
    found = density(np.full(5, 0.2), grid)
    assert grid[found.argmax()] == pytest.approx(0.2)
    assert np.isfinite(found).all()
