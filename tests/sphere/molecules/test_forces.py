"""Forces are the energy's gradient: to rounding, everywhere, under mirrors, through saved files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch

from vicinal.sphere import O3
from vicinal.sphere.harmonic import real_waves, spherical_harmonics
from vicinal.sphere.molecules import (
    ForceNet,
    FrameBatches,
    Frames,
    GaussianShells,
    Molecules,
    force_regression,
)
from vicinal.sphere.nn import fix_statistics

SHELLS = GaussianShells(l_max=2, n_shells=4, elements=(1, 6, 8))
NETWORK = {
    "hidden": ("4x0e+3x1o+2x2e", "4x0e+3x1o+2x2e+1x1e", "8x0e"),
    "widths": (8,),
}
ETHANOL = torch.tensor([6, 6, 8, 1, 1, 0])


def frames(n=3, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    places = torch.randn(n, 6, 3, generator=generator, dtype=dtype)
    places = places + 1.7 * torch.arange(6)[None, :, None] * torch.tensor([1.0, 0.3, 0.1])
    return Frames(places.to(dtype), ETHANOL.expand(n, -1))


@pytest.fixture
def network():
    torch.manual_seed(0)
    net = ForceNet(asdict(SHELLS), NETWORK).double()
    fix_statistics(net, frames(20, 1))
    return net.eval()


def test_forces_are_finite_differences_of_the_energy(network):
    some = frames()
    forces = network(some)[:, 1:].view(3, 6, 3)
    for atom, axis in [(0, 0), (2, 1), (4, 2)]:
        energies = []
        for step in (1e-4, -1e-4, 2e-4, -2e-4):
            moved = some.positions.clone()
            moved[:, atom, axis] += step
            energies.append(network(Frames(moved, some.charges))[:, 0])
        near, far = energies[0] - energies[1], energies[2] - energies[3]
        slope = (8 * near - far) / 12e-4
        np.testing.assert_allclose(forces[:, atom, axis], -slope, rtol=1e-6, atol=1e-9)


def test_an_atom_straight_above_another_has_finite_forces(network):
    places = torch.tensor([[0, 0, 0], [0, 0, 1.1], [0, 0, 2.3]], dtype=torch.float64)
    above = network(Frames(places[None], torch.tensor([[6, 8, 1]])))
    assert bool(torch.isfinite(above).all())
    turned = network(Frames(places[None][..., [2, 0, 1]], torch.tensor([[6, 8, 1]])))
    np.testing.assert_allclose(above[0, 0], turned[0, 0], rtol=1e-10)


def test_energies_are_invariant_and_forces_turn_under_rotations_and_mirrors(network):
    some = frames()
    g = O3().sample(3, torch.Generator().manual_seed(2))
    assert bool((torch.linalg.det(g) < 0).any())
    plain = network(some)
    moved = network(Frames(torch.einsum("nij,naj->nai", g, some.positions), some.charges))
    np.testing.assert_allclose(moved[:, 0], plain[:, 0], rtol=1e-10)
    expected = torch.einsum("nij,naj->nai", g, plain[:, 1:].view(3, 6, 3))
    np.testing.assert_allclose(moved[:, 1:].view(3, 6, 3), expected, atol=1e-9)


def test_forces_add_up_to_nothing_and_absent_atoms_have_none(network):
    forces = network(frames())[:, 1:].view(3, 6, 3)
    np.testing.assert_allclose(forces.sum(1), 0, atol=1e-10)
    assert bool((forces[:, 5] == 0).all())


def test_training_on_forces_has_the_gradient_of_finite_differences():
    torch.manual_seed(0)
    net = ForceNet(asdict(SHELLS), NETWORK).double()
    fix_statistics(net, frames(20, 1))
    net.train()
    some = frames(2)
    targets = torch.randn(2, 19, dtype=torch.float64)
    loss = force_regression(targets).loss
    weight: Any = net.energy.atoms.layers[0].weight
    (gradient,) = torch.autograd.grad(loss(net(some), targets), weight)
    for at in (0, 7, 20):
        values = []
        for step in (1e-5, -1e-5):
            with torch.no_grad():
                weight[at] += step
            values.append(float(loss(net(some), targets).detach()))
            with torch.no_grad():
                weight[at] -= step
        assert float(gradient[at]) == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-5)


def test_polynomials_of_an_arrow_are_the_harmonics_of_its_angles():
    arrows = torch.randn(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    arrows[0] = torch.tensor([0, 0, 1.0])
    arrows = arrows / arrows.norm(dim=1, keepdim=True)
    theta, phi = torch.acos(arrows[:, 2]), torch.atan2(arrows[:, 1], arrows[:, 0])
    waves = spherical_harmonics(10, theta, phi).conj()
    parts = []
    for l in range(11):
        part = waves[:, l * l : (l + 1) ** 2]
        parts += [part.real[:, l:], part.imag[:, l + 1 :]]
    torch.testing.assert_close(real_waves(10, arrows), torch.cat(parts, 1), rtol=0, atol=1e-13)


def test_forces_of_another_shape_than_positions_are_refused():
    molecules = Molecules(np.zeros((2, 3, 3)), np.ones((2, 3), np.int64))
    with pytest.raises(ValueError, match=r"forces of shape \(2, 2, 3\)"):
        FrameBatches(molecules, np.zeros(2), np.zeros((2, 2, 3)))
