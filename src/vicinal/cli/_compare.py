"""``vicinal compare``: does a learned metric help on these data?"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.methods._table import METHODS

Option = typer.Option
METHODS_HELP = (
    f"Methods, separated by commas: {', '.join(method.name for method in METHODS)}, "
    "or module:Class for a learner of your own."
)


def compare(
    data: Annotated[
        str, typer.Argument(help="A known data set, or a CSV, Parquet or NPZ file.", metavar="DATA")
    ],
    target: Annotated[str | None, Option(help="The column to predict, for a file.")] = None,
    methods: Annotated[
        str | None,
        Option(help=METHODS_HELP, show_default="all that suit the task"),
    ] = None,
    k: Annotated[str, Option("--k", help="Numbers of neighbours, separated by commas.")] = "3,7",
    protocol: Annotated[
        str, Option(help="Which rows test: auto, official, kfold, repeated or grouped.")
    ] = "auto",
    folds: Annotated[int, Option(help="Folds, for kfold and grouped.")] = 5,
    repeats: Annotated[int, Option(help="Random splits, for repeated.")] = 10,
    scale: Annotated[
        str, Option(help="zscore, histogram, unit (rows of length 1) or none.")
    ] = "zscore",
    pca: Annotated[int | None, Option(help="Keep so many principal components.")] = None,
    task: Annotated[str | None, Option(help="classification or regression, for a file.")] = None,
    impute: Annotated[bool, Option("--impute", help="Fill in missing values of a file.")] = False,
    limit: Annotated[int | None, Option(help="Take a random sample of so many rows.")] = None,
    seed: Annotated[int, Option(help="Seed of folds, samples and learners.")] = 0,
    jobs: Annotated[int, Option(help="Processes to work in.")] = 1,
    out: Annotated[Path | None, Option(help="The run folder.", show_default=False)] = None,
    fresh: Annotated[bool, Option("--fresh", help="Forget an earlier run and start over.")] = False,
    json: Annotated[Path | None, Option("--json", help="Write the results here too.")] = None,
    no_report: Annotated[bool, Option("--no-report", help="Do not write the page.")] = False,
) -> None:
    """Compare learned metrics with the Euclidean distance, on the same folds.

    Every result is kept in the run folder as it comes. Stop at any moment
    and the same command goes on from there. At the end the folder holds
    results.json and report.html.
    """
    from vicinal.cli._console import explain_stop, make_console
    from vicinal.comparison import find_source, plan_comparison
    from vicinal.runs import RunFolder

    check_jobs(jobs)
    check_output(json)
    if methods is not None and ":" in methods:
        sys.path.insert(0, str(Path.cwd()))  # a learner of one's own lies where one works
    console = make_console(stderr=True)
    source = find_source(data, target=target, task=task, impute=impute, limit=limit)
    # A known data set that must be fetched shows its own progress.
    with console.status(f"reading {data}") if source.path else nullcontext():
        plan = plan_comparison(
            source,
            methods=None if methods is None else split_names(methods),
            ks=split_numbers(k),
            preparation={"scale": scale, "n_components": pca},
            protocol=protocol,
            n_folds=folds,
            n_repeats=repeats,
            seed=seed,
        )
    path = out or plan.default_folder
    with explain_stop(console, path), RunFolder(path, plan.configuration, fresh=fresh) as folder:
        asked = _run(plan, folder, jobs, json, page=not no_report)
    if not asked:
        raise typer.Exit(1)


def _run(plan: Any, folder: Any, jobs: int, json: Path | None, *, page: bool) -> bool:
    """Run, print, write; return whether anything asked for was measured."""
    from vicinal.cli._console import RunDisplay, make_console
    from vicinal.comparison import run_comparison, write_outputs
    from vicinal.report import render_table

    errors, output = make_console(stderr=True), make_console()
    with RunDisplay(errors) as display:
        comparison = run_comparison(
            plan, folder, jobs=jobs, exhibit=page, listener=display, say=display.say
        )
    output.print(render_table(comparison))
    written = write_outputs(comparison, plan, folder.path, page=page, copy=json)
    output.print()
    for file in written:
        output.print(str(file), markup=False, soft_wrap=True)
    return plan.succeeded(comparison)


def split_names(text: str) -> list[str]:
    """Return the names of a list separated by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError("--methods names no method.")
    return names


def split_numbers(text: str, option: str = "--k") -> list[int]:
    """Return the whole numbers of a list separated by commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option} takes whole numbers separated by commas, such as 3,7; got {text!r}."
        ) from None


def check_jobs(jobs: int) -> None:
    """Refuse fewer than one process."""
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, got {jobs}.")


def check_output(path: Path | None) -> None:
    """Refuse a file that could not be written, before hours are spent on its contents."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"--json {path} is a folder; give the name of a file.")
    if not path.resolve().parent.is_dir():
        raise ValueError(f"--json {path}: there is no folder {path.resolve().parent}.")
