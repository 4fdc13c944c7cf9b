"""The page of a training on molecules: errors of folds, and the molecules farthest off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vicinal import __version__
from vicinal.report import EnergyReport, FoldErrors, MissedMolecule, write_energy_page
from vicinal.sphere.molecules import MoleculeOutcome, name_molecules

SHOWN = 12  # molecules farthest off


def write_molecule_page(
    outcomes: Sequence[MoleculeOutcome], records: Sequence[dict[str, Any]], path: Path
) -> Path:
    """Write the page of the folds that were trained; return where it is."""
    first = outcomes[0]
    energies = np.concatenate([outcome.tested.energies for outcome in outcomes])
    predicted = np.concatenate([outcome.predicted for outcome in outcomes])
    means = [fold for fold in list_errors(records) if fold.method == first.setting.preset]
    report = EnergyReport(
        dataset=first.setting.dataset,
        title=first.title,
        facts=[
            ("parameters", f"{first.n_parameters:,}"),
            ("training molecules a fold", f"{first.n_train:,}"),
            ("folds", str(len(outcomes))),
            ("CPU seconds a fold", f"{means[-1].cpu_seconds:,.0f}"),
        ],
        train_errors=[],
        validation_errors=[],
        notes=[
            f"{first.n_validation:,} molecules of the training folds were held out and chose the "
            "epoch; the test fold was read after training only.",
            f"Preset {first.setting.preset} ({first.title}), seed {first.setting.seed}.",
        ],
        version=__version__,
        unit="kcal/mol",
        folds=list_errors(records),
        energies=energies,
        predicted=predicted,
        worst=_worst(outcomes),
    )
    return write_energy_page(report, path)


def list_errors(records: Sequence[dict[str, Any]]) -> list[FoldErrors]:
    """Return the errors of every method, fold by fold and their means where there are several."""
    found = []
    for method in dict.fromkeys(record["method"] for record in records):
        mine = [record for record in records if record["method"] == method]
        rows = [[record[key] for key in ("mae", "rmse", "cpu_seconds")] for record in mine]
        found += [
            FoldErrors(method, str(record["fold"]), *row)
            for record, row in zip(mine, rows, strict=True)
        ]
        if len(mine) > 1:
            found.append(FoldErrors(method, "mean", *np.mean(rows, axis=0).tolist()))
    return found


def _worst(outcomes: Sequence[MoleculeOutcome]) -> list[MissedMolecule]:
    missed = [
        MissedMolecule(name, int(row), float(energy), float(predicted))
        for outcome in outcomes
        for name, row, energy, predicted in zip(
            name_molecules(outcome.tested.molecules),
            outcome.rows,
            outcome.tested.energies,
            outcome.predicted,
            strict=True,
        )
    ]
    return sorted(missed, key=lambda of: -abs(of.predicted - of.energy))[:SHOWN]
