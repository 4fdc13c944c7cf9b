"""``vicinal compare``: does a learned metric help on these data?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli._options import (
    Data,
    Fresh,
    Impute,
    Jobs,
    JsonCopy,
    Methods,
    Out,
    Target,
    TaskName,
    check_jobs,
    check_output,
    find_own_learners,
    split_names,
    split_numbers,
)

Option = typer.Option


def compare(
    data: Data,
    target: Target = None,
    methods: Methods = None,
    k: Annotated[str, Option("--k", help="Numbers of neighbours, separated by commas.")] = "3,7",
    references: Annotated[
        bool, Option("--references", help="Measure boosting, a forest, an SVM and the like too.")
    ] = False,
    protocol: Annotated[
        str, Option(help="Which rows test: auto, official, kfold, repeated or grouped.")
    ] = "auto",
    folds: Annotated[int, Option(help="Folds, for kfold and grouped.")] = 5,
    repeats: Annotated[int, Option(help="Random splits, for repeated.")] = 10,
    scale: Annotated[
        str, Option(help="zscore, histogram, unit (rows of length 1) or none.")
    ] = "zscore",
    pca: Annotated[int | None, Option(help="Keep so many principal components.")] = None,
    task: TaskName = None,
    impute: Impute = False,
    limit: Annotated[int | None, Option(help="Take a random sample of so many rows.")] = None,
    seed: Annotated[int, Option(help="Seed of folds, samples and learners.")] = 0,
    jobs: Jobs = 1,
    out: Out = None,
    fresh: Fresh = False,
    json: JsonCopy = None,
    no_report: Annotated[bool, Option("--no-report", help="Do not write the page.")] = False,
) -> None:
    """Compare learned metrics with the Euclidean distance, on the same folds.

    Every result is kept in the run folder as it comes. Stop at any moment
    and the same command goes on from there. At the end the folder holds
    results.json and report.html.
    """
    check_jobs(jobs)
    check_output(json, "--json")
    names = None if methods is None else split_names(methods)
    find_own_learners(names or ())
    asked: dict[str, Any] = {
        "methods": names, "k": split_numbers(k), "references": references, "protocol": protocol,
        "n_folds": folds, "n_repeats": repeats, "scale": scale, "n_components": pca, "task": task,
        "impute": impute, "limit": limit, "random_state": seed, "n_jobs": jobs,
        "out": True if out is None else out, "fresh": fresh,
    }  # fmt: skip
    found = _run(data, target, asked)
    _show(found, json, page=not no_report)
    asked_for = {name if ":" in name else name.lower() for name in names or ()}
    rows = [row for row in found.rows if not asked_for or row.method in asked_for]
    if not any(row.measured for row in rows):
        raise typer.Exit(1)


def _run(data: str, target: str | None, asked: dict[str, Any]) -> Any:
    from vicinal.cli._console import RunDisplay, explain_stop, make_console

    console = make_console(stderr=True)
    with RunDisplay(console) as display, explain_stop(console, display):
        display.say(f"reading {data}")
        from vicinal.comparison import compare

        return compare(data, target, **asked, listener=display)


def _show(found: Any, json: Path | None, *, page: bool) -> None:
    from vicinal.cli._console import make_console
    from vicinal.cli._options import saving
    from vicinal.report import render_table

    output = make_console()
    output.print(render_table(found))
    output.print()
    files = {found.folder / "results.json": found.to_json}
    files |= {json: found.to_json} if json is not None else {}
    files |= {found.folder / "report.html": found.report} if page else {}
    for file, write in files.items():
        with saving(file):
            write(file)
        output.print(str(file), markup=False, soft_wrap=True)
