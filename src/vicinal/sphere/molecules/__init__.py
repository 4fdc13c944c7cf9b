"""Energies of molecules: atoms as spheres, networks on them summed, forces, and rivals by kernels.

.. code-block:: text

    .xyz, qm7, rmd17 ── Molecules ── spheres of every atom ── MoleculeNet ──> Σ over atoms ─┐
                           │ counts          └── ForceNet: and −∂E/∂p                        + ── E
                           └─ Composition (linear regression) ────────────────────────────────┘

`MoleculeWorld` is what ``vicinal sphere train molecules`` runs, `run_rivals` what it fits besides,
`predict_molecules` what ``vicinal sphere predict`` calls.
"""

from vicinal.sphere.molecules._forces import ForceNet, FrameBatches, Frames, force_regression
from vicinal.sphere.molecules._molecules import Molecules, check_molecules, name_molecules, read_xyz
from vicinal.sphere.molecules._network import MoleculeNet
from vicinal.sphere.molecules._presets import MoleculePreset, list_molecule_presets
from vicinal.sphere.molecules._rivals import RIVALS, RivalOutcome, run_rivals
from vicinal.sphere.molecules._setting import MoleculeSetting
from vicinal.sphere.molecules._sources import Energies, MoleculeSource, load_qm7, read_source
from vicinal.sphere.molecules._spheres import AtomBatches, CoulombSpheres, GaussianShells
from vicinal.sphere.molecules._world import (
    MoleculeAnswers,
    MoleculeWorld,
    predict_molecules,
    split_fold,
)

__all__ = [
    "RIVALS",
    "AtomBatches",
    "CoulombSpheres",
    "Energies",
    "ForceNet",
    "FrameBatches",
    "Frames",
    "GaussianShells",
    "MoleculeAnswers",
    "MoleculeNet",
    "MoleculePreset",
    "MoleculeSetting",
    "MoleculeSource",
    "MoleculeWorld",
    "Molecules",
    "RivalOutcome",
    "check_molecules",
    "force_regression",
    "list_molecule_presets",
    "load_qm7",
    "name_molecules",
    "predict_molecules",
    "read_source",
    "read_xyz",
    "run_rivals",
    "split_fold",
]
