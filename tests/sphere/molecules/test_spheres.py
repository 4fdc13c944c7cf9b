"""Claims about what atoms see, on molecules of QM7 where the data are at hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import sph_harm_y

from vicinal.sphere import Fragments, FragmentType, random_rotations
from vicinal.sphere.molecules import (
    AtomBatches,
    CoulombSpheres,
    GaussianShells,
    Molecules,
    list_molecule_presets,
)
from vicinal.sphere.molecules._network import ElementLinear, MoleculeNet
from vicinal.sphere.molecules._spheres import see_neighbours
from vicinal.sphere.nn import fix_statistics

SHELLS = GaussianShells(l_max=2, n_shells=3)
COULOMB = CoulombSpheres(l_max=3, bandwidth=10)


def draw(n: int = 3, places: int = 5, seed: int = 0) -> Molecules:
    """Return molecules of random atoms, each at least an Å from the others."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(3.0)] * 3), -1).reshape(-1, 3) * 1.3
    chosen = np.stack([rng.permutation(27)[:places] for _ in range(n)])
    charges = rng.choice([1, 6, 7, 8, 16], (n, places))
    charges[1:, -1] = 0
    return Molecules(grid[chosen] + rng.uniform(-0.1, 0.1, (n, places, 3)), charges)


def turn(molecules: Molecules, rotation: np.ndarray, shift: float = 0.0) -> Molecules:
    return Molecules(molecules.positions @ rotation.T + shift, molecules.charges)


def test_shells_are_the_sum_over_neighbours():
    molecules = draw(1)
    positions, charges = molecules.positions[0], molecules.charges[0]
    found = see_neighbours(molecules, SHELLS).numpy()
    radii = 0.9 * (6 / 0.9) ** np.linspace(0, 1, 3)
    step = np.log(radii[1] / radii[0])
    expected = np.zeros((5, 3), complex)  # of degree 1, order 1: atoms, shells, for oxygen
    for i in range(5):
        for j in np.flatnonzero((charges == 8) & (np.arange(5) != i)):
            x, y, z = positions[j] - positions[i]
            r = np.sqrt(x * x + y * y + z * z)
            shell = np.exp(-((np.log(r / radii)) ** 2) / (2 * step**2)) * (0.9 / r) ** 2
            expected[i] += shell * np.conj(sph_harm_y(1, 1, np.arccos(z / r), np.arctan2(y, x)))
    oxygen = slice(3 * 3, 4 * 3)
    np.testing.assert_allclose(found[:, 2, oxygen], expected.real, atol=1e-12)  # re m = 1
    np.testing.assert_allclose(found[:, 3, oxygen], expected.imag, atol=1e-12)  # im m = 1


def test_coulomb_spheres_have_the_potential_of_each_element():
    pair = Molecules(np.array([[[0, 0, 0], [0, 0, 2.0]]]), np.array([[6, 8]]))
    found = see_neighbours(pair, CoulombSpheres(l_max=9)).numpy()[0]
    l = np.arange(10)
    # 1 / |x − p| = Σ_l r^l / p^(l+1) P_l, and P_l = √(4π / (2l + 1)) Y_l^0
    expected = 6 * 8 * 0.45**l / 2 ** (l + 1) * np.sqrt(4 * np.pi / (2 * l + 1))
    np.testing.assert_allclose(found[l * l, 3], expected, atol=1e-6 * expected[0])
    assert np.abs(found[:, [0, 1, 2, 4]]).max() == 0


@pytest.mark.parametrize("spheres", [SHELLS, COULOMB])
def test_spheres_turn_with_the_molecule(spheres):
    molecules, rotation = draw(), random_rotations(1, torch.Generator().manual_seed(1))[0]
    kind = FragmentType.uniform(spheres.channels, spheres.l_max)

    def fragments(of: Molecules) -> Fragments:
        seen = see_neighbours(of, spheres)
        return Fragments.from_real_waves(
            [seen[:, l * l : (l + 1) ** 2] for l in range(len(kind))], kind
        )

    plain, turned = (fragments(of) for of in (molecules, turn(molecules, rotation.numpy(), 5.0)))
    rtol = 1e-12 if spheres is SHELLS else 1e-2  # a grid cuts off what is beyond its bandwidth
    error = (plain.rotate(rotation).packed - turned.packed).norm() / plain.packed.norm()
    assert error < rtol


def network(**settings) -> MoleculeNet:
    torch.manual_seed(0)
    net = MoleculeNet(SHELLS.channels, 2, ((6, 4, 2), (6, 3, 2), (8,)), widths=(16,), **settings)
    batches = AtomBatches(draw(20, seed=3), torch.zeros(20), SHELLS)
    assert net.mixing is not None
    net.mixing.whiten(batches.moments())
    fix_statistics(net, batches.take(torch.arange(20)))
    return net.eval()


def energies(net: MoleculeNet, molecules: Molecules) -> torch.Tensor:
    batches = AtomBatches(molecules, torch.zeros(len(molecules)), SHELLS)
    with torch.no_grad():
        return net(batches.take(torch.arange(len(molecules))))


def test_no_rotation_shift_or_numbering_changes_an_energy(real_molecules):
    net = network()
    plain = energies(net, real_molecules)
    rotation = random_rotations(1, torch.Generator().manual_seed(0))[0].numpy()
    order = np.random.default_rng(0).permutation(real_molecules.charges.shape[1])
    others = {
        "turned": turn(real_molecules, rotation),
        "shifted": turn(real_molecules, np.eye(3), 3.0),
        "renumbered": Molecules(
            real_molecules.positions[:, order], real_molecules.charges[:, order]
        ),
    }
    assert plain.std() > 0.1
    for name, molecules in others.items():
        error = (energies(net, molecules) - plain).abs().max() / plain.std()
        assert error < 1e-4, name


def test_moving_an_atom_changes_the_energy(real_molecules):
    positions = real_molecules.positions.copy()
    positions[:, 0] += 0.1
    moved = Molecules(positions, real_molecules.charges)
    net = network()
    assert (energies(net, moved) - energies(net, real_molecules)).abs().min() > 1e-3


def test_molecules_do_not_see_each_other(real_molecules):
    net = network()
    together = energies(net, real_molecules)
    alone = torch.cat([energies(net, real_molecules.rows([row])) for row in range(5)])
    torch.testing.assert_close(together[:5], alone, rtol=1e-4, atol=1e-4)


def test_whitening_makes_channels_independent():
    batches = AtomBatches(draw(200, seed=4), torch.zeros(200), SHELLS)
    kind = FragmentType.uniform(SHELLS.channels, 2)
    layer = ElementLinear(SHELLS.channels, kind).double()
    layer.whiten(batches.moments())
    for l in range(3):
        for element in range(5):
            map_ = layer.whitening[l, element]
            found = map_.T @ batches.moments()[l, element] @ map_
            assert (found - found.diag().diag()).abs().max() < 1e-6
            assert 0.9 < found.diag().max() < 1.0001
            assert map_.abs().max() < 1e3  # elements that are not there included


def test_the_thesis_network_has_about_its_published_number_of_parameters():
    (preset,) = (of for of in list_molecule_presets() if of.name == "thesis")
    n_parameters = sum(parameter.numel() for parameter in preset.build().parameters())
    assert 1.0e6 < n_parameters < 1.15e6  # "1.1 M", with fifteen fragments of every degree


def test_the_thesis_network_sums_features_before_its_last_layers():
    torch.manual_seed(0)
    net = MoleculeNet(5, 3, ((4, 3, 2, 1),), mixed=False, n_features=7, widths=(9,), readout=11)
    net.eval()
    batches = AtomBatches(draw(4), torch.zeros(4), COULOMB)
    atoms = batches.take(torch.arange(4))
    features = net.atoms(net.see(atoms))
    summed = torch.stack([features[atoms.molecules == row].sum(0) for row in range(4)])
    assert net.readout is not None
    torch.testing.assert_close(net(atoms), net.readout(summed)[:, 0], rtol=1e-4, atol=1e-5)
    assert net.readout[1].out_features == 11


def test_atoms_with_other_channels_are_refused_with_both_named(real_molecules):
    few = AtomBatches(real_molecules, torch.zeros(len(real_molecules)), GaussianShells(n_shells=4))
    network = MoleculeNet(60, 3, ((4, 4, 4, 4), (8,)))
    with pytest.raises(ValueError, match="reads 60 channels of 16 coefficients an atom, got 20 of"):
        network(few.take(torch.arange(2)))
