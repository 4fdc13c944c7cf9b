from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal.sphere import O3, Fragments, FragmentType, random_rotations, wigner_d

TAU = [3, 0, 2, 1]


def draw(tau: list[int], batch: int = 5, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(batch, 2 * l + 1, t, dtype=torch.complex128, generator=generator)
        for l, t in enumerate(tau)
    ]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any))
def test_a_type_survives_the_way_to_irreps_and_back(tau):
    while not tau[-1]:  # irreps do not know of degrees without fragments
        tau.pop()
    kind = FragmentType(tau)
    assert FragmentType.from_irreps(kind.to_irreps()) == kind
    assert hash(FragmentType(tau)) == hash(kind)
    assert kind.n_rows == 2 * sum(t * (2 * l + 1) for l, t in enumerate(tau))


def test_irreps_are_those_of_e3nn():
    from e3nn import o3

    irreps = o3.Irreps("12x0e + 7x1o + 3x2e + 2x1o")
    kind = FragmentType.from_irreps(irreps)
    assert kind == FragmentType({"0e": 12, "1o": 9, "2e": 3}, O3())
    assert o3.Irreps(kind.to_irreps()).dim == kind.dimension


def test_parity_is_kept_and_never_made_up():
    assert FragmentType.from_irreps("2x1o+3x1e").to_irreps() == "3x1e+2x1o"
    assert FragmentType([1, 2]).to_irreps() == "1x0+2x1"
    assert FragmentType.from_irreps("1x0+2x1") == FragmentType([1, 2])
    with pytest.raises(ValueError, match="with and without parity"):
        FragmentType.from_irreps("2x1o+3x1")


@pytest.mark.parametrize("text", ["", "3x", "x1e", "2x1e,3x2e", "-1x0e", "2x1z"])
def test_irreps_that_cannot_be_read_are_named(text):
    with pytest.raises(ValueError, match="cannot read"):
        FragmentType.from_irreps(text)


@pytest.mark.parametrize(
    ("tau", "error"),
    [([], "at least one"), ([0, 0], "at least one"), ([1, -1], "from 0 on"), ([True], "from 0 on")],
)
def test_a_type_needs_counts(tau, error):
    with pytest.raises(ValueError, match=error):
        FragmentType(tau)


@pytest.mark.parametrize("tau", [[1.5], [None]])
def test_a_type_is_made_of_whole_numbers(tau):
    with pytest.raises(TypeError, match="whole numbers"):
        FragmentType(tau)


def test_a_type_is_immutable_and_can_be_copied():
    kind = FragmentType(TAU)
    with pytest.raises(AttributeError, match="immutable"):
        kind.l_max = 3  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(kind)) == copy.deepcopy(kind) == kind
    assert repr(kind) == "FragmentType([3, 0, 2, 1])"


def test_complex_tensors_survive_the_way_into_planes_and_back():
    parts = draw(TAU)
    fragments = Fragments.from_complex(parts)
    assert fragments.type == FragmentType(TAU)
    assert fragments.batch_size == 5
    for l, (part, back) in enumerate(zip(parts, fragments.to_complex(), strict=True)):
        assert torch.equal(part, back)
        assert torch.equal(part, fragments[l])
        assert torch.equal(fragments.planes(l)[:, 0], part.real.permute(2, 1, 0))
        assert torch.equal(fragments.planes(l)[:, 1], part.imag.permute(2, 1, 0))


def test_planes_are_views_of_the_packed_tensor():
    fragments = Fragments.from_complex(draw(TAU))
    for l, planes in enumerate(fragments.all_planes()):
        assert torch.equal(planes, fragments.planes(l))
    fragments.all_planes()[2].zero_()
    assert fragments.norms()[:, 3:5].abs().max() == 0
    assert fragments.norms()[:, 5].min() > 0


def test_one_rotation_turns_all_samples_and_many_turn_each_its_own():
    parts = draw(TAU)
    rotations = random_rotations(5, generator=torch.Generator().manual_seed(1)).double()
    turned = Fragments.from_complex(parts).rotate(rotations)
    alike = Fragments.from_complex(parts).rotate(rotations[2])
    for l, part in enumerate(parts):
        expected = torch.stack([wigner_d(l, r) @ p for r, p in zip(rotations, part, strict=True)])
        torch.testing.assert_close(turned[l], expected, rtol=0, atol=1e-13)
        torch.testing.assert_close(alike[l][2], expected[2], rtol=0, atol=1e-13)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_norms_and_power_spectra_do_not_turn(seed):
    fragments = Fragments.from_complex(draw(TAU, seed=seed))
    rotation = random_rotations(1, generator=torch.Generator().manual_seed(seed))[0]
    turned = fragments.rotate(rotation)
    torch.testing.assert_close(turned.norms(), fragments.norms(), rtol=1e-12, atol=0)
    torch.testing.assert_close(
        turned.power_spectrum(), fragments.power_spectrum(), rtol=1e-12, atol=0
    )


def test_norms_are_those_of_the_complex_fragments():
    parts = draw(TAU)
    expected = np.concatenate([np.linalg.norm(part.numpy(), axis=1) for part in parts], axis=1)
    fragments = Fragments.from_complex(parts)
    np.testing.assert_allclose(fragments.norms().numpy(), expected, rtol=1e-13)
    np.testing.assert_allclose(fragments.power_spectrum().numpy(), expected**2, rtol=1e-13)


def test_cross_spectra_are_inner_products_of_pairs():
    parts = draw(TAU)
    products = [(part.mT.conj() @ part).real for part in parts]  # (batch, τ, τ)
    expected = [p[:, i, j] for p in products for i, j in [torch.triu_indices(*p.shape[1:])]]
    found = Fragments.from_complex(parts).cross_spectrum()
    torch.testing.assert_close(found, torch.cat(expected, dim=1), rtol=1e-12, atol=1e-12)


def test_gradients_flow_through_planes_and_complex_tensors():
    parts = [part[:2].requires_grad_() for part in draw([2, 1])]

    def back(*parts):
        turned = Fragments.from_complex(parts).rotate(torch.eye(3))
        return [*turned.to_complex(), turned.norms(), turned.power_spectrum()]

    assert torch.autograd.gradcheck(back, parts)


def test_a_gradient_is_of_the_same_type():
    assert Fragments.from_complex(draw(TAU)).grad is None
    fragments = Fragments.from_complex(draw(TAU)).requires_grad_()
    fragments.power_spectrum().sum().backward()
    assert fragments.grad is not None
    torch.testing.assert_close(fragments.grad.packed, 2 * fragments.packed.detach())
    assert not fragments.detach().requires_grad


def test_precision_changes_with_either_name():
    fragments = Fragments.from_complex(draw(TAU))
    for dtype in (torch.float32, torch.complex64):
        assert fragments.to(dtype).dtype == fragments.to(dtype=dtype).dtype == torch.float32
    assert fragments.to("cpu").dtype == torch.float64
    copied = fragments.clone()
    copied.packed.zero_()
    assert fragments.packed.abs().max() > 0


def test_fragments_print_what_they_are():
    fragments = Fragments.from_complex(draw(TAU)).to(torch.float32)
    assert repr(fragments) == "Fragments(3x0+2x2+1x3, batch=5, float32)"
    assert "requires_grad" in repr(fragments.requires_grad_())


def test_fragments_add_up_and_scale():
    parts = draw(TAU)
    fragments = Fragments.from_complex(parts)
    torch.testing.assert_close((fragments + 2 * fragments)[2], 3 * parts[2])


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda parts: [], "got none"),
        (lambda parts: parts[1:], r"degree 0 takes a tensor \(batch, 1, channels\)"),
        (lambda parts: [parts[0].real, *parts[1:]], "must be complex"),
        (lambda parts: [parts[0][:3], *parts[1:]], "degree 0 has 3 samples and degree 1 has 5"),
        (lambda parts: [parts[0].to(torch.complex64), *parts[1:]], "one precision and device"),
        (lambda parts: [*parts[:2], parts[2] * float("nan"), parts[3]], "degree 2 hold NaN"),
    ],
)
def test_tensors_that_are_no_fragments_are_refused(change, error):
    with pytest.raises(ValueError, match=error):
        Fragments.from_complex(change(draw(TAU)))


def test_what_does_not_fit_is_named_on_both_sides():
    fragments = Fragments.from_complex(draw(TAU))
    with pytest.raises(ValueError, match=r"\(40, batch\).*\(29, 4\)"):
        Fragments(FragmentType(TAU), torch.zeros(29, 4))
    with pytest.raises(ValueError, match="float32 or float64, got torch"):
        Fragments(FragmentType(TAU), torch.zeros(40, 4, dtype=torch.float16))
    with pytest.raises(IndexError, match="degrees are 0 to 3"):
        fragments[4]
    with pytest.raises(ValueError, match=r"or 5 for a batch of 5, got \(2,\)"):
        fragments.rotate(torch.eye(3).expand(2, 3, 3))
    with pytest.raises(ValueError, match=r"differ in dtype: torch.float64 .* torch.float32"):
        fragments + fragments.to(torch.float32)
    with pytest.raises(ValueError, match=r"differ in batch size: 5 .* 3"):
        fragments + Fragments.from_complex(draw(TAU, batch=3))
