"""Molecules with energies: QM7, the revised MD17, folders of XYZ files with a table of targets."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.data import load_dataset
from vicinal.sphere.molecules._molecules import (
    BOHR,
    ELEMENTS,
    Frame,
    Molecules,
    check_molecules,
    read_frames,
    stack_frames,
)

MEV = 43.364104  # of a kcal/mol
TEST_SHARE = 0.25  # of a folder, which has no published parts


@dataclass(frozen=True)
class Energies:
    """Molecules with their energies, and the forces on their atoms where they are known."""

    molecules: Molecules
    energies: FloatArray
    forces: FloatArray | None = None

    def rows(self, chosen: IntArray) -> Energies:
        """Return some of them."""
        forces = None if self.forces is None else self.forces[chosen]
        return Energies(self.molecules.rows(chosen), self.energies[chosen], forces)

    def __len__(self) -> int:
        return len(self.energies)


@dataclass(frozen=True)
class MoleculeSource:
    """A set of molecules: which rows each fold tests, the unit of energies, known elements."""

    data: Energies
    folds: tuple[IntArray, ...]
    unit: str
    elements: tuple[int, ...]


def read_source(source: str, target: str | None = None) -> MoleculeSource:
    """Return the molecules of a registered set ("qm7", "rmd17:ethanol") or of a folder."""
    if Path(source).is_dir():
        return read_folder(Path(source), target)
    name, _, molecule = source.partition(":")
    if name == "rmd17":
        return _rmd17(molecule)
    if name != "qm7" or molecule:
        raise ValueError(
            f"{source} holds no molecules with energies; take qm7, rmd17:ethanol (or another of "
            "its molecules), or a folder of .xyz files with a table of targets."
        )
    data, folds = load_qm7()
    return MoleculeSource(data, tuple(folds), "kcal/mol", ELEMENTS)


def load_qm7() -> tuple[Energies, IntArray]:
    """Return the molecules of QM7 and the rows of its published folds, (5, 1433)."""
    dataset = load_dataset("qm7")
    positions = np.asarray(dataset.extras["R"], np.float64) * BOHR
    molecules = Molecules(positions, np.asarray(dataset.extras["Z"], np.int64))
    return Energies(molecules, dataset.y), np.asarray(dataset.extras["folds"], np.int64)


def _rmd17(molecule: str) -> MoleculeSource:
    """Return a thousand frames to train on and a thousand to test, in meV and meV/Å."""
    extras = load_dataset("rmd17").extras
    molecules = [str(name) for name in extras["molecules"]]
    if molecule not in molecules:
        raise ValueError(f"rmd17:{molecule}: its molecules are {', '.join(molecules)}.")
    positions = np.asarray(extras[f"{molecule}_R"], np.float64)
    charges = np.asarray(extras[f"{molecule}_Z"], np.int64)
    data = Energies(
        Molecules(positions, np.tile(charges, (len(positions), 1))),
        np.asarray(extras[f"{molecule}_E"], np.float64) * MEV,
        np.asarray(extras[f"{molecule}_F"], np.float64) * MEV,
    )
    test = np.flatnonzero(extras["is_test"])
    return MoleculeSource(data, (test,), "meV", tuple(np.unique(charges).tolist()))


def read_folder(folder: Path, target: str | None = None) -> MoleculeSource:
    """Return the molecules of a folder: ``.xyz`` files, and a ``.csv`` with their targets.

    The table has a column ``file`` and one for the target; where there are more, ``target`` names
    it. A quarter of the molecules, drawn once, is the test part.
    """
    targets = _read_targets(folder, target)
    frames: list[Frame] = []
    for name in targets:
        path = folder / name
        if not path.is_file():
            raise ValueError(f"{folder}: the table names {name}, and there is no such file.")
        content = read_frames(path)
        if len(content) > 1:
            raise ValueError(f"{path} holds {len(content)} molecules for one target.")
        frames += content
    molecules, forces = stack_frames(frames)
    elements = tuple(np.unique(molecules.charges[molecules.charges > 0]).tolist())
    check_molecules(molecules, elements)
    data = Energies(molecules, np.array(list(targets.values())), forces)
    order = np.random.default_rng(0).permutation(len(data))
    n_test = max(1, round(TEST_SHARE * len(data)))
    return MoleculeSource(data, (np.sort(order[:n_test]),), "units of the target", elements)


def _read_targets(folder: Path, target: str | None) -> dict[str, float]:
    tables = sorted(folder.glob("*.csv"))
    if len(tables) != 1:
        raise ValueError(
            f"{folder} needs one table of targets, a .csv with the columns file and energy, and "
            f"has {len(tables) or 'none'}."
        )
    with tables[0].open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    columns = list(rows[0]) if rows else []
    others = [name for name in columns if name != "file"]
    if "file" not in columns or not others:
        raise ValueError(f"{tables[0]} needs a column file and one of targets; it has {columns}.")
    if target is None and len(others) > 1:
        raise ValueError(f"{tables[0]} has several targets, {', '.join(others)}: name one.")
    chosen = target or others[0]
    if chosen not in others:
        raise ValueError(f"{tables[0]} has no column {chosen!r}; there are {', '.join(others)}.")
    targets = {}
    for number, row in enumerate(rows, 2):
        name = f"{(row['file'] or '').removesuffix('.xyz')}.xyz"
        if name in targets:
            raise ValueError(f"{tables[0]}, line {number}: {name} has a target already.")
        try:
            value = float(row[chosen])
        except (TypeError, ValueError):
            value = np.nan
        if not np.isfinite(value):
            raise ValueError(f"{tables[0]}, line {number}: {row[chosen]!r} is no number.")
        targets[name] = value
    _check_complete(folder, targets)
    return targets


def _check_complete(folder: Path, targets: dict[str, float]) -> None:
    left = sorted(path.name for path in folder.glob("*.xyz") if path.name not in targets)
    if left:
        raise ValueError(f"{folder / left[0]} has no target in the table.")
    if len(targets) < 4:
        raise ValueError(f"{folder} has {len(targets)} molecules; at least four are needed.")
