from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.harmonics import wigner

from vicinal.sphere import SO3Transform, random_rotations, wigner_d_all


def matrices(l_max, leading=(), seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(*leading, 2 * l + 1, 2 * l + 1) for l in range(l_max + 1)]
    return [torch.randn(s, dtype=torch.complex128, generator=generator) for s in shapes]


def assert_same(found, expected, atol=1e-13):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=atol)


@given(st.integers(1, 6), st.data())
@settings(max_examples=15)
def test_matrices_return_from_their_signal(bandwidth, data):
    l_max = data.draw(st.integers(0, bandwidth - 1))
    leading = data.draw(st.sampled_from([(), (2,), (2, 3)]))
    transform = SO3Transform(bandwidth, l_max).double()
    expected = matrices(l_max, leading)
    assert_same(transform(transform.inverse(expected)), expected)


def test_a_round_trip_at_bandwidth_20_is_exact_in_double_precision():
    transform = SO3Transform(20, 19).double()
    expected = matrices(19)
    assert_same(transform(transform.inverse(expected)), expected, atol=1e-12)


def test_the_inverse_is_the_sum_of_traces_against_exponentials_of_the_generators():
    transform = SO3Transform(3, 2).double()
    G = matrices(2)
    signal = transform.inverse(G)
    alpha, beta = np.arange(6) * np.pi / 3, np.pi * (2 * np.arange(6) + 1) / 12
    for i, k, j in [(0, 0, 0), (1, 2, 3), (5, 4, 2)]:
        expected = sum(
            np.trace(G[l].numpy() @ wigner(l, alpha[i], beta[k], alpha[j]).conj().T)
            for l in range(3)
        )
        np.testing.assert_allclose(signal[i, k, j], expected, atol=1e-13)


def test_the_rotations_are_those_of_the_grid():
    transform = SO3Transform(4, 3).double()
    D = wigner_d_all(3, transform.rotations())
    G = matrices(3)
    expected = sum(torch.einsum("mn,ikjmn->ikj", G[l], D[l].conj()) for l in range(4))
    torch.testing.assert_close(transform.inverse(G), expected, rtol=0, atol=1e-12)


def test_matrices_are_integrals_over_the_group():
    """The mean over many Haar rotations, for a signal of degree 2: to the error of the mean."""
    R = random_rotations(40_000, torch.Generator().manual_seed(0))
    D = wigner_d_all(2, R)
    G = matrices(2)
    values = torch.stack([torch.einsum("mn,rmn->r", G[l], D[l].conj()) for l in range(3)]).sum(0)
    for l in range(3):
        mean = (2 * l + 1) * (values[:, None, None] * D[l]).mean(0)
        assert float((mean - G[l]).abs().max()) < 0.3


def test_the_real_part_takes_half_the_work_and_is_the_same():
    transform = SO3Transform(5, 4).double()
    G = matrices(4, (2,))
    torch.testing.assert_close(
        transform.inverse(G, real=True), transform.inverse(G).real, rtol=0, atol=1e-13
    )


def test_real_signals_have_mirrored_matrices():
    signal = torch.randn(2, 8, 8, 8, dtype=torch.float64)
    for l, G in enumerate(SO3Transform(4, 3).double()(signal)):
        m = torch.arange(-l, l + 1)
        signs = (-1.0) ** (m[:, None] - m)
        torch.testing.assert_close(G.flip(-2, -1), signs * G.conj(), rtol=0, atol=1e-13)
    assert_same(
        SO3Transform(4, 3).double()(signal), SO3Transform(4, 3).double()(signal + 0j), 1e-14
    )


def test_moving_the_signal_by_a_rotation_multiplies_the_matrices_from_the_left():
    transform = SO3Transform(4, 3).double()
    G, Q = matrices(3), random_rotations(1, torch.Generator().manual_seed(3))[0]
    R = transform.rotations()
    D = wigner_d_all(3, Q.T @ R)  # g(Q⁻¹R)
    moved = sum(torch.einsum("mn,ikjmn->ikj", G[l], D[l].conj()) for l in range(4))
    turn = wigner_d_all(3, Q)
    assert_same(transform(moved), [turn[l] @ G[l] for l in range(4)], atol=1e-12)


def test_gradients_pass_through_both_directions():
    transform = SO3Transform(2, 1).double()
    signal = torch.randn(1, 4, 4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: tuple(transform(s)), signal)
    inputs = [G.requires_grad_() for G in matrices(1)]
    assert torch.autograd.gradcheck(lambda *G: transform.inverse(G), inputs)
    assert torch.autograd.gradcheck(lambda *G: transform.inverse(G, real=True), inputs)


def test_precision_follows_to_without_rounding_twice_and_nothing_is_saved():
    there_and_back = SO3Transform(4, 3).double().float().double()
    assert torch.equal(there_and_back.analysis, SO3Transform(4, 3).double().analysis)
    assert there_and_back.state_dict() == {}
    assert SO3Transform(4, 3)(torch.zeros(8, 8, 8))[0].dtype == torch.complex64


def test_degrees_that_the_grid_does_not_resolve_are_refused():
    with pytest.raises(ValueError, match="resolves degrees up to 3, but l_max = 4"):
        SO3Transform(4, 4)


def test_signals_of_the_wrong_grid_or_with_nan_are_refused():
    transform = SO3Transform(2, 1)
    with pytest.raises(ValueError, match=r"\(..., 4, 4, 4\), got \(4, 4, 5\)"):
        transform(torch.zeros(4, 4, 5))
    with pytest.raises(ValueError, match="NaN or infinity"):
        transform(torch.full((4, 4, 4), float("nan")))
    with pytest.raises(ValueError, match=r"torch\.float32, the signal in torch\.float64"):
        transform(torch.zeros(4, 4, 4, dtype=torch.float64))


def test_matrices_that_do_not_fit_are_refused_by_both_sides():
    transform = SO3Transform(3, 2).double()
    G = matrices(2)
    with pytest.raises(ValueError, match="degree 0 to 2, got those of degrees 0 to 1"):
        transform.inverse(G[:2])
    with pytest.raises(ValueError, match="start at degree 0, got none"):
        transform.inverse([])
    with pytest.raises(ValueError, match=r"degree 1 takes matrices \(3, 3\), got shape \(5, 5\)"):
        transform.inverse([G[0], G[2], G[1]])
    with pytest.raises(ValueError, match="degree 2 must be complex"):
        transform.inverse([G[0], G[1], G[2].real])
    with pytest.raises(ValueError, match=r"complex128, degree 1 in torch\.complex64"):
        transform.inverse([G[0], G[1].to(torch.complex64), G[2]])
    with pytest.raises(ValueError, match=r"float64, the matrices in torch\.float32"):
        transform.inverse([g.to(torch.complex64) for g in G])
