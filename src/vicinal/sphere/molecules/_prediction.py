"""Energies of new molecules by the networks of one or several folds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vicinal._types import FloatArray
from vicinal.sphere.molecules._composition import Composition
from vicinal.sphere.molecules._molecules import Molecules, check_molecules
from vicinal.sphere.molecules._spheres import AtomBatches, CoulombSpheres, GaussianShells, Spheres
from vicinal.sphere.nn import predict_with, read_configuration
from vicinal.sphere.training import TargetScaling

_SPHERES = {kind.__name__: kind for kind in (GaussianShells, CoulombSpheres)}


@dataclass(frozen=True)
class MoleculeEnergies:
    """What each network says, (networks, n), in kcal/mol."""

    by_network: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean over networks, (n,)."""
        answer: FloatArray = self.by_network.mean(axis=0)
        return answer

    @property
    def spread(self) -> FloatArray | None:
        """The standard deviation over networks, (n,); None of one network."""
        if len(self.by_network) == 1:
            return None
        answer: FloatArray = self.by_network.std(axis=0, ddof=1)
        return answer


def predict_molecules(path: str | Path, molecules: Molecules) -> MoleculeEnergies:
    """Return atomisation energies by the networks of ``vicinal sphere train qm7``.

    Parameters
    ----------
    path : the run folder, one of its folds, or a ``network.pt``
    molecules : Molecules
        Of known elements, at least two atoms each.
    """
    check_molecules(molecules)
    return MoleculeEnergies(np.stack([_predict(of, molecules) for of in _networks(path)]))


def are_of_molecules(path: str | Path) -> bool:
    """Tell whether a path leads to networks on molecules."""
    return "composition" in read_configuration(_networks(path)[0])["facts"]


def _networks(path: str | Path) -> list[Path]:
    """Return the networks that a path names: those of all folds, or the one it is."""
    path = Path(path)
    folds = sorted(of for of in path.glob("fold-*") if (of / "network.json").is_file())
    return folds or [path]


def _predict(path: Path, molecules: Molecules) -> FloatArray:
    facts = read_configuration(path)["facts"]
    spheres, composition, scaling = _read(facts, path)
    batches = AtomBatches(molecules, torch.zeros(len(molecules)), spheres)
    found = scaling.undo(predict_with(path, batches)).double().numpy()
    answer: FloatArray = found + composition.predict(molecules)
    if not np.isfinite(answer).all():
        raise ValueError(f"{path} gives energies that are not finite; its numbers are not whole.")
    return answer


def _read(facts: dict[str, Any], path: Path) -> tuple[Spheres, Composition, TargetScaling]:
    try:
        settings = dict(facts["spheres"])
        return (
            _SPHERES[settings.pop("kind")](**settings),
            Composition(tuple(facts["composition"])),
            TargetScaling(**facts["scaling"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} does not say how molecules are given to it; take a network that `vicinal "
            "sphere train qm7` wrote."
        ) from error
