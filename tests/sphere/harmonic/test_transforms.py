from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.harmonics import function, harmonics, sphere_nodes

from vicinal.sphere import Fragments, FragmentType, SphericalTransform, random_rotations

GRIDS = ["driscoll-healy", "gauss-legendre"]
METHODS = ["dense", "separable"]


def noise(shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def fragments(transform, channels=2, batch=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    kind = transform.fragment_type(channels)
    return Fragments.randn(kind, batch, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_round_trip_at_bandwidth_64_is_exact_in_double_precision(grid):
    transform = SphericalTransform(64, 63, grid).double()
    coefficients = fragments(transform)
    back = transform(transform.inverse(coefficients))
    assert float((back.packed - coefficients.packed).abs().max()) <= 1e-12
    signal = transform.inverse(coefficients, real=True)
    again = transform.inverse(transform(signal), real=True)
    assert float((again - signal).abs().max()) <= 1e-12


@given(st.integers(1, 9), st.data())
@settings(max_examples=25)
def test_signals_return_from_their_coefficients_on_every_grid_by_every_method(bandwidth, data):
    l_max = data.draw(st.integers(0, bandwidth - 1))
    transform = SphericalTransform(
        bandwidth,
        l_max,
        data.draw(st.sampled_from(GRIDS)),
        method=data.draw(st.sampled_from(METHODS)),
    ).double()
    coefficients = fragments(transform, data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)))
    back = transform(transform.inverse(coefficients))
    torch.testing.assert_close(back.packed, coefficients.packed, rtol=0, atol=1e-13)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("method", METHODS)
def test_the_inverse_is_the_sum_of_scipys_harmonics(grid, method):
    transform = SphericalTransform(6, 4, grid, method=method).double()
    coefficients = fragments(transform)
    theta, phi = np.meshgrid(transform.theta, transform.phi, indexing="ij")
    flat = torch.cat(coefficients.to_complex(), dim=1)
    expected = np.einsum("ijk,bkc->bcij", harmonics(4, theta, phi), flat.numpy())
    np.testing.assert_allclose(transform.inverse(coefficients), expected, atol=1e-13)
    real = transform.inverse(coefficients, real=True)
    np.testing.assert_allclose(real, expected.real, atol=1e-13)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("method", METHODS)
def test_coefficients_are_integrals_against_the_conjugate_harmonics(grid, method):
    """A signal of degree 5 against a rule on other points, for degrees up to 3 only."""
    rng = np.random.default_rng(0)
    f = rng.normal(size=36) + 1j * rng.normal(size=36)
    points, weights = sphere_nodes(9)
    values = function(f, points)
    theta, phi = np.arccos(points[:, 2]), np.arctan2(points[:, 1], points[:, 0])
    expected = (weights * values) @ harmonics(3, theta, phi).conj()
    transform = SphericalTransform(6, 3, grid, method=method).double()
    signal = torch.from_numpy(function(f, transform.points().numpy()))[None, None]
    found = torch.cat(transform(signal).to_complex(), dim=1)[0, :, 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_both_methods_agree_for_signals_that_no_grid_resolves():
    signal = noise((2, 3, 16, 16))
    one, other = (SphericalTransform(8, 5, method=m).double()(signal) for m in METHODS)
    torch.testing.assert_close(one.packed, other.packed, rtol=0, atol=1e-13)


def test_a_real_signal_has_mirrored_coefficients():
    transform = SphericalTransform(5, 4).double()
    for l, part in enumerate(transform(noise((2, 1, 10, 10)))):
        signs = torch.tensor([(-1.0) ** m for m in range(-l, l + 1)])[:, None]
        torch.testing.assert_close(part.flip(1), signs * part.conj(), rtol=0, atol=0)


def test_a_complex_signal_is_two_real_ones():
    transform = SphericalTransform(5, 4).double()
    u, v = noise((2, 3, 10, 10), 1), noise((2, 3, 10, 10), 2)
    parts = zip(transform(torch.complex(u, v)), transform(u), transform(v), strict=True)
    for whole, real, imaginary in parts:
        torch.testing.assert_close(whole, real + 1j * imaginary, rtol=0, atol=1e-15)


def test_rotating_the_signal_turns_the_coefficients_by_wigners_matrices():
    rng = np.random.default_rng(1)
    f = rng.normal(size=49) + 1j * rng.normal(size=49)
    transform = SphericalTransform(7, 6).double()
    R = random_rotations(1, torch.Generator().manual_seed(0))[0]
    points = transform.points().numpy()

    def coefficients(at):
        return transform(torch.from_numpy(function(f, at))[None, None])

    turned = coefficients(points @ R.numpy())  # rows are points: x R = R⁻¹ x
    expected = coefficients(points).rotate(R)
    torch.testing.assert_close(turned.packed, expected.packed, rtol=0, atol=1e-12)


def test_parseval_the_coefficients_have_the_norm_of_the_signal():
    transform = SphericalTransform(6, 5).double()
    coefficients = fragments(transform, channels=1)
    signal = transform.inverse(coefficients)
    norm = (signal.abs().square() * transform.weights[:, None]).sum((1, 2, 3))
    torch.testing.assert_close(norm, coefficients.power_spectrum().sum(1))


@pytest.mark.parametrize("method", METHODS)
def test_gradients_pass_through_both_directions(method):
    transform = SphericalTransform(3, 2, method=method).double()
    kind = transform.fragment_type(2)

    def analyse(signal):
        return transform(signal).packed

    def synthesise(packed):
        return transform.inverse(Fragments(kind, packed))

    assert torch.autograd.gradcheck(analyse, noise((2, 2, 6, 6)).requires_grad_())
    assert torch.autograd.gradcheck(
        analyse, noise((1, 1, 6, 6), dtype=torch.complex128).requires_grad_()
    )
    assert torch.autograd.gradcheck(synthesise, noise((kind.n_rows, 2)).requires_grad_())


def test_precision_follows_to_without_rounding_twice():
    there_and_back = SphericalTransform(8, 5).double().float().double()
    fresh = SphericalTransform(8, 5).to(torch.float64)
    for (name, one), (_, other) in zip(
        there_and_back.named_buffers(), fresh.named_buffers(), strict=True
    ):
        assert one.dtype == other.dtype, name
        assert torch.equal(one, other), name
    assert SphericalTransform(8, 5)(torch.zeros(1, 1, 16, 16)).dtype == torch.float32


def test_nothing_is_saved_with_a_model():
    assert SphericalTransform(4, 3).state_dict() == {}


def test_one_built_in_inference_mode_can_be_trained_through():
    with torch.inference_mode():
        SphericalTransform(5, 3, "gauss-legendre")
    transform = SphericalTransform(5, 3, "gauss-legendre")
    signal = torch.randn(1, 1, 5, 10, requires_grad=True)
    transform(signal).packed.square().sum().backward()
    assert signal.grad is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 4), "resolves degrees up to 3, but l_max = 4"),
        ((0, 0), "bandwidth must be a whole number, 1 or more, but it is 0"),
        ((4, -1), "l_max must be a whole number, zero or more, but it is -1"),
        ((4, 2, "healpix"), "'driscoll-healy', 'gauss-legendre', but it is 'healpix'"),
    ],
)
def test_a_transform_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SphericalTransform(*arguments)


def test_signals_of_the_wrong_grid_are_refused_by_both_shapes():
    transform = SphericalTransform(4, 3)
    with pytest.raises(ValueError, match=r"\(batch, channels, 8, 8\), got \(2, 1, 8, 9\)"):
        transform(torch.zeros(2, 1, 8, 9))
    with pytest.raises(ValueError, match=r"channels, 8, 8\), got \(2, 8, 8\)"):
        transform(torch.zeros(2, 8, 8))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_signals_that_are_not_finite_are_refused(bad):
    signal = torch.zeros(1, 1, 8, 8)
    signal[0, 0, 3, 3] = bad
    with pytest.raises(ValueError, match="NaN or infinity"):
        SphericalTransform(4, 3)(signal)


def test_large_numbers_whose_sum_overflows_are_not_mistaken_for_infinity():
    coefficients = SphericalTransform(4, 0)(torch.full((1, 1, 8, 8), 3e37))
    assert bool(torch.isfinite(coefficients.packed).all())


def test_mixed_precisions_are_refused_by_both_names():
    transform = SphericalTransform(4, 3)
    with pytest.raises(ValueError, match=r"torch\.float32, the signal in torch\.float64"):
        transform(torch.zeros(1, 1, 8, 8, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"torch\.float64, the fragments in torch\.float32"):
        transform.double().inverse(Fragments.zeros(transform.fragment_type(), 1))
    with pytest.raises(ValueError, match=r"torch\.float64, the signal in torch\.int64"):
        transform(torch.zeros(1, 1, 8, 8, dtype=torch.int64))


def test_mixed_devices_are_refused_by_both_names():
    with pytest.raises(ValueError, match="transform is on cpu, the signal on meta"):
        SphericalTransform(4, 3)(torch.zeros(1, 1, 8, 8, device="meta"))


def test_fragments_of_another_type_have_no_inverse_here():
    transform = SphericalTransform(4, 2)
    with pytest.raises(ValueError, match=r"each degree 0 to 2, got fragments of .*\[1, 2, 1\]"):
        transform.inverse(Fragments.zeros(FragmentType([1, 2, 1]), 1))
    with pytest.raises(ValueError, match=r"each degree 0 to 2, got fragments of .*\[1, 1\]"):
        transform.inverse(Fragments.zeros(FragmentType([1, 1]), 1))


@pytest.mark.parametrize(("method", "channels"), [("dense", 1), ("dense", 3), ("separable", 3)])
def test_real_transforms_give_m_from_zero_on_and_take_it(method, channels):
    generator = torch.Generator().manual_seed(0)
    full = SphericalTransform(9, 6, method=method).double()
    real = SphericalTransform(9, 6, real=True, method=method).double()
    signal = torch.randn(4, channels, 18, 18, generator=generator, dtype=torch.float64)
    found = real(signal)
    assert found.type.real
    torch.testing.assert_close(found.to_full().packed, full(signal).packed, rtol=0, atol=1e-12)
    torch.testing.assert_close(real.inverse(found), full.inverse(full(signal), real=True))
    packed = found.packed.clone().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda values: real.inverse(type(found)(found.type, values)), (packed,)
    )
    with pytest.raises(ValueError, match="takes no complex ones"):
        real(signal + 0j)
