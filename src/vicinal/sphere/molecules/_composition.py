"""What the number of atoms of each element says of an energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray
from vicinal.sphere.molecules._molecules import ELEMENTS, Molecules


@dataclass(frozen=True)
class Composition:
    """E ≈ constant + Σ_z weight_z · (atoms of z): weights as ``elements``, then the constant."""

    weights: tuple[float, ...]
    elements: tuple[int, ...] = ELEMENTS

    @classmethod
    def fit(
        cls, molecules: Molecules, energies: FloatArray, elements: Sequence[int] = ELEMENTS
    ) -> Composition:
        """Return the least squares fit, of least norm where elements are missing."""
        columns = np.column_stack([molecules.counts(elements), np.ones(len(molecules))])
        weights = np.linalg.lstsq(columns, energies, rcond=None)[0]
        return cls(tuple(map(float, weights)), tuple(elements))

    def __post_init__(self) -> None:
        expected = len(self.elements) + 1
        if len(self.weights) != expected or not np.isfinite(self.weights).all():
            raise ValueError(f"a composition has {expected} finite weights.")

    def predict(self, molecules: Molecules) -> FloatArray:
        """Return the energies that the numbers of atoms say, (n,)."""
        columns = np.column_stack([molecules.counts(self.elements), np.ones(len(molecules))])
        answer: FloatArray = columns @ np.array(self.weights)
        return answer
