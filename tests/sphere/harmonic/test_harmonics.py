from __future__ import annotations

from math import pi

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.harmonics import harmonics

from vicinal.sphere import spherical_grid, spherical_harmonics

COLATITUDES = st.one_of(st.sampled_from([0.0, 1e-9, pi / 2, pi]), st.floats(0, pi))


@given(COLATITUDES, st.floats(0, 2 * pi))
@settings(max_examples=25)
def test_harmonics_are_scipys(theta, phi):
    found = spherical_harmonics(
        10, torch.tensor(theta, dtype=torch.float64), torch.tensor(phi, dtype=torch.float64)
    )
    np.testing.assert_allclose(found, harmonics(10, theta, phi), rtol=0, atol=1e-13)


def test_they_are_exact_near_the_pole_at_high_degrees():
    """Addition theorem: Σ_m |Y_l^m|² = (2l + 1)/4π at every point."""
    theta = torch.tensor([1e-6, pi / 256, 0.4, 2.0, pi - 0.01], dtype=torch.float64)
    Y = spherical_harmonics(63, theta, torch.zeros_like(theta))
    for l in (1, 30, 63):
        total = Y[:, l * l : (l + 1) ** 2].abs().square().sum(1) * (4 * pi / (2 * l + 1))
        torch.testing.assert_close(total, torch.ones_like(theta), rtol=0, atol=3e-14)


def test_high_degrees_neither_overflow_nor_vanish():
    theta = torch.tensor([0.01, 0.5, 1.5], dtype=torch.float64)
    Y = spherical_harmonics(400, theta, torch.zeros_like(theta))[:, 400 * 400 :]
    total = Y.abs().square().sum(1) * (4 * pi / 801)
    torch.testing.assert_close(total, torch.ones_like(theta), rtol=0, atol=1e-12)
    single = spherical_harmonics(400, theta.float(), torch.zeros(3))[:, 400 * 400 :]
    torch.testing.assert_close(single, Y.to(torch.complex64), rtol=0, atol=1e-4)


def test_angles_broadcast_and_precision_is_kept():
    Y = spherical_harmonics(2, torch.rand(4, 1), torch.rand(5))
    assert Y.shape == (4, 5, 9)
    assert Y.dtype == torch.complex64


def test_gradients_reach_the_angles():
    angles = [torch.tensor([0.0, 0.4, pi, 2.0], dtype=torch.float64, requires_grad=True)] * 2
    assert torch.autograd.gradcheck(lambda t, p: spherical_harmonics(3, t, p), angles)


def test_bad_degrees_and_mixed_precisions_are_refused():
    angle = torch.tensor(0.1)
    with pytest.raises(ValueError, match="zero or more, but it is -1"):
        spherical_harmonics(-1, angle, angle)
    with pytest.raises(ValueError, match="above 1000 would overflow, but l_max = 1001"):
        spherical_harmonics(1001, angle, angle)
    with pytest.raises(ValueError, match=r"torch\.float32 on cpu and torch\.float64 on cpu"):
        spherical_harmonics(1, angle, angle.double())


@pytest.mark.parametrize("bandwidth", [1, 2, 3, 16, 101])
def test_gauss_legendre_rings_are_numpys(bandwidth):
    grid = spherical_grid(bandwidth, "gauss-legendre")
    roots, weights = np.polynomial.legendre.leggauss(bandwidth)
    np.testing.assert_allclose(torch.cos(grid.theta), roots[::-1], rtol=0, atol=1e-15)
    scaled = grid.weights.numpy() * bandwidth / pi
    np.testing.assert_allclose(scaled, weights[::-1], rtol=1e-10)


@pytest.mark.parametrize("kind", ["driscoll-healy", "gauss-legendre"])
def test_weights_add_up_to_the_area_of_the_sphere(kind):
    grid = spherical_grid(20, kind)
    assert abs(float(grid.weights.sum()) * len(grid.phi) - 4 * pi) < 1e-13
    norms = torch.linalg.vector_norm(grid.points(), dim=-1)
    torch.testing.assert_close(norms, torch.ones_like(norms))


def test_writing_into_a_grid_does_not_spoil_the_next():
    spherical_grid(3).theta.zero_()
    assert float(spherical_grid(3).theta[0]) > 0
