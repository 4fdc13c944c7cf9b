"""What the number of atoms of each element says of an energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray
from vicinal.sphere.molecules._molecules import ELEMENTS, Molecules


@dataclass(frozen=True)
class Composition:
    """E ≈ constant + Σ_z weight_z · (atoms of z): weights as `ELEMENTS`, then the constant."""

    weights: tuple[float, ...]

    @classmethod
    def fit(cls, molecules: Molecules, energies: FloatArray) -> Composition:
        """Return the least squares fit, of least norm where elements are missing."""
        found = np.linalg.lstsq(_columns(molecules), energies, rcond=None)[0]
        return cls(tuple(map(float, found)))

    def __post_init__(self) -> None:
        if len(self.weights) != len(ELEMENTS) + 1 or not np.isfinite(self.weights).all():
            raise ValueError(f"a composition has {len(ELEMENTS) + 1} finite weights.")

    def predict(self, molecules: Molecules) -> FloatArray:
        """Return the energies that the numbers of atoms say, (n,)."""
        answer: FloatArray = _columns(molecules) @ np.array(self.weights)
        return answer


def _columns(molecules: Molecules) -> FloatArray:
    return np.column_stack([molecules.counts(), np.ones(len(molecules))])
