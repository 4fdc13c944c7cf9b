"""``vicinal transform``: rows in the learned space, where nearness is plain distance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli
from vicinal.cli._predict import load_with_rows


def transform(
    model: cli.ModelFile,
    data: cli.Data,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the coordinates here as CSV.")
    ] = None,
    split: cli.Split = "all",
) -> None:
    """Map rows into the learned space, for other tools: a line a row, a column a component.

    Plain Euclidean distances there are the learned ones. Rows count from 0.

    Example: vicinal transform flowers.vicinal new.csv --out mapped.csv
    """
    cli.check_output(out, "--out", [data, model])
    with cli.standard_input(data) as place, cli.working(f"reading {model} and {data}"):
        fitted, _, rows = load_with_rows(model, place, split)
    with cli.working(f"mapping {len(rows.features):,} rows"), cli.noting():
        mapped = _map_rows(fitted, rows.features)
    named = [] if rows.parts.ids is None else ["id"]
    header = ["row", *named, *(f"component {number}" for number in range(1, mapped.shape[1] + 1))]
    ids = [[]] * len(mapped) if rows.parts.ids is None else [[n] for n in rows.parts.ids.tolist()]
    lines = ([i, *ids[i], *values] for i, values in enumerate(mapped.tolist()))
    text = cli.csv_text(header, lines)
    if out is None:
        cli.print_text(text)
    else:
        cli.write_file(out, text)
        cli.say(f"{len(mapped):,} rows, {mapped.shape[1]} components: {out}", err=False)


def _map_rows(fitted: Any, features: Any) -> Any:
    prepared = fitted[:-1].transform(features)
    metric = fitted[-1].metric_
    return prepared if metric is None else metric.transform(prepared)
