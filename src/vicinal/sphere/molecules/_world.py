"""Molecules as a world: composition, spheres, training and test, fold by fold; forces if asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from vicinal._trainings import show_energy
from vicinal._types import FloatArray, IntArray
from vicinal.sphere.molecules._composition import Composition
from vicinal.sphere.molecules._forces import ForceNet, ForceScaling, FrameBatches, force_regression
from vicinal.sphere.molecules._molecules import Molecules, check_molecules, read_xyz
from vicinal.sphere.molecules._page import (
    TestedMolecules,
    describe_errors,
    describe_forces,
    list_errors,
    make_page,
    record_of,
)
from vicinal.sphere.molecules._presets import (
    MoleculePreset,
    get_molecule_preset,
    list_molecule_presets,
)
from vicinal.sphere.molecules._rivals import RivalOutcome, run_rivals
from vicinal.sphere.molecules._setting import MoleculeSetting
from vicinal.sphere.molecules._sources import Energies, MoleculeSource, read_source
from vicinal.sphere.molecules._spheres import AtomBatches, CoulombSpheres, GaussianShells, Spheres
from vicinal.sphere.nn import fix_statistics, predict_with
from vicinal.sphere.training import (
    Batches,
    TargetScaling,
    predict,
    regression,
)
from vicinal.sphere.worlds import (
    Helpers,
    Outcome,
    Predictions,
    Task,
    Trained,
    World,
    common_record,
    list_files,
    member_folder,
    read_facts,
)
from vicinal.sphere.worlds._world import Say

INPUTS = "how molecules are given to it"  # what a network's file says
CALIBRATION = 1000  # molecules whose statistics are kept
_SPHERES = {kind.__name__: kind for kind in (GaussianShells, CoulombSpheres)}


class MoleculeWorld(World[MoleculeSetting]):
    """Energies of molecules, and the forces on their atoms."""

    name = "molecules"
    source = "qm7"
    sources = (
        "A known set (qm7, rmd17:ethanol and the other molecules of rmd17), or a folder of .xyz "
        "files with a .csv of targets."
    )
    default_preset = "shells"
    setting = MoleculeSetting

    @property
    def presets(self) -> Sequence[MoleculePreset]:
        """Networks for energies, and for forces."""
        return list_molecule_presets()

    def knows(self, source: str) -> bool:
        """Take QM7 and the revised MD17."""
        return source.partition(":")[0] in ("qm7", "rmd17")

    def tell(self, setting: MoleculeSetting, error: float) -> str:
        """Return a mean absolute error, of energies or of forces."""
        unit = "kcal/mol" if setting.source == "qm7" else ""
        return f"{show_energy(error)} {unit}".strip()

    def tasks(self, setting: MoleculeSetting, helpers: Helpers, say: Say) -> Iterator[Task]:
        """Yield a network for each fold and member."""
        source = read_source(setting.source, setting.target)
        if setting.forces and source.data.forces is None:
            raise ValueError(
                f"{setting.source} has no forces, or not on every atom: train on energies alone."
            )
        for fold in _read_folds(setting.fold, len(source.folds)):
            for number in range(setting.members):
                within = f"fold-{fold}" if len(source.folds) > 1 else ""
                folder = member_folder(setting, number, within)
                yield _task(setting.member(number), source, fold, folder, say)

    def judge(
        self, setting: MoleculeSetting, trained: Sequence[Trained], helpers: Helpers, say: Say
    ) -> Outcome:
        """Return the errors of each fold, of the members' mean."""
        folds: dict[int, list[Trained]] = {}
        for of in trained:
            folds.setdefault(of.tested.fold, []).append(of)
        judged = [_mean_of([of.tested for of in members]) for members in folds.values()]
        records = [
            {**common_record(setting, members), **record_of(setting, test)}
            for members, test in zip(folds.values(), judged, strict=True)
        ]
        rivals: list[RivalOutcome] = []
        if setting.rival_names:
            source = read_source(setting.source, setting.target)
            for test in judged:
                rest = split_fold(source, test.fold, setting)
                rows = rest[0] if setting.n_train is not None else np.concatenate(rest[1::-1])
                rivals += run_rivals(
                    setting.rival_names, source.data, rows, test.rows, test.fold, setting.seed, say
                )
        records += [{**of.record(), "dataset": setting.source} for of in rivals]
        unit = judged[0].unit
        lines = [describe_errors(errors, unit) for errors in list_errors(records)]
        lines += [describe_forces(setting, test) for test in judged if test.forces is not None]
        page = make_page(setting, trained, judged, records)
        return Outcome(records, lines, page, trained[0].history)

    def predict(self, networks: Sequence[Path], source: str, **options: Any) -> Predictions:
        """Return the energies of XYZ files, with their spread over networks; forces in facts."""
        if not source.lower().endswith(".xyz") and not Path(source).is_dir():
            raise ValueError(f"{source}: molecules are given as .xyz files, or a folder of them.")
        with_frames = [(path, read_xyz(path)) for path in list_files(source, (".xyz",))[0]]
        names: list[Any] = [
            f"{path.name}:{row}" if len(of) > 1 else path.name
            for path, of in with_frames
            for row in range(len(of))
        ]
        if not Path(source).is_dir():
            names = list(range(len(names)))
        answers = [predict_molecules(networks, of) for _, of in with_frames]
        energies = np.concatenate([of.energies for of in answers], 1)
        header: tuple[str, ...] = ("file" if Path(source).is_dir() else "row", "energy")
        decimals = _decimals(networks[0])
        columns = [names, energies.mean(0).round(decimals).tolist()]
        if len(networks) > 1:
            header += ("spread",)
            columns.append(energies.std(0, ddof=1).round(decimals).tolist())
        facts: dict[str, Any] = {"n_networks": len(networks), "n_test": len(names)}
        if answers[0].forces is not None:
            facts["forces"] = [
                row.tolist() for of in answers if of.forces is not None for row in of.forces.mean(0)
            ]
        return Predictions(header, list(zip(*columns, strict=True)), facts)


@dataclass(frozen=True)
class MoleculeAnswers:
    """What each network says: energies (networks, n) and forces (networks, n, N, 3), if any."""

    energies: FloatArray
    forces: FloatArray | None


def predict_molecules(networks: Sequence[Path], molecules: Molecules) -> MoleculeAnswers:
    """Return energies, and forces where they were learned, by saved networks on molecules."""
    answers = [_predict(network, molecules) for network in networks]
    energies = np.stack([energies for energies, _ in answers])
    forces = [of for _, of in answers if of is not None]
    return MoleculeAnswers(energies, np.stack(forces) if len(forces) == len(answers) else None)


def _predict(network: Path, molecules: Molecules) -> tuple[FloatArray, FloatArray | None]:
    spheres, composition, scaling = read_facts(network, _read, INPUTS)
    check_molecules(molecules, spheres.elements)
    batches: Batches
    zeros = np.zeros(len(molecules))
    forces = None
    if isinstance(scaling, ForceScaling):
        batches = FrameBatches(molecules, zeros, np.zeros_like(molecules.positions))
        answer = scaling.undo(predict_with(network, batches).double())
        forces = answer[:, 1:].reshape(molecules.positions.shape).numpy()
        answer = answer[:, 0]
    else:
        batches = AtomBatches(molecules, torch.from_numpy(zeros), spheres)
        answer = scaling.undo(predict_with(network, batches)).double()
    energies: FloatArray = answer.numpy() + composition.predict(molecules)
    if not np.isfinite(energies).all():
        raise ValueError(f"{network} gives energies that are not finite; its file is damaged.")
    return energies, forces


def split_fold(
    source: MoleculeSource, fold: int, setting: MoleculeSetting
) -> tuple[IntArray, IntArray, IntArray]:
    """Return rows to train on, to choose the epoch by, and to test on."""
    test = source.folds[fold]
    rest = np.setdiff1d(np.arange(len(source.data)), test)
    if len(source.folds) > 1:  # in the order of the folds, as published
        rest = np.concatenate([rows for at, rows in enumerate(source.folds) if at != fold])
    order = np.random.default_rng(setting.seed).permutation(rest)
    n_held_out = len(order) // 10 if setting.n_validation is None else setting.n_validation
    if n_held_out >= len(order):
        raise ValueError(f"{n_held_out} validation molecules leave none to train on.")
    return order[n_held_out:][: setting.n_train], order[:n_held_out], test


def _read_folds(text: str, n_folds: int) -> list[int]:
    if text == "all":
        return list(range(n_folds))
    if text not in map(str, range(n_folds)):
        choices = f"0 to {n_folds - 1}, or all" if n_folds > 1 else "all: this set has one split"
        raise ValueError(f"fold {text}: take {choices}.")
    return [int(text)]


def _task(
    setting: MoleculeSetting, source: MoleculeSource, fold: int, folder: str, say: Say
) -> Task:
    preset = get_molecule_preset(setting.preset).on(source.elements)
    parts = split_fold(source, fold, setting)
    training, held_out, testing = (source.data.rows(rows) for rows in parts)
    composition = Composition.fit(training.molecules, training.energies, source.elements)
    say(f"spheres of {training.molecules.n_atoms.sum():,} atoms")
    batches = _batches(training, composition, preset)
    if preset.forces:
        objective = force_regression(batches.targets)
    else:
        objective = regression(batches.targets, loss=_nearly_absolute)
    spheres = {"kind": type(preset.spheres).__name__, **asdict(preset.spheres)}
    facts = {
        "spheres": {**spheres, "elements": list(preset.spheres.elements)},
        "composition": composition.weights,
        "scaling": asdict(objective.scaling),
        "forces": preset.forces,
        "unit": source.unit,
        "training": {**setting.configuration(), "fold": fold},
    }

    def test(network: nn.Module) -> TestedMolecules:
        say(f"testing on {len(testing):,} molecules")
        outputs = objective.scaling.undo(predict(network, _batches(testing, composition, preset)))
        sizes = len(training), len(held_out)
        energies = (outputs[:, 0] if preset.forces else outputs).double().numpy()
        energies = energies + composition.predict(testing.molecules)
        forces = None
        if preset.forces:
            forces = outputs[:, 1:].reshape(testing.molecules.positions.shape).double().numpy()
        return TestedMolecules(fold, parts[2], testing, energies, forces, *sizes, unit=source.unit)

    return Task(
        folder,
        partial(_prepare, preset, batches),
        lambda epoch: batches,
        _batches(held_out, composition, preset) if len(held_out) else None,
        setting.plan(),
        objective,
        len(training),
        facts,
        test,
    )


def _nearly_absolute(outputs: Tensor, targets: Tensor) -> Tensor:
    """Huber's loss, quadratic within a tenth of the spread: few molecules are far off."""
    return functional.smooth_l1_loss(outputs, targets, beta=0.1)


def _batches(data: Energies, composition: Composition, preset: MoleculePreset) -> Batches:
    rest = data.energies - composition.predict(data.molecules)
    if preset.forces:
        assert data.forces is not None
        return FrameBatches(data.molecules, rest, data.forces)
    return AtomBatches(data.molecules, torch.from_numpy(rest).float(), preset.spheres)


def _prepare(preset: MoleculePreset, batches: Batches) -> nn.Module:
    """Return a network with random weights, its inputs and norms scaled by the training atoms."""
    network = preset.build()
    n = min(CALIBRATION, len(batches.targets))
    inputs = batches.take(torch.arange(n))
    energy = network
    if isinstance(network, ForceNet):
        energy = network.energy
        atoms = network.see(inputs)
        if energy.mixing is not None:
            energy.mixing.whiten(atoms.moments(energy.mixing.n_elements))
    elif network.mixing is not None:
        network.mixing.whiten(cast(AtomBatches, batches).moments())
    if preset.fixed:
        fix_statistics(network, inputs)
    return network


def _mean_of(tested: Sequence[TestedMolecules]) -> TestedMolecules:
    """Return the mean of several networks on one fold."""
    forces = [of.forces for of in tested if of.forces is not None]
    return replace(
        tested[0],
        energies=np.mean([of.energies for of in tested], axis=0),
        forces=np.mean(forces, axis=0) if forces else None,
    )


def _decimals(network: Path) -> int:
    """Return how many decimals tell a ten-thousandth of how far energies spread; three at least."""
    _, _, scaling = read_facts(network, _read, INPUTS)
    return max(3, 4 - math.floor(math.log10(scaling.scale)))


def _read(facts: dict[str, Any]) -> tuple[Spheres, Composition, TargetScaling]:
    settings = dict(facts["spheres"])
    spheres = _SPHERES[settings.pop("kind")](**settings)
    composition = Composition(tuple(facts["composition"]), tuple(spheres.elements))
    scale = ForceScaling if facts.get("forces") else TargetScaling
    return spheres, composition, scale(**facts["scaling"])
