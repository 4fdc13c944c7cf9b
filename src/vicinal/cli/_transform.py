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
        Path | None,
        typer.Option("--out", "-o", help="Write the coordinates here: CSV, or an array (.npy)."),
    ] = None,
    split: cli.Split = "all",
    queries: Annotated[
        bool, typer.Option("--queries", help="Map the rows as queries are mapped.")
    ] = False,
) -> None:
    """Map rows into the learned space, for other tools: a line a row, a column a component.

    Plain Euclidean distances there are the learned ones. Rows count from 0. A model of
    `vicinal adapt` maps files of vectors.

    Example: vicinal transform flowers.vicinal new.csv --out mapped.csv

    Example: vicinal transform search.vicinal questions.npy --queries --out mapped.npy
    """
    cli.check_output(out, "--out", [data, model])
    from vicinal.models import read_metadata

    if read_metadata(model).get("kind") == "search":
        _transform_vectors(model, data, out, queries=queries)
        return
    with cli.standard_input(data) as place, cli.working(f"reading {model} and {data}"):
        fitted, _, rows = load_with_rows(model, place, split)
    with cli.working(f"mapping {len(rows.features):,} rows"), cli.noting():
        mapped = _map_rows(fitted, rows.features, queries=queries)
    _write(mapped, out, None if rows.parts.ids is None else rows.parts.ids.tolist())


def _transform_vectors(model: Path, data: str, out: Path | None, *, queries: bool) -> None:
    """Map a file of vectors by a model of ``vicinal adapt``."""
    from vicinal.models import load_model
    from vicinal.search.vectors import read_vectors

    with cli.working(f"reading {model} and {data}"):
        metric, file = load_model(model), read_vectors(data)
    with cli.working(f"mapping {len(file.vectors):,} rows"), cli.noting():
        mapped = (metric.transform_queries if queries else metric.transform)(file.vectors)
    _write(mapped, out, file.ids)


def _write(mapped: Any, out: Path | None, ids: Any) -> None:
    """Write coordinates as CSV, or as an array where the file's name says so."""
    if out is not None and out.suffix == ".npy":
        import io

        import numpy as np

        buffer = io.BytesIO()
        np.save(buffer, np.asarray(mapped), allow_pickle=False)
        cli.write_file(out, buffer.getvalue())
    else:
        named = [] if ids is None else ["id"]
        components = (f"component {number}" for number in range(1, mapped.shape[1] + 1))
        names = [[]] * len(mapped) if ids is None else [[each] for each in ids]
        lines = ([i, *names[i], *values] for i, values in enumerate(mapped.tolist()))
        text = cli.csv_text(["row", *named, *components], lines)
        if out is None:
            cli.print_text(text)
            return
        cli.write_file(out, text)
    cli.say(f"{len(mapped):,} rows, {mapped.shape[1]} components: {out}", err=False)


def _map_rows(fitted: Any, features: Any, *, queries: bool) -> Any:
    prepared = fitted[:-1].transform(features)
    metric = fitted[-1].metric_
    if metric is None:
        return prepared
    return (metric.transform_queries if queries else metric.transform)(prepared)
