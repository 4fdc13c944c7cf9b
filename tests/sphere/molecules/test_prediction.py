"""What is refused of a file of a network on molecules, and of molecules."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
import torch

from vicinal._trainings import show_energy
from vicinal.sphere.molecules import Molecules, MoleculeWorld, predict_molecules, read_xyz
from vicinal.sphere.molecules._network import MoleculeNet
from vicinal.sphere.molecules._spheres import CoulombSpheres, GaussianShells
from vicinal.sphere.nn import save_network

PAIR = Molecules(np.array([[[0, 0, 0], [0, 0, 2.0]]]), np.array([[6, 8]]))
SHELLS, COULOMB = GaussianShells(1, 3), CoulombSpheres(1, 4)


@pytest.fixture
def saved(tmp_path):
    torch.manual_seed(0)
    network = MoleculeNet(SHELLS.channels, SHELLS.l_max, ((2, 2), (3,)))
    facts = {
        "spheres": {"kind": "GaussianShells", **asdict(SHELLS)},
        "composition": [1.0] * 6,
        "scaling": {"shift": 1.0, "scale": 2.0},
    }
    save_network(network.eval(), tmp_path / "network.pt", facts)
    return tmp_path


def test_a_whole_network_answers(saved):
    assert np.isfinite(predict_molecules([saved], PAIR).energies).all()


@pytest.mark.parametrize(("scale", "decimals"), [(2.0, 4), (300.0, 3), (3e-4, 8)])
def test_predictions_have_the_decimals_of_what_was_learned(saved, tmp_path, scale, decimals):
    content = json.loads((saved / "network.json").read_text())
    content["facts"]["scaling"]["scale"] = scale
    (saved / "network.json").write_text(json.dumps(content))
    (tmp_path / "pair.xyz").write_text("2\n\nC 0 0 0\nO 0 0 2\n")
    ((_, energy),) = MoleculeWorld().predict([saved], str(tmp_path / "pair.xyz")).rows
    (exact,) = predict_molecules([saved], PAIR).energies[0]
    assert energy == round(float(exact), decimals)
    assert abs(energy - exact) < scale / 1000


@pytest.mark.parametrize(
    ("value", "text"), [(12.345, "12.35"), (0.5, "0.500"), (0.00123, "0.00123"), (0.0, "0.00")]
)
def test_errors_are_told_with_three_digits(value, text):
    assert show_energy(value) == text
    assert show_energy(-7.0, like=value).endswith("0" * len(text.partition(".")[2]))


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("spheres", "l_max", [1]),
        ("spheres", "l_max", 10**9),
        ("spheres", "l_max", 0),
        ("spheres", "n_shells", 1.5),
        ("spheres", "n_shells", 4),
        ("spheres", "n_shells", 10**12),
        ("spheres", "nearest", {}),
        ("spheres", "nearest", -1.0),
        ("spheres", "nearest", 7.0),
        ("spheres", "kind", []),
        ("scaling", "scale", float("nan")),
        ("scaling", "scale", 0),
        ("scaling", "shift", None),
        ("scaling", "shift", 1e308 * 10),
    ],
)
def test_inputs_that_the_network_was_not_trained_on_are_refused(saved, part, name, value):
    content = json.loads((saved / "network.json").read_text())
    content["facts"][part][name] = value
    (saved / "network.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"does not (say how molecules|go with what)"):
        predict_molecules([saved], PAIR)


def test_coulomb_spheres_need_a_grid_finer_than_their_degrees():
    with pytest.raises(ValueError, match="l_max must be at least 0 and at most 3"):
        CoulombSpheres(l_max=4, bandwidth=4)


def test_a_molecule_whose_distances_fill_the_memory_is_refused(saved):
    many = Molecules(np.zeros((1, 2000, 3)), np.full((1, 2000), 6))
    with pytest.raises(ValueError, match="2,000 atoms; at most 1,000"):
        predict_molecules([saved], many)


def test_a_device_is_no_file_of_molecules():
    with pytest.raises(ValueError, match="no such regular file"):
        read_xyz("/dev/zero")
