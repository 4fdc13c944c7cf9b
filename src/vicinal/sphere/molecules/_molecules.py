"""Molecules: which atoms there are, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray

_NAMES = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe"
)
SYMBOLS = {symbol: number for number, symbol in enumerate(_NAMES.split(), 1)}
ELEMENTS = (1, 6, 7, 8, 16)  # of QM7, which networks know unless they are trained on others
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

    def counts(self, elements: Sequence[int] = ELEMENTS) -> IntArray:
        """Return how many atoms of each element a molecule has, (n, elements)."""
        return np.stack([(self.charges == element).sum(axis=1) for element in elements], axis=1)

    def distances(self) -> FloatArray:
        """Return the distances between atoms, (n, N, N), infinite where there are none."""
        arrows = self.positions[:, :, None] - self.positions[:, None]
        gaps = np.sqrt((arrows**2).sum(-1))
        there = self.charges > 0
        gaps[~(there[:, :, None] & there[:, None])] = np.inf
        return gaps


def name_molecules(molecules: Molecules) -> list[str]:
    """Return sums of elements as chemists write them, carbon and hydrogen first: "C2H6O"."""
    present = set(np.unique(molecules.charges).tolist())
    symbols = [symbol for symbol, number in SYMBOLS.items() if number in present]
    order = sorted(symbols, key=lambda symbol: ("CH".find(symbol) % 3, symbol))
    columns = {symbol: (molecules.charges == SYMBOLS[symbol]).sum(axis=1) for symbol in order}
    return [
        "".join(
            symbol + (str(counts[row]) if counts[row] > 1 else "")
            for symbol, counts in columns.items()
            if counts[row]
        )
        for row in range(len(molecules))
    ]


def check_molecules(molecules: Molecules, elements: Sequence[int] = ELEMENTS) -> None:
    """Refuse molecules without a bond, of other elements, or with atoms in one place."""
    names = {number: symbol for symbol, number in SYMBOLS.items()}
    for row in range(len(molecules)):
        charges = molecules.charges[row]
        atoms = charges[charges > 0]
        if len(atoms) < 2:
            raise ValueError(
                f"molecule {row} has {len(atoms)} atoms; an energy of binding needs two or more."
            )
        if len(atoms) > MOST_ATOMS:
            raise ValueError(
                f"molecule {row} has {len(atoms):,} atoms; at most {MOST_ATOMS:,} are taken, since "
                "all distances between them are held in memory."
            )
        strange = sorted(set(atoms.tolist()) - set(elements))
        if strange:
            raise ValueError(
                f"molecule {row} has atoms of number {strange[0]}; known are "
                f"{', '.join(f'{names[number]} ({number})' for number in elements)}."
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


@dataclass(frozen=True)
class Frame:
    """One molecule of a file; forces where its lines have them."""

    charges: IntArray
    positions: FloatArray
    forces: FloatArray | None = None


def stack_frames(frames: Sequence[Frame]) -> tuple[Molecules, FloatArray | None]:
    """Return molecules in one record, and their forces (n, N, 3) where all of them have some."""
    places = max(len(frame.charges) for frame in frames)
    charges = np.zeros((len(frames), places), np.int64)
    positions, forces = np.zeros((2, len(frames), places, 3))
    for row, frame in enumerate(frames):
        n = len(frame.charges)
        charges[row, :n], positions[row, :n] = frame.charges, frame.positions
        if frame.forces is not None:
            forces[row, :n] = frame.forces
    every = all(frame.forces is not None for frame in frames)
    return Molecules(positions, charges), forces if every else None


def read_xyz(path: str | Path) -> Molecules:
    """Return the molecules of an XYZ file, one or several frames.

    A frame is the number of atoms, a line of comment, and a line ``symbol x y z`` an atom, in Å.
    What stands behind is not read, but for `read_frames`.
    """
    return stack_frames(read_frames(path))[0]


def read_frames(path: str | Path) -> list[Frame]:
    """Return the frames of an XYZ file, with forces where a line is ``symbol x y z fx fy fz``."""
    if not Path(path).is_file():
        raise ValueError(f"{path} cannot be read as an XYZ file: there is no such regular file.")
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as an XYZ file: {error}") from error
    frames = list(_frames(lines, str(path)))
    if not frames:
        raise ValueError(f"{path} holds no molecule.")
    return frames


def _frames(lines: list[str], path: str) -> Iterator[Frame]:
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
        numbers = np.array([of for of, _ in atoms])
        values = [where for _, where in atoms]
        forces = np.array([of[3:6] for of in values]) if min(map(len, values)) >= 6 else None
        yield Frame(numbers, np.array([of[:3] for of in values]), forces)
        at += 2 + n


def _atom(line: str, where: str) -> tuple[int, list[float]]:
    """Return an atom's number and the numbers behind its symbol, up to six."""
    parts = line.split()
    values: list[float] = []
    for part in parts[1:7]:
        try:
            values.append(float(part))
        except ValueError:
            break
    if len(values) < 3:
        raise ValueError(f"{where}: an atom is 'symbol x y z', not {line!r}.")
    symbol = parts[0].capitalize()
    if symbol not in SYMBOLS:
        raise ValueError(
            f"{where}: element {parts[0]!r} is unknown; known are {_NAMES.replace(' ', ', ')}."
        )
    return SYMBOLS[symbol], values
