"""Networks for molecules, each with its spheres and the training that suits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from vicinal.sphere.molecules._forces import ForceNet
from vicinal.sphere.molecules._network import MoleculeNet
from vicinal.sphere.molecules._spheres import CoulombSpheres, GaussianShells, Spheres
from vicinal.sphere.training import TrainingPlan
from vicinal.sphere.worlds import find_preset


@dataclass(frozen=True)
class MoleculePreset:
    """A named network on molecules.

    ``fixed`` says whether batch norms keep the statistics they begin with, see `fix_statistics`.
    """

    name: str
    title: str
    spheres: Spheres
    network: dict[str, Any]
    plan: TrainingPlan
    fixed: bool
    forces: bool = False

    def on(self, elements: Sequence[int]) -> MoleculePreset:
        """Return the preset for molecules of these elements."""
        return replace(self, spheres=replace(self.spheres, elements=tuple(elements)))

    def build(self) -> MoleculeNet | ForceNet:
        """Return the network with random weights."""
        if self.forces:
            return ForceNet(asdict(self.spheres), self.network)
        n_elements = len(self.spheres.elements)
        return MoleculeNet(
            self.spheres.channels, self.spheres.l_max, n_elements=n_elements, **self.network
        )


_PRESETS = (
    MoleculePreset(
        "shells",
        "Gaussian shells by element, one product layer, energies of atoms summed",
        GaussianShells(l_max=3, n_shells=12),
        {"hidden": ("16x0e+10x1o+8x2e+6x3o", "96x0e")},
        TrainingPlan(
            n_epochs=24,
            batch_size=32,
            learning_rate=3e-3,
            schedule="one-cycle",
            weight_decay=0.0,
            averaging=0.995,
        ),
        fixed=True,
    ),
    MoleculePreset(
        "forces",
        "Gaussian shells by element, two product layers under mirrors too, forces",
        GaussianShells(l_max=3, n_shells=12, nearest=0.8, farthest=5.0),
        {
            "hidden": ("24x0e+16x1o+12x2e+8x3o", "24x0e+16x1o+12x2e+8x3o", "96x0e"),
            "widths": (64, 64),
        },
        TrainingPlan(
            n_epochs=200,
            batch_size=16,
            learning_rate=4e-3,
            schedule="one-cycle",
            weight_decay=0.0,
            averaging=0.995,
        ),
        fixed=True,
        forces=True,
    ),
    MoleculePreset(
        "thesis",
        "published layers on Coulomb spheres; degrees up to 3 a guess, rate and loss ours",
        CoulombSpheres(l_max=3, bandwidth=10),
        {
            "hidden": ((15, 15, 15, 15),) * 5,
            "mixed": False,
            "n_features": 150,
            "widths": (256,),
            "readout": 50,
            "normalisation": "both",
            "invariants": "scalars",
            "residual": False,
            "pairs": "ordered",
            "activation": "relu",
        },
        TrainingPlan(n_epochs=8, batch_size=50, learning_rate=2e-3, schedule="one-cycle"),
        fixed=False,
    ),
)


def get_molecule_preset(name: str) -> MoleculePreset:
    """Return the preset of a name."""
    return find_preset(_PRESETS, name)


def list_molecule_presets() -> tuple[MoleculePreset, ...]:
    """Return all presets."""
    return _PRESETS
