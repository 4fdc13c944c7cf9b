"""Molecules: which atoms there are, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

SYMBOLS = {"H": 1, "C": 6, "N": 7, "O": 8, "S": 16}
ELEMENTS = tuple(SYMBOLS.values())  # that networks know
BOHR = 0.529177210903  # Å
MOST_ATOMS = 1000  # of a molecule
NEAREST = 0.5  # Å: no two atoms of a molecule are nearer


@dataclass(frozen=True)
class Molecules:
    """Molecules of up to N atoms.

    Attributes
    ----------
    positions : float64 ndarray of shape (n, N, 3)
        In Å.
    charges : int64 ndarray of shape (n, N)
        Atomic numbers, 0 where a molecule has no more atoms.
    """

    positions: FloatArray
    charges: IntArray

    def __post_init__(self) -> None:
        n, places = self.charges.shape
        if self.positions.shape != (n, places, 3):
            raise ValueError(
                f"charges {self.charges.shape} go with positions ({n}, {places}, 3), got "
                f"{self.positions.shape}."
            )

    def __len__(self) -> int:
        return len(self.charges)

    def rows(self, chosen: AnyArray | slice) -> Molecules:
        """Return some of the molecules."""
        return Molecules(self.positions[chosen], self.charges[chosen])

    @property
    def n_atoms(self) -> IntArray:
        """How many atoms each molecule has."""
        return (self.charges > 0).sum(axis=1)

    def counts(self) -> IntArray:
        """Return how many atoms of each element a molecule has, (n, elements)."""
        return np.stack([(self.charges == element).sum(axis=1) for element in ELEMENTS], axis=1)

    def distances(self) -> FloatArray:
        """Return the distances between atoms, (n, N, N), infinite where there are none."""
        arrows = self.positions[:, :, None] - self.positions[:, None]
        gaps = np.sqrt((arrows**2).sum(-1))
        there = self.charges > 0
        gaps[~(there[:, :, None] & there[:, None])] = np.inf
        return gaps


def name_molecules(molecules: Molecules) -> list[str]:
    """Return sums of elements as chemists write them, carbon and hydrogen first: "C2H6O"."""
    order = sorted(SYMBOLS, key=lambda symbol: ("CH".find(symbol) % 3, symbol))
    columns = {symbol: (molecules.charges == SYMBOLS[symbol]).sum(axis=1) for symbol in order}
    return [
        "".join(
            symbol + (str(counts[row]) if counts[row] > 1 else "")
            for symbol, counts in columns.items()
            if counts[row]
        )
        for row in range(len(molecules))
    ]


def check_molecules(molecules: Molecules) -> None:
    """Refuse molecules without a bond, of unknown elements, or with atoms in one place."""
    for row in range(len(molecules)):
        charges = molecules.charges[row]
        known = charges[charges > 0]
        if len(known) < 2:
            raise ValueError(
                f"molecule {row} has {len(known)} atoms; an energy of binding needs two or more."
            )
        if len(known) > MOST_ATOMS:
            raise ValueError(
                f"molecule {row} has {len(known):,} atoms; at most {MOST_ATOMS:,} are taken, since "
                "all distances between them are held in memory."
            )
        strange = sorted(set(known.tolist()) - set(ELEMENTS))
        if strange:
            raise ValueError(
                f"molecule {row} has atoms of number {strange[0]}; known are "
                f"{', '.join(f'{name} ({number})' for name, number in SYMBOLS.items())}."
            )
        _check_places(molecules.positions[row][charges > 0], row)


def _check_places(places: FloatArray, row: int) -> None:
    if not np.isfinite(places).all():
        raise ValueError(f"molecule {row} has positions that are NaN or infinite.")
    gaps = np.linalg.norm(places[:, None] - places, axis=-1) + np.diag([np.inf] * len(places))
    if gaps.min() < NEAREST:
        first, second = np.unravel_index(gaps.argmin(), gaps.shape)
        raise ValueError(
            f"atoms {first} and {second} of molecule {row} are {gaps.min():.2g} Å apart; positions "
            f"are in Å, and atoms at least {NEAREST} Å from each other."
        )


def stack_molecules(atoms: Sequence[tuple[IntArray, FloatArray]]) -> Molecules:
    """Return molecules, given as charges (n,) and positions (n, 3), in one record."""
    places = max(len(charges) for charges, _ in atoms)
    charges = np.zeros((len(atoms), places), np.int64)
    positions = np.zeros((len(atoms), places, 3))
    for row, (of, where) in enumerate(atoms):
        charges[row, : len(of)], positions[row, : len(of)] = of, where
    return Molecules(positions, charges)


def read_xyz(path: str | Path) -> Molecules:
    """Return the molecules of an XYZ file, one or several frames.

    A frame is the number of atoms, a line of comment, and a line ``symbol x y z`` an atom, in Å.
    What stands behind is not read.
    """
    if not Path(path).is_file():
        raise ValueError(f"{path} cannot be read as an XYZ file: there is no such regular file.")
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as an XYZ file: {error}") from error
    frames = list(_frames(lines, str(path)))
    if not frames:
        raise ValueError(f"{path} holds no molecule.")
    return stack_molecules(frames)


def _frames(lines: list[str], path: str) -> Iterator[tuple[IntArray, FloatArray]]:
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        try:
            n = int(lines[at])
        except ValueError:
            n = 0
        if n < 1:
            raise ValueError(f"{path}, line {at + 1}: a number of atoms, not {lines[at]!r}.")
        body = lines[at + 2 : at + 2 + n]
        if len(body) < n:
            raise ValueError(f"{path}, line {at + 1}: {n} atoms are announced, {len(body)} follow.")
        atoms = [_atom(line, f"{path}, line {at + 3 + i}") for i, line in enumerate(body)]
        yield np.array([of for of, _ in atoms]), np.array([where for _, where in atoms])
        at += 2 + n


def _atom(line: str, where: str) -> tuple[int, list[float]]:
    parts = line.split()
    try:
        place = [float(part) for part in parts[1:4]]
    except ValueError:
        place = []
    if len(place) != 3:
        raise ValueError(f"{where}: an atom is 'symbol x y z', not {line!r}.")
    symbol = parts[0].capitalize()
    if symbol not in SYMBOLS:
        raise ValueError(
            f"{where}: element {parts[0]!r} is unknown; known are {', '.join(SYMBOLS)}."
        )
    return SYMBOLS[symbol], place
