"""``vicinal sphere train qm7`` and ``vicinal sphere predict`` on molecules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli._console import make_console
from vicinal.cli._options import csv_text, print_text, working, write_file, write_json
from vicinal.cli._sphere_molecule_page import list_errors, write_molecule_page
from vicinal.cli._sphere_runs import check_rivals, keep_records, training_run
from vicinal.sphere.molecules import (
    FOLDS,
    RIVALS,
    MoleculeOutcome,
    MoleculeSetting,
    RivalOutcome,
    are_of_molecules,
    predict_molecules,
    read_xyz,
    run_on_molecules,
    run_rivals,
)

if TYPE_CHECKING:
    from rich.console import Console


def train_molecules(
    setting: MoleculeSetting,
    fold: str,
    rivals: Sequence[str],
    out: Path | None,
    console: Console,
    *,
    fresh: bool,
    json: Path | None,
) -> None:
    """Train and test on one published fold or on all, rivals after the networks; print errors."""
    folds = _read_folds(fold)
    check_rivals(rivals, RIVALS, "molecules")
    outcomes: list[MoleculeOutcome] = []
    others: list[RivalOutcome] = []
    with training_run(setting, out, console, fresh=fresh, tell=_kcal) as (folder, display):
        for number in folds:
            chosen = replace(setting, fold=number)
            place = folder / f"fold-{number}"
            display.say(f"fold {number}")
            outcomes.append(run_on_molecules(chosen, place, listener=display, say=display.say))
            others += run_rivals(rivals, chosen, display.say)
        records = [trained.record() for trained in outcomes] + [rival.record() for rival in others]
        keep_records(records, folder, json)
        page = write_molecule_page(outcomes, records, folder / "report.html")
    _show(records, folder, page)


def predict_energies(network: Path, data: Path, out: Path | None, json: Path | None) -> None:
    """Print the energies of the molecules of an XYZ file, with their spread over networks."""
    if not are_of_molecules(network):
        raise ValueError(f"{network} is a network on images, and {data} holds molecules.")
    with working(f"reading {data}"):
        molecules = read_xyz(data)
    with working(f"predicting {len(molecules):,} molecules"):
        found = predict_molecules(network, molecules)
    spread = found.spread
    header = ("row", "energy", *(() if spread is None else ("spread",)))
    columns = [found.mean, *([] if spread is None else [spread])]
    rows = [
        (row, *(round(float(value), 3) for value in values))
        for row, values in enumerate(zip(*columns, strict=True))
    ]
    records = [dict(zip(header, row, strict=True)) for row in rows]
    write_json(json, {"n_networks": len(found.by_network), "predictions": records})
    if out is None:
        print_text(csv_text(header, rows))
    else:
        write_file(out, csv_text(header, rows))


def _read_folds(text: str) -> list[int]:
    if text == "all":
        return list(range(FOLDS))
    if text not in map(str, range(FOLDS)):
        raise ValueError(f"--fold {text}: take 0 to {FOLDS - 1}, or all.")
    return [int(text)]


def _kcal(value: float) -> str:
    return f"{value:.2f} kcal/mol"


def _show(records: list[dict[str, Any]], folder: Path, page: Path) -> None:
    console = make_console()
    for errors in list_errors(records):
        fold = "mean of all folds" if errors.fold == "mean" else f"fold {errors.fold}"
        console.print(
            f"{errors.method}, {fold}: MAE {errors.mae:.2f}, RMSE {errors.rmse:.2f} kcal/mol "
            f"({errors.cpu_seconds:.0f} CPU s)",
            markup=False,
            soft_wrap=True,
        )
    console.print(f"networks: {folder}", markup=False, soft_wrap=True)
    console.print(f"report: {page}", markup=False, soft_wrap=True)
