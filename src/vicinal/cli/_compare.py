"""``vicinal compare``: does a learned metric help on these data?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli
from vicinal.cli._console import name_options

Option = typer.Option


def compare(
    data: cli.Data,
    target: cli.Target = None,
    methods: cli.Methods = None,
    k: Annotated[str, Option("--k", help="Numbers of neighbours, separated by commas.")] = "3,7",
    references: Annotated[
        bool | None,
        Option(
            "--references/--no-references",
            help="Measure a forest, an SVM and the like too; or no model but neighbours.",
            show_default="boosting and a linear model, where they are quick",
        ),
    ] = None,
    protocol: Annotated[
        str, Option(help="Which rows test: auto, official, kfold, repeated, grouped or time.")
    ] = "auto",
    folds: Annotated[
        int | None,
        Option(
            help="Folds, for kfold, grouped and time.", show_default="5; of large tables 1 of them"
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        Option(
            help="How often rows are cut into folds; random splits, for repeated.",
            show_default="1, where fits take milliseconds 10; of repeated 10, of large tables 1",
        ),
    ] = None,
    scale: cli.Scale = "auto",
    pca: cli.Components = None,
    task: cli.TaskName = None,
    impute: cli.Impute = False,
    drop: cli.Drop = None,
    features: cli.Features = None,
    keep: cli.Keep = None,
    categories: cli.Categories = None,
    id: cli.Id = None,
    groups: cli.Groups = None,
    weights: cli.Weights = None,
    missing: cli.Missing = None,
    sheet: cli.Sheet = None,
    score: Annotated[
        str | None,
        Option(
            help="What is ranked: error or balanced for classes; nmse, r2, rmse or mae.",
            show_default="error; nmse to regress",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        Option(
            help="Take a random sample of so many rows.",
            show_default="all; of a text of more than 100 MB 20,000",
        ),
    ] = None,
    seed: Annotated[int, Option(help="Seed of folds, samples and learners.")] = 0,
    jobs: cli.AllJobs = None,
    out: cli.Out = None,
    fresh: cli.Fresh = False,
    json: cli.JsonCopy = None,
    no_report: Annotated[bool, Option("--no-report", help="Do not write the page.")] = False,
    open: Annotated[bool, Option("--open", help="Show the page in a browser.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print the table alone.")] = False,
) -> None:
    """Compare learned metrics with the Euclidean distance, on the same folds.

    Every result is kept in the run folder as it comes. Stop at any moment
    and the same command goes on from there. At the end the folder holds
    results.json and report.html.

    Example: vicinal compare flowers.csv --target species

    Example: vicinal compare prices.xlsx --target price --score mae --drop notes
    """
    cli.check_output(json, "--json")
    names = cli.split_methods(methods)
    from vicinal.runs import count_processors

    roles = cli.name_roles(
        drop=drop, features=features, keep=keep, categories=categories,
        id=id, groups=groups, weights=weights, missing=missing, sheet=sheet,
    )  # fmt: skip
    asked: dict[str, Any] = {
        "methods": names, "k": cli.split_numbers(k), "references": references, "n_folds": folds,
        "protocol": protocol, "n_repeats": repeats, "scale": scale, "n_components": pca,
        "task": task, "impute": impute, "limit": limit, "random_state": seed, "score": score,
        "n_jobs": jobs or count_processors(), "out": True if out is None else out, "fresh": fresh,
    }  # fmt: skip
    with cli.standard_input(data) as place:
        comparison = _run(place, target, asked | roles, page=not no_report, quiet=quiet)
    notes = tuple(name_options(note) for note in comparison.notes)
    comparison = replace(comparison, command=cli.command_line(), notes=notes)
    _show(comparison, json, page=not no_report, quiet=quiet)
    if not quiet and comparison.best is not None and data != "-":
        _say_next(comparison)
    if open and not no_report:
        typer.launch((comparison.folder / "report.html").resolve().as_uri())
    asked_for = {name if ":" in name else name.lower() for name in names or ()}
    rows = [row for row in comparison.rows if not asked_for or row.method in asked_for]
    if not any(row.measured for row in rows):
        raise typer.Exit(1)


def _run(data: str, target: str | None, asked: dict[str, Any], *, page: bool, quiet: bool) -> Any:
    from vicinal.cli._console import running

    with running(quiet=quiet) as display:
        display.say(f"reading {data}")
        from vicinal.comparison import compare

        if page:
            Thread(target=_load_page, daemon=True).start()
        return compare(data, target, **asked, listener=display)


def _say_next(found: Any) -> None:
    """Print the command that fits what was found."""
    import shlex

    model = f"{Path(found.dataset).stem}.vicinal"
    command = shlex.join(["vicinal", "fit", str(found.folder), "--out", model])
    cli.say(f"next: {command}", err=False)


def _load_page() -> None:
    """Load what the page is made with, while workers measure."""
    from vicinal.report import render_page  # noqa: F401


def _show(found: Any, json: Path | None, *, page: bool, quiet: bool) -> None:
    from vicinal.cli._console import make_console
    from vicinal.report import render_table

    output = make_console()
    output.print(render_table(found))
    output.print()
    files = {found.folder / "results.json": found.to_json}
    files |= {json: found.to_json} if json is not None else {}
    files |= {found.folder / "report.html": found.report} if page else {}
    for file, write in files.items():
        with cli.saving(file):
            write(file)
        if not quiet:
            output.print(str(file), markup=False, soft_wrap=True)
