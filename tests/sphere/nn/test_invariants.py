from __future__ import annotations

import pytest
import torch

from vicinal.sphere import Fragments, FragmentType, Invariants, random_rotations

TYPES = (FragmentType([2, 1]), FragmentType([1, 3, 2]))


def draw() -> list[Fragments]:
    generator = torch.Generator().manual_seed(0)
    return [Fragments.randn(of, 5, dtype=torch.float64, generator=generator) for of in TYPES]


def test_scalars_of_all_activations_are_concatenated():
    invariants, activations = Invariants(TYPES), draw()
    found = invariants(activations)
    expected = torch.cat([torch.view_as_real(a[0][:, 0]).flatten(1) for a in activations], dim=1)
    assert torch.equal(found, expected)
    assert found.shape == (5, invariants.n_features) == (5, 6)


def test_powers_of_higher_degrees_can_be_added():
    invariants, activations = Invariants(TYPES, kind="power"), draw()
    found = invariants(activations)
    assert found.shape == (5, invariants.n_features) == (5, 6 + 1 + 5)
    mean = activations[1][2].abs().square().mean(dim=1)
    torch.testing.assert_close(found[:, -2:], torch.log1p(mean))


def test_products_of_pairs_can_be_added():
    invariants, activations = Invariants(TYPES, kind="cross"), draw()
    found = invariants(activations)
    assert found.shape == (5, invariants.n_features) == (5, 6 + 1 + 6 + 3)
    first, second = activations[1][2].unbind(2)
    mean = (first * second.conj()).real.mean(dim=1)
    torch.testing.assert_close(found[:, -2], mean.sign() * torch.log1p(mean.abs()))


@pytest.mark.parametrize("kind", ["scalars", "power", "cross"])
def test_no_rotation_changes_them(kind):
    invariants, activations = Invariants(TYPES, kind=kind), draw()
    rotations = random_rotations(5, generator=torch.Generator().manual_seed(1))
    turned = invariants([a.rotate(rotations) for a in activations])
    torch.testing.assert_close(turned, invariants(activations), rtol=1e-12, atol=1e-13)


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="kind must be one of scalars, power, cross, got 'all'"):
        Invariants(TYPES, kind="all")
    with pytest.raises(ValueError, match=r"none of .* has fragments of degree 0"):
        Invariants([FragmentType([0, 1])])
    with pytest.raises(ValueError, match="takes 2 activations, got 1"):
        Invariants(TYPES)(draw()[:1])
    with pytest.raises(ValueError, match="activation 0 of Invariants takes"):
        Invariants(TYPES)(draw()[::-1])
