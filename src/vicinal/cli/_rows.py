"""``vicinal rows``: rows that join a model's database, or leave it, without a refit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli
from vicinal.cli._predict import load_with_rows

Option = typer.Option
Out = Annotated[
    Path | None, Option("--out", "-o", help="Write the model here instead of back to MODEL.")
]

rows = typer.Typer(help="Rows that join or leave a model, without a refit.", no_args_is_help=True)

# How far, in the largest distance or 1, a row may seem to be from itself.
SAME = 1e-9


@rows.command("add")
def add(model: cli.ModelFile, data: cli.Data, out: Out = None, sheet: cli.Sheet = None) -> None:
    """Add the rows of DATA, with their targets, to those a model asks.

    The next answer is as if they had always been among its rows. The metric, k and temperature stay
    as they were fitted; where the rows that join are predicted clearly worse than those the fit
    held out, a line says so: it is time to fit anew.

    Example: vicinal rows add flowers.vicinal new.csv
    """
    fitted, facts, table = _load(model, data, out, sheet)
    target = _targets(table, facts)
    predictor, n_before = fitted[-1], fitted[-1].n_samples_fit_
    predictor.add_rows(fitted[:-1].transform(table.features), target)
    facts = {**facts, "n_train": predictor.n_samples_fit_, **_extended(facts, table)}
    _save(model if out is None else out, fitted, facts)
    n_added = predictor.n_samples_fit_ - n_before
    cli.say(f"{n_added:,} rows joined {n_before:,}; the metric is as it was", err=False)
    drift = predictor.drift_ if "held_out_rows_" in vars(predictor) else 0.0
    usual = getattr(predictor, "_usual_loss", 0.0)
    if drift > usual > 0:
        cli.say("note: they are predicted far worse than the rows the fit held out; fit anew.")


@rows.command("remove")
def remove(model: cli.ModelFile, data: cli.Data, out: Out = None, sheet: cli.Sheet = None) -> None:
    """Take the rows of DATA out of those a model asks, and out of its file.

    Rows are found by their id where the model was fitted with one, else by being equal to a
    training row in all that the distance sees (and in the target, where DATA has it). The metric
    was learned with them, and stays so until the next fit.

    Example: vicinal rows remove flowers.vicinal gone.csv
    """
    fitted, facts, table = _load(model, data, out, sheet)
    predictor, n_before = fitted[-1], fitted[-1].n_samples_fit_
    numbers = _find_by_id(facts, table) if facts.get("ids") else _find_equal(fitted, facts, table)
    predictor.remove_rows(numbers)
    left = [i for i in range(n_before) if i not in set(numbers)]
    cells = {name: [texts[i] for i in left] for name, texts in (facts.get("cells") or {}).items()}
    facts = {**facts, "n_train": len(left), "cells": cells}
    if facts.get("ids"):
        facts["ids"] = [facts["ids"][i] for i in left]
    _save(model if out is None else out, fitted, facts)
    cli.say(f"{len(numbers):,} rows left; {len(left):,} stay; the metric is as it was", err=False)


def _load(
    model: Path, data: str, out: Path | None, sheet: str | None
) -> tuple[Any, dict[str, Any], Any]:
    cli.check_output(out, "--out", [data])
    with cli.standard_input(data) as place, cli.working(f"reading {model} and {data}"):
        fitted, facts, table = load_with_rows(model, place, "all", sheet)
    return fitted, facts, table


def _targets(table: Any, facts: dict[str, Any]) -> Any:
    """Return the targets of the rows; refuse rows without any."""
    from vicinal.data import class_names, target_numbers

    if table.target is None or table.target.isna().any():
        raise ValueError(
            f"rows that join need their target, the column {facts['target']!r}, in every row."
        )
    if facts["task"] == "classification":
        return class_names(table.target)
    return target_numbers(table.target)


def _extended(facts: dict[str, Any], table: Any) -> dict[str, Any]:
    """Return what the file tells of each row, with the new ones behind."""
    from vicinal.data.tables import as_texts

    n_new = len(table.features)
    more: dict[str, Any] = {}
    if facts.get("cells"):
        more["cells"] = {
            name: [
                *texts,
                *(
                    ["" if t is None else t for t in as_texts(table.features[name])]
                    if name in table.features
                    else [""] * n_new
                ),
            ]
            for name, texts in facts["cells"].items()
        }
    if facts.get("ids"):
        ids = [""] * n_new if table.parts.ids is None else table.parts.ids.tolist()
        more["ids"] = [*facts["ids"], *ids]
    return more


def _find_by_id(facts: dict[str, Any], table: Any) -> list[int]:
    """Return the training rows that the ids of a table name."""
    if table.parts.ids is None:
        raise ValueError(f"rows are found by their id; the column {facts['id']!r} is absent.")
    places = {str(name): number for number, name in enumerate(facts["ids"])}
    ids = [str(name) for name in table.parts.ids]
    unknown = [name for name in ids if name not in places]
    if unknown:
        raise ValueError(f"no row of the model has the id {unknown[0]!r}.")
    return sorted({places[name] for name in ids})


def _find_equal(fitted: Any, facts: dict[str, Any], table: Any) -> list[int]:
    """Return the training rows that equal the rows of a table; refuse rows that equal none."""
    import numpy as np

    from vicinal.metric.learner import maps_of

    predictor = fitted[-1]
    if maps_of(predictor.metric_).space == "hamming":
        raise ValueError("codes do not tell rows apart; fit with an id column to remove rows.")
    prepared = fitted[:-1].transform(table.features)
    farthest = float(predictor.kneighbors(prepared, 1)[0].max(initial=1.0))
    neighborhoods = predictor.radius_neighbors(
        prepared, SAME * max(1.0, farthest), return_distance=False
    )
    targets = None if table.target is None or table.target.isna().any() else _targets(table, facts)
    numbers: set[int] = set()
    for row, near in enumerate(neighborhoods):
        same = near if targets is None else near[predictor.targets_of(near) == targets[row]]
        if not len(same):
            raise ValueError(f"row {row} equals no row of the model; nothing was removed.")
        numbers.update(np.asarray(same).tolist())
    return sorted(numbers)


def _save(path: Path, fitted: Any, facts: dict[str, Any]) -> None:
    from vicinal.models import save_model

    with cli.saving(path):
        save_model(fitted, path, **facts)
