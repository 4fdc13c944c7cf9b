"""``vicinal export``: a model, and documents under it, for a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli

Option = typer.Option
TARGETS = (
    "faiss, pgvector, duckdb, lancedb, qdrant, usearch, sqlite-vec, parquet or onnx"  # see search
)


def export(
    model: cli.ModelFile,
    to: Annotated[str, Option("--to", help=f"The store: {TARGETS}.", metavar="TARGET")],
    out: Annotated[Path, Option("--out", "-o", help="The file or folder to write.")],
    documents: Annotated[
        str | None,
        Option(
            "--documents",
            help="What to store: vectors, as for adapt; the table, of a model of `vicinal fit`.",
            show_default="the map alone: pgvector, duckdb and onnx",
        ),
    ] = None,
    table: Annotated[str, Option(help="What the table or collection is called.")] = "documents",
) -> None:
    """Write a learned metric for the store that searches.

    faiss, pgvector, duckdb and onnx take queries as they come; the others take queries that
    `vicinal transform --queries` has mapped. Of a model of `vicinal fit` and a table with its
    target, an onnx graph also gives the vote of the k nearest.

    Example: vicinal export search.vicinal --to pgvector --documents chunks.npy --out chunks.sql
    """
    with cli.working(f"reading {model}"):
        from vicinal.search import export_metric

        metric, rows, more = _load(model, documents)
    if to != "onnx":
        more.pop("targets", None)
    with cli.working(f"writing {out}"), cli.noting(), cli.saving(out):
        export_metric(metric, to, rows, out=out, table=table, **more)
    stored = "the map" if rows is None else f"{len(rows):,} documents"
    stored += f" and the vote of {more['n_neighbors']}" if "targets" in more else ""
    cli.say(f"{stored} for {to}: {out}", err=False)
    statement = _statement(out)
    if statement:
        cli.say(f"ask: {statement}", err=False)


def _load(model: Path, documents: str | None) -> tuple[Any, Any, dict[str, Any]]:
    """Return a model's metric, the documents as it takes them, and their numbers or targets."""
    from vicinal.models import load_model, read_metadata

    if "target" in read_metadata(model):
        if documents is None:
            fitted = load_model(model)
            return fitted[-1].metric_, None, {}
        from vicinal.cli._predict import load_with_rows

        fitted, facts, rows = load_with_rows(model, documents, "all")
        votes = {"targets": rows.target, "n_neighbors": facts["k"]}
        vectors = fitted[:-1].transform(rows.features)
        return fitted[-1].metric_, vectors, {} if rows.target is None else votes
    metric = load_model(model)
    if documents is None:
        return metric, None, {}
    from vicinal.search.vectors import read_vectors

    file = read_vectors(documents)
    ids = file.ids
    whole = ids is not None and all(isinstance(each, int) and each >= 0 for each in ids)
    if ids is not None and not whole:
        cli.say("note: the documents' ids are no whole numbers; the store counts rows from 0.")
    return metric, file.vectors, {"ids": ids} if whole else {}


def _statement(out: Path) -> str | None:
    """Return the line of a script that says how to ask."""
    if not out.is_file() or out.suffix != ".sql":
        return None
    lines = [line for line in out.read_text().splitlines() if line.startswith("-- ask: ")]
    return lines[-1].removeprefix("-- ask: ") if lines else None
