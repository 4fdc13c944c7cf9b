"""``vicinal neighbors``: which training rows a model holds to be near."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli
from vicinal.cli._predict import load_with_rows

Option = typer.Option
FORMATS = ("table", "csv", "json")
MOST_IN_TABLE = 10


def neighbors(
    model: cli.ModelFile,
    data: cli.Data,
    row: Annotated[
        list[int] | None, Option("--row", help="A row of DATA, from 0; may be given again.")
    ] = None,
    k: Annotated[
        int | None, Option("--k", help="How many; as many as the model asks by default.")
    ] = None,
    format: Annotated[str, Option("--format", help="table, csv or json.")] = "table",
    html: Annotated[
        Path | None, Option("--html", help="Write a page: each row beside its neighbours.")
    ] = None,
    split: cli.Split = "all",
    sheet: cli.Sheet = None,
    formulas: cli.Formulas = False,
    json: cli.Json = None,
) -> None:
    """List the nearest training rows of each row, with their own columns.

    The columns that weigh most in the distance come first; ≠ marks another word, or a number more
    than a standard deviation away.

    Rows of DATA and of the training table count from 0. A training row among DATA has itself as
    its nearest neighbour, at distance 0 but for rounding.

    Example: vicinal neighbors flowers.vicinal new.csv --row 0 --k 5
    """
    if format not in FORMATS:
        raise ValueError(f"--format must be one of {', '.join(FORMATS)}; got {format!r}.")
    if k is not None and k < 1:
        raise ValueError(f"--k must be at least 1, got {k}.")
    from vicinal.cli._why import answers_of
    from vicinal.report import render_answers

    cli.check_output(json, "--json", [data, model])
    cli.check_output(html, "--html", [data, model])
    with cli.standard_input(data) as place, cli.working(f"reading {model} and {data}"):
        fitted, facts, rows = load_with_rows(model, place, split, sheet)
    numbers = choose_rows(
        row, len(rows.features), limit=MOST_IN_TABLE if format == "table" else None
    )
    with cli.working(f"searching among {facts['n_train']:,} rows"), cli.noting():
        neighborhoods = search(
            fitted, rows.features.iloc[numbers], numbers, facts["k"] if k is None else k
        )
    name_rows(neighborhoods, facts.get("ids"), rows.parts.ids)
    content = {"version": facts["version"], "model": facts["method"], "neighbors": neighborhoods}
    cli.write_json(json, content)
    features = rows.features.iloc[numbers]
    with cli.noting():
        predicted = [cli.plain(value) for value in fitted.predict(features)]
    answers, columns = answers_of(neighborhoods, features, facts, predicted)
    if html is not None:
        title = f"The nearest rows of {rows.name} to {facts['method']}"
        page = render_answers(answers, title=title, target=facts["target"], columns=columns)
        cli.write_file(html, page.encode("utf-8", errors="replace"))
        cli.say(f"the page of neighbours: {html}")
    if format == "json":
        import json as json_format

        cli.print_text(json_format.dumps(content, indent=1, allow_nan=False) + "\n")
    elif format == "csv":
        cli.print_text(cli.csv_text(HEADER, flatten(neighborhoods), formulas=formulas))
    else:
        _print_table(neighborhoods, facts["target"], len(rows.features), answers, columns)


def _shorten(cells: Any) -> list[str]:
    return [text if len(text) <= 24 else f"{text[:23]}…" for text in cells][:MOST_COLUMNS]


HEADER = ("row", "rank", "neighbor", "distance", "label")


def name_rows(found: list[dict[str, Any]], trained: Any, new: Any) -> None:
    """Add what rows are called, where the model or the table says so."""
    for entry in found:
        if new is not None:
            entry["id"] = str(new[entry["row"]])
        for near in entry["neighbors"] if trained else ():
            near["id"] = trained[near["row"]]


def choose_rows(asked: list[int] | None, n_rows: int, limit: int | None) -> list[int]:
    """Return the rows asked for, by default all or the first few; refuse others."""
    if not asked:
        return list(range(n_rows if limit is None else min(limit, n_rows)))
    wrong = [number for number in asked if not 0 <= number < n_rows]
    if wrong:
        raise ValueError(f"--row {wrong[0]}: the rows are 0 to {n_rows - 1}.")
    return asked


def search(fitted: Any, features: Any, asked: list[int], k: int) -> list[dict[str, Any]]:
    """Return each row's k nearest training rows as JSON values, nearest first."""
    predictor = fitted[-1]
    distances, indices = predictor.kneighbors(fitted[:-1].transform(features), k)
    labels = predictor.targets_of(indices)
    return [
        {
            "row": number,
            "neighbors": [
                {"row": int(i), "distance": float(d), "label": cli.plain(label)}
                for d, i, label in zip(distances[n], indices[n], labels[n], strict=True)
            ],
        }
        for n, number in enumerate(asked)
    ]


def flatten(found: list[dict[str, Any]]) -> list[list[Any]]:
    """Return one line for each row and neighbour."""
    return [
        [
            entry.get("id", entry["row"]),
            rank,
            near.get("id", near["row"]),
            near["distance"],
            near["label"],
        ]
        for entry in found
        for rank, near in enumerate(entry["neighbors"], start=1)
    ]


MOST_COLUMNS = 4


def _print_table(
    found: list[dict[str, Any]], target: str, n_rows: int, answers: list[Any], columns: list[Any]
) -> None:
    """Print the neighbours with their own columns, those that weigh most first."""
    from rich.table import Table

    from vicinal.cli._console import make_console

    names = [name for name, _ in columns[:MOST_COLUMNS]]
    table = Table(*HEADER[:-1], target, *names, box=None, header_style="bold")
    for column in table.columns[: len(HEADER)]:
        column.justify = "right"
    for entry, answer in zip(found, answers, strict=True):
        table.add_row(answer.name, "", "", "", f"→ {answer.answer}", *_shorten(answer.cells))
        for rank, (near, voter) in enumerate(zip(entry["neighbors"], answer.voters, strict=True)):
            cells = [f"≠ {c.text}" if c.differs else c.text for c in voter.cells]
            distance = f"{near['distance']:.6g}"
            table.add_row("", str(rank + 1), voter.name, distance, voter.label, *_shorten(cells))
    make_console().print(table)
    if len(found) < n_rows and len(found) == MOST_IN_TABLE:
        cli.say(
            f"the first {MOST_IN_TABLE} of {n_rows:,} rows; choose with --row, or use --format csv"
        )
