"""Networks for molecules, each with its spheres and the training that suits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vicinal.sphere.molecules._network import MoleculeNet
from vicinal.sphere.molecules._spheres import CoulombSpheres, GaussianShells, Spheres
from vicinal.sphere.training import TrainingPlan


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

    def build(self) -> MoleculeNet:
        """Return the network with random weights."""
        return MoleculeNet(self.spheres.channels, self.spheres.l_max, **self.network)


_PRESETS = (
    MoleculePreset(
        "shells",
        "Gaussian shells by element, one product layer, energies of atoms summed",
        GaussianShells(l_max=3, n_shells=12),
        {"hidden": ((16, 10, 8, 6), (96,))},
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
        "thesis",
        "Coulomb spheres of bandwidth 10, Clebsch–Gordan layers, features of atoms summed",
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
    for preset in _PRESETS:
        if preset.name == name:
            return preset
    known = ", ".join(preset.name for preset in _PRESETS)
    raise ValueError(f"no preset {name!r} for molecules; there are {known}.")


def list_molecule_presets() -> tuple[MoleculePreset, ...]:
    """Return all presets."""
    return _PRESETS
