"""Energies of molecules: atoms as spheres, networks on them summed, and rivals by kernels.

.. code-block:: text

    .xyz, qm7 ── Molecules ── spheres of every atom ── MoleculeNet ──> Σ over atoms ─┐
                    │ counts                                                          + ── energy
                    └─ Composition (linear regression) ───────────────────────────────┘

`run_on_molecules` is what ``vicinal sphere train qm7`` calls for a fold, `predict_molecules` what
``vicinal sphere predict`` calls for an XYZ file, `run_rivals` what it fits besides.
"""

from vicinal.sphere.molecules._experiment import (
    FOLDS,
    MoleculeOutcome,
    MoleculeSetting,
    load_qm7,
    run_on_molecules,
)
from vicinal.sphere.molecules._molecules import Molecules, check_molecules, name_molecules, read_xyz
from vicinal.sphere.molecules._network import MoleculeNet
from vicinal.sphere.molecules._prediction import (
    MoleculeEnergies,
    are_of_molecules,
    predict_molecules,
)
from vicinal.sphere.molecules._presets import MoleculePreset, list_molecule_presets
from vicinal.sphere.molecules._rivals import RIVALS, RivalOutcome, run_rivals
from vicinal.sphere.molecules._spheres import AtomBatches, CoulombSpheres, GaussianShells

__all__ = [
    "FOLDS",
    "RIVALS",
    "AtomBatches",
    "CoulombSpheres",
    "GaussianShells",
    "MoleculeEnergies",
    "MoleculeNet",
    "MoleculeOutcome",
    "MoleculePreset",
    "MoleculeSetting",
    "Molecules",
    "RivalOutcome",
    "are_of_molecules",
    "check_molecules",
    "list_molecule_presets",
    "load_qm7",
    "name_molecules",
    "predict_molecules",
    "read_xyz",
    "run_on_molecules",
    "run_rivals",
]
