from __future__ import annotations

from math import pi

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from tests.oracles.harmonics import wigner

from vicinal.sphere import (
    euler_to_matrix,
    quaternion_to_matrix,
    random_rotations,
    wigner_d,
    wigner_d_all,
)

ANGLES = st.one_of(st.sampled_from([0.0, 1e-9, pi / 2, pi, 2 * pi]), st.floats(0, 2 * pi))


def turn(alpha, beta, gamma):
    return euler_to_matrix(*(torch.tensor(x, dtype=torch.float64) for x in (alpha, beta, gamma)))


@given(st.integers(0, 8), ANGLES, ANGLES, ANGLES)
@settings(max_examples=60)
def test_wigner_matrices_are_exponentials_of_the_generators(l, alpha, beta, gamma):
    found = wigner_d(l, turn(alpha, beta, gamma))
    np.testing.assert_allclose(found, wigner(l, alpha, beta, gamma), rtol=0, atol=2e-14)


@given(st.integers(0, 64), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_they_are_unitary_and_multiplicative_up_to_degree_64(l, seed):
    A, B = random_rotations(2, torch.Generator().manual_seed(seed))
    D, E, product = wigner_d(l, torch.stack([A, B, A @ B]))
    eye = torch.eye(2 * l + 1, dtype=torch.complex128)
    torch.testing.assert_close(D @ D.mH, eye, rtol=0, atol=1e-12)
    torch.testing.assert_close(D @ E, product, rtol=0, atol=1e-12)


@pytest.mark.parametrize("beta", [0.0, pi])
def test_at_the_poles_they_are_sparse_up_to_degree_64(beta):
    D = wigner_d(64, turn(0.3, beta, 0.9))
    m = torch.arange(-64, 65, dtype=torch.float64)
    if beta == 0:
        expected = torch.diag(torch.exp(-1.2j * m))
    else:  # d_mn(π) = (−1)^(l−n) where m = −n, else 0
        expected = torch.diag((-1.0) ** m * torch.exp(1j * m * (0.3 - 0.9))).flip(0)
    torch.testing.assert_close(D, expected, rtol=0, atol=1e-12)
    assert float(D[expected == 0].abs().max()) < 1e-13


def test_the_identity_gives_the_identity_to_the_last_bits():
    for l, D in enumerate(wigner_d_all(64, torch.eye(3, dtype=torch.float64))):
        eye = torch.eye(2 * l + 1, dtype=torch.complex128)
        torch.testing.assert_close(D, eye, rtol=0, atol=2e-14)
        assert bool(((D == 0) | (eye == 1)).all())


def test_euler_angles_and_quaternions_reach_the_same_matrices():
    R = random_rotations(3, torch.Generator().manual_seed(0))
    turns = Rotation.from_matrix(R.numpy())
    others = [
        quaternion_to_matrix(torch.from_numpy(turns.as_quat(scalar_first=True))),
        euler_to_matrix(*torch.from_numpy(turns.as_euler("ZYZ")).unbind(-1)),
    ]
    for again in others:
        torch.testing.assert_close(wigner_d(20, R), wigner_d(20, again), rtol=0, atol=1e-13)


def test_one_pass_gives_what_single_degrees_give():
    R = random_rotations(6, torch.Generator().manual_seed(0)).reshape(2, 3, 3, 3)
    for l, D in enumerate(wigner_d_all(5, R)):
        assert D.shape == (2, 3, 2 * l + 1, 2 * l + 1)
        assert torch.equal(D, wigner_d(l, R))
        torch.testing.assert_close(D[1, 2], wigner_d(l, R[1, 2]), rtol=0, atol=1e-15)


def test_single_precision_is_rounded_once():
    """Rounding R itself costs l · 6e-8; what is lost beyond that is one rounding of the result."""
    R = random_rotations(5, torch.Generator().manual_seed(0)).float()
    D = wigner_d(16, R)
    assert D.dtype == torch.complex64
    eye = torch.eye(33, dtype=torch.complex128)
    unitary = D.to(torch.complex128)
    torch.testing.assert_close(unitary @ unitary.mH, eye.expand(5, 33, 33), rtol=0, atol=3e-7)


def test_gradients_exist_everywhere_also_at_the_poles():
    angles = torch.tensor([[0.0, 0.0, 0.0], [0.4, pi, 1.0], [1.0, 0.7, 2.0]], dtype=torch.float64)
    for point in angles:
        inputs = [a.clone().requires_grad_() for a in point]
        assert torch.autograd.gradcheck(lambda *a: wigner_d(2, euler_to_matrix(*a)), inputs)


def test_one_used_in_inference_mode_can_be_trained_through():
    with torch.inference_mode():
        wigner_d(11, torch.eye(3))
    R = torch.eye(3, requires_grad=True)
    wigner_d(11, R).real.sum().backward()
    assert R.grad is not None


def test_no_rotations_give_no_matrices():
    assert wigner_d(2, torch.zeros(0, 3, 3)).shape == (0, 5, 5)


def test_bad_degrees_and_matrices_are_refused():
    eye = torch.eye(3)
    for bad in (-1, 1.5, True):
        with pytest.raises(ValueError, match=f"zero or more, but it is {bad}"):
            wigner_d(bad, eye)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="some R Rᵀ is 3 from the identity"):
        wigner_d(2, 2 * eye)
    with pytest.raises(ValueError, match="determinant"):
        wigner_d(2, -eye)
