"""Claims about molecules, and about files of them that are not what they should be."""

from __future__ import annotations

import numpy as np
import pytest

from vicinal.sphere.molecules import Molecules, check_molecules, name_molecules, read_xyz

WATER = "3\nwater\nO 0 0 0.12\nH 0 0.76 -0.48\nH 0 -0.76 -0.48 extra\n"
METHANE = "5\n\nC 0 0 0\nH .63 .63 .63\nh -.63 -.63 .63\nH .63 -.63 -.63\nH -.63 .63 -.63\n"


def write(folder, text):
    path = folder / "some.xyz"
    path.write_text(text)
    return path


def test_a_file_of_several_frames_is_read(tmp_path):
    found = read_xyz(write(tmp_path, WATER + "\n" + METHANE))
    assert found.n_atoms.tolist() == [3, 5]
    assert found.charges.tolist() == [[8, 1, 1, 0, 0], [6, 1, 1, 1, 1]]
    assert found.positions[0, 1].tolist() == [0, 0.76, -0.48]
    assert found.counts().tolist() == [[2, 0, 0, 1, 0], [4, 1, 0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no molecule"),
        ("many\n\nH 0 0 0\n", "line 1: a number of atoms, not 'many'"),
        ("-2\n\nH 0 0 0\n", "line 1: a number of atoms"),
        ("3\n\nH 0 0 0\n", "3 atoms are announced, 1 follow"),
        ("1\n\nH 0 zero 0\n", "line 3: an atom is 'symbol x y z'"),
        ("1\n\nH 0 0\n", "line 3: an atom is"),
        ("1\n\nXx 0 0 0\n", "element 'Xx' is unknown; known are H, He, Li"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        read_xyz(write(tmp_path, text))


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "some.xyz").write_bytes(bytes(range(128, 256)))
    with pytest.raises(ValueError, match="cannot be read as an XYZ file"):
        read_xyz(tmp_path / "some.xyz")
    with pytest.raises(ValueError, match="cannot be read as an XYZ file"):
        read_xyz(tmp_path / "none.xyz")


def molecule(charges, positions):
    return Molecules(np.array([positions], float), np.array([charges]))


@pytest.mark.parametrize(
    ("charges", "positions", "said"),
    [
        ([1], [[0, 0, 0]], "molecule 0 has 1 atoms"),
        ([1, 0], [[0, 0, 0], [1, 0, 0]], "molecule 0 has 1 atoms"),
        ([1, 17], [[0, 0, 0], [1, 0, 0]], "atoms of number 17; known are H"),
        ([6, 8], [[0, 0, 0], [0, 0, 0.1]], "atoms 0 and 1 of molecule 0 are 0.1 Å apart"),
        ([6, 8], [[0, 0, 0], [0, 0, np.nan]], "NaN or infinite"),
    ],
)
def test_what_is_no_molecule_is_refused(charges, positions, said):
    with pytest.raises(ValueError, match=said):
        check_molecules(molecule(charges, positions))


def test_positions_and_charges_must_fit():
    with pytest.raises(ValueError, match=r"go with positions \(1, 2, 3\)"):
        molecule([1, 1], [[0, 0, 0]])


def test_molecules_are_named_by_their_sums(tmp_path):
    ethanol = "9\n\n" + "".join(f"{of} 0 0 {i}\n" for i, of in enumerate("OCCHHHHHH"))
    found = read_xyz(write(tmp_path, WATER + METHANE + ethanol))
    assert name_molecules(found) == ["H2O", "CH4", "C2H6O"]
