"""One fold of QM7, from molecules to a record: composition, spheres, training, test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from vicinal import __version__
from vicinal._types import FloatArray, IntArray
from vicinal.data import load_dataset
from vicinal.sphere.molecules._composition import Composition
from vicinal.sphere.molecules._molecules import BOHR, Molecules
from vicinal.sphere.molecules._presets import MoleculePreset, get_molecule_preset
from vicinal.sphere.molecules._spheres import AtomBatches
from vicinal.sphere.nn import fix_statistics, save_network
from vicinal.sphere.training import (
    Epoch,
    Objective,
    Step,
    TrainingPlan,
    TrainingSetting,
    predict,
    process_rank,
    regression,
    train,
)

FOLDS = 5
CALIBRATION = 1000  # molecules whose statistics are kept


@dataclass(frozen=True, kw_only=True)
class MoleculeSetting(TrainingSetting):
    """What to train on which fold; a tenth of the training folds is held out."""

    dataset: str = "qm7"
    preset: str = "shells"
    fold: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fold not in range(FOLDS):
            raise ValueError(f"fold={self.fold}: the published folds are 0 to {FOLDS - 1}.")
        get_molecule_preset(self.preset)

    def plan(self) -> TrainingPlan:
        """Return how the network is trained."""
        return self.adapt(get_molecule_preset(self.preset).plan)

    def configuration(self) -> dict[str, Any]:
        """Return what the weights of every fold depend on."""
        spheres = asdict(get_molecule_preset(self.preset).spheres)
        read = {f"spheres.{name}": value for name, value in spheres.items()}
        return self.depends_on(self.plan(), **read)


@dataclass(frozen=True)
class Energies:
    """Molecules with their energies, in kcal/mol."""

    molecules: Molecules
    energies: FloatArray

    def rows(self, chosen: IntArray) -> Energies:
        return Energies(self.molecules.rows(chosen), self.energies[chosen])


@dataclass(frozen=True)
class MoleculeOutcome:
    """A network trained on four folds and tested on the fifth; errors are in kcal/mol."""

    setting: MoleculeSetting
    title: str
    n_parameters: int
    n_train: int
    n_validation: int
    history: list[Epoch]
    rows: IntArray  # of the test molecules, in the set
    tested: Energies
    predicted: FloatArray

    @property
    def mae(self) -> float:
        """The mean absolute error."""
        return float(np.abs(self.predicted - self.tested.energies).mean())

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(((self.predicted - self.tested.energies) ** 2).mean()))

    @property
    def cpu_seconds(self) -> float:
        """The processor's time for training and validation."""
        return round(sum(epoch.cpu_seconds for epoch in self.history), 2)

    def record(self) -> dict[str, Any]:
        """Return the outcome as the record every command writes."""
        return {
            "dataset": "qm7",
            "method": self.setting.preset,
            "k": None,
            "fold": self.setting.fold,
            "error_mean": self.mae,
            "error_sd": None,  # one fold has no spread
            "mae": self.mae,
            "rmse": self.rmse,
            "fit_seconds": round(sum(epoch.seconds for epoch in self.history), 2),
            "cpu_seconds": self.cpu_seconds,
            "n_train": self.n_train,
            "n_validation": self.n_validation,
            "n_test": len(self.rows),
            "seed": self.setting.seed,
            "version": __version__,
            "n_parameters": self.n_parameters,
        }


def load_qm7() -> tuple[Energies, IntArray]:
    """Return the molecules of QM7 and the rows of its published folds, (5, 1433)."""
    dataset = load_dataset("qm7")
    positions = np.asarray(dataset.extras["R"], np.float64) * BOHR
    molecules = Molecules(positions, np.asarray(dataset.extras["Z"], np.int64))
    return Energies(molecules, dataset.y), np.asarray(dataset.extras["folds"], np.int64)


def split_fold(folds: IntArray, setting: MoleculeSetting) -> tuple[IntArray, IntArray, IntArray]:
    """Return rows to train on, to choose the epoch by, and to test on."""
    order = np.random.default_rng(setting.seed).permutation(
        np.concatenate([rows for fold, rows in enumerate(folds) if fold != setting.fold])
    )
    n_held_out = len(order) // 10 if setting.n_validation is None else setting.n_validation
    if n_held_out >= len(order):
        raise ValueError(f"{n_held_out} validation molecules leave none to train on.")
    rest = order[n_held_out:][: setting.n_train]
    return rest, order[:n_held_out], folds[setting.fold]


def run_on_molecules(
    setting: MoleculeSetting,
    folder: Path,
    *,
    listener: Callable[[Step], None] = lambda step: None,
    say: Callable[[str], None] = lambda text: None,
) -> MoleculeOutcome:
    """Train a preset on four folds of QM7 and test it on the fifth; go on from a checkpoint.

    The composition is fitted to the training molecules first and the network to what it leaves.
    ``folder`` gets ``checkpoint.pt`` while training and ``network.pt`` with ``network.json`` in the
    end. The test fold is looked at once, at the end.
    """
    preset = get_molecule_preset(setting.preset)
    data, folds = load_qm7()
    parts = split_fold(folds, setting)
    training, held_out, testing = (data.rows(rows) for rows in parts)
    composition = Composition.fit(training.molecules, training.energies)
    say(f"spheres of {training.molecules.n_atoms.sum():,} atoms")
    batches = _batches(training, composition, preset)
    validation = _batches(held_out, composition, preset) if len(held_out.energies) else None
    objective = regression(batches.targets, loss=_nearly_absolute)
    torch.manual_seed(setting.seed)
    network, history = train(
        _prepare(preset, batches),
        lambda epoch: batches,
        validation,
        setting.plan(),
        objective,
        checkpoint=folder / "checkpoint.pt",
        listener=listener,
    )
    if process_rank() == 0:
        save_network(network, folder / "network.pt", _facts(setting, composition, objective))
    say(f"testing on {len(testing.energies):,} molecules")
    found = objective.scaling.undo(predict(network, _batches(testing, composition, preset)))
    return MoleculeOutcome(
        setting,
        preset.title,
        sum(parameter.numel() for parameter in network.parameters()),
        len(training.energies),
        len(held_out.energies),
        history,
        parts[2],
        testing,
        found.double().numpy() + composition.predict(testing.molecules),
    )


def _nearly_absolute(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Huber's loss, quadratic within a tenth of the spread: few molecules are far off."""
    return functional.smooth_l1_loss(outputs, targets, beta=0.1)


def _batches(data: Energies, composition: Composition, preset: MoleculePreset) -> AtomBatches:
    rest = data.energies - composition.predict(data.molecules)
    return AtomBatches(data.molecules, torch.from_numpy(rest).float(), preset.spheres)


def _prepare(preset: MoleculePreset, batches: AtomBatches) -> torch.nn.Module:
    """Return a network with random weights, its inputs and norms scaled by the training atoms."""
    network = preset.build()
    if network.mixing is not None:
        network.mixing.whiten(batches.moments())
    if preset.fixed:
        n = min(CALIBRATION, len(batches.targets))
        fix_statistics(network, batches.take(torch.arange(n)))
    return network


def _facts(
    setting: MoleculeSetting, composition: Composition, objective: Objective
) -> dict[str, Any]:
    spheres = get_molecule_preset(setting.preset).spheres
    return {
        "spheres": {"kind": type(spheres).__name__, **asdict(spheres)},
        "composition": composition.weights,
        "scaling": asdict(objective.scaling),
        "training": {**setting.configuration(), "fold": setting.fold},
    }
