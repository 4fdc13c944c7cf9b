"""What a run on molecules came to: records, sentences, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal import __version__
from vicinal._trainings import EnergyReport, FoldErrors, MissedMolecule, show_energy
from vicinal._types import FloatArray, IntArray
from vicinal.sphere.molecules._molecules import name_molecules
from vicinal.sphere.molecules._presets import get_molecule_preset
from vicinal.sphere.molecules._setting import MoleculeSetting
from vicinal.sphere.molecules._sources import Energies
from vicinal.sphere.worlds import Trained, describe_choice

SHOWN = 12  # molecules farthest off


@dataclass(frozen=True)
class TestedMolecules:
    """What one network says of the test molecules of a fold, in the unit of the source."""

    fold: int
    rows: IntArray
    data: Energies
    energies: FloatArray
    forces: FloatArray | None
    n_train: int
    n_validation: int
    unit: str


def record_of(setting: MoleculeSetting, test: TestedMolecules) -> dict[str, Any]:
    gaps = test.energies - test.data.energies
    mae = float(np.abs(gaps).mean())
    force_mae = None
    if test.forces is not None and test.data.forces is not None:
        there = test.data.molecules.charges > 0
        force_mae = float(np.abs(test.forces - test.data.forces)[there].mean())
    return {
        "method": setting.preset,
        "fold": test.fold,
        "error_mean": mae,
        "mae": mae,
        "rmse": float(np.sqrt((gaps**2).mean())),
        "force_mae": force_mae,
        "unit": test.unit,
        "n_train": test.n_train,
        "n_validation": test.n_validation,
        "n_test": len(test.rows),
    }


def list_errors(records: Sequence[dict[str, Any]]) -> list[FoldErrors]:
    """Return the errors of every method, fold by fold and their means where there are several."""
    errors = []
    for method in dict.fromkeys(record["method"] for record in records):
        mine = [record for record in records if record["method"] == method]
        rows = [[record[key] for key in ("mae", "rmse", "cpu_seconds")] for record in mine]
        errors += [
            FoldErrors(method, str(record["fold"]), *row)
            for record, row in zip(mine, rows, strict=True)
        ]
        if len(mine) > 1:
            errors.append(FoldErrors(method, "mean", *np.mean(rows, axis=0).tolist()))
    return errors


def describe_errors(errors: FoldErrors, unit: str) -> str:
    fold = "mean of all folds" if errors.fold == "mean" else f"fold {errors.fold}"
    return (
        f"{errors.method}, {fold}: MAE {show_energy(errors.mae)}, "
        f"RMSE {show_energy(errors.rmse)} {unit} ({errors.cpu_seconds:.0f} CPU s)"
    )


def describe_forces(setting: MoleculeSetting, test: TestedMolecules) -> str:
    mae = record_of(setting, test)["force_mae"]
    return f"{setting.preset}: forces MAE {show_energy(mae)} {test.unit}/Å"


def make_page(
    setting: MoleculeSetting,
    trained: Sequence[Trained],
    judged: Sequence[TestedMolecules],
    records: Sequence[dict[str, Any]],
) -> EnergyReport:
    first, title = judged[0], get_molecule_preset(setting.preset).title
    n_folds = len(judged)
    cpu_seconds = sum(of.cpu_seconds for of in trained) / n_folds
    return EnergyReport(
        dataset=setting.source,
        title=title,
        facts=[
            ("parameters", f"{trained[0].n_parameters:,}"),
            ("training molecules a fold", f"{first.n_train:,}"),
            ("folds", str(n_folds)),
            ("CPU seconds a fold", f"{cpu_seconds:,.0f}"),
        ],
        train_errors=[],
        validation_errors=[],
        notes=[
            describe_choice(first.n_validation, "molecules"),
            *[describe_forces(setting, test) for test in judged if test.forces is not None],
            f"Preset {setting.preset} ({title}), {setting.members} network(s) a fold, seed "
            f"{setting.seed}. Test molecules were read after training only.",
        ],
        version=__version__,
        unit=first.unit,
        folds=list_errors(records),
        energies=np.concatenate([of.data.energies for of in judged]),
        predicted=np.concatenate([of.energies for of in judged]),
        worst=_worst(judged),
    )


def _worst(judged: Sequence[TestedMolecules]) -> list[MissedMolecule]:
    missed = [
        MissedMolecule(name, int(row), float(energy), float(predicted))
        for of in judged
        for name, row, energy, predicted in zip(
            name_molecules(of.data.molecules), of.rows, of.data.energies, of.energies, strict=True
        )
    ]
    return sorted(missed, key=lambda of: -abs(of.predicted - of.energy))[:SHOWN]
