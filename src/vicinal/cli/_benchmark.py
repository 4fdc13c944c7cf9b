"""``vicinal benchmark tables``: all methods on all tables of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli import _options as cli

if TYPE_CHECKING:
    from rich.table import Table

Option = typer.Option

benchmark = typer.Typer(
    help="Measure methods on many tables at once.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@benchmark.callback()
def _group() -> None:
    """Measure methods on many tables at once."""


@benchmark.command("tables")
def tables(
    folder: Annotated[Path, typer.Argument(help="A folder of tables.", metavar="FOLDER")],
    target: Annotated[
        str | None, Option(help="The column to predict, in every table.", show_default="y")
    ] = None,
    methods: Annotated[
        str | None,
        Option(
            help=cli.METHODS_HELP,
            show_default="what compare takes, neural, auto and all references",
        ),
    ] = None,
    k: Annotated[
        str,
        Option(
            "--k",
            help="Votes, separated by commas: numbers of neighbours; learned, a soft vote at the "
            "temperature that held-out rows choose; auto, where they choose k, weights and heads.",
        ),
    ] = "5",
    folds: Annotated[
        str,
        Option(
            help="How many of five folds are measured; auto takes five of tables below 1,500 rows, "
            "three below 6,000, else one."
        ),
    ] = "1",
    limit: Annotated[int | None, Option(help="Take so many rows of a table at most.")] = None,
    impute: Annotated[
        bool, Option("--impute", help="Fill in missing values, by the training part of each fold.")
    ] = False,
    seed: Annotated[int, Option(help="Seed of learners, samples and folds.")] = 0,
    fold_seed: Annotated[
        int | None, Option(help="Seed of folds alone.", show_default="that of learners")
    ] = None,
    jobs: cli.Jobs = 1,
    out: cli.Out = None,
    fresh: cli.Fresh = False,
    json: cli.JsonCopy = None,
) -> None:
    """Measure methods on every table of a folder: errors, ranks, and what chance leaves of them.

    Means and standard errors count tables, a value each; differences are paired with the method
    of the lowest mean rank. Every result is kept in the run folder as it comes: stop at any moment
    and the same command goes on from there. At the end the folder holds results.json, results.md
    with every figure, and a drawing of the mean ranks for each task.

    Example: vicinal benchmark tables tables/ --methods mlng,neural,hgb,forest --k auto
    """
    from vicinal.cli._console import describe_cell_of_many, make_console, running
    from vicinal.comparison import (
        benchmark_page,
        find_tables,
        plan_benchmark,
        summarize_benchmark,
    )
    from vicinal.runs import RUNS, RunFolder, run_cells

    cli.check_output(json)
    names = cli.split_methods(methods)
    path = out or RUNS / f"benchmark-{folder.resolve().name}"
    with running(describe_cell_of_many) as display:
        display.say(f"reading the tables of {folder}")
        cells = plan_benchmark(
            find_tables(folder, target, limit, impute=impute), names, ks=_votes(k), seed=seed,
            folds=_folds(folds), fold_seed=fold_seed,
        )  # fmt: skip
        with RunFolder(path, fresh=fresh) as run:
            records = run_cells(cells, run, jobs=jobs, listener=display)
    console = make_console()
    summaries = summarize_benchmark(records)
    for summary in summaries:
        for method, name, reason in summary.left_out:
            cli.say(f"{name} is in no mean, for {method} failed on it: {reason}")
        if summary.tables:
            console.print(_table(summary))
            console.print(str(_draw(summary, path)), markup=False, soft_wrap=True)
    with cli.saving(path / "results.md"):
        (path / "results.md").write_text(benchmark_page(summaries), encoding="utf-8")
    content = {"version": __version__, "records": records, "summaries": list(map(_json, summaries))}
    for file in (path / "results.json", json):
        cli.write_json(file, content)
    if not any(summary.tables for summary in summaries):
        raise typer.Exit(1)


def _votes(text: str) -> list[int | str]:
    """Return votes that are separated by commas; refuse others."""
    words = cli.split_names(text, "--k")
    try:
        return [word if word in ("learned", "auto") else int(word) for word in words]
    except ValueError:
        raise ValueError(f"--k takes whole numbers, learned and auto, got {text!r}.") from None


def _folds(text: str) -> int | str:
    """Return how many folds are measured; refuse what is neither a number nor auto."""
    if text != "auto" and not text.isdecimal():
        raise ValueError(f"--folds takes a whole number or auto, got {text!r}.")
    return text if text == "auto" else int(text)


def _table(summary: Any) -> Table:
    from rich.table import Table

    classes = summary.task == "classification"
    unit = "%" if classes else "log ratio"
    title = f"{summary.task}: {len(summary.tables)} tables"
    table = Table(title=title, box=None, title_justify="left")
    table.add_column("method")
    more = [name for name in summary.scores if name != "error"]
    behind = f"behind the first, {unit}"
    error = "error, %" if classes else "nMSE"
    for head in ("mean rank", error, behind, "better on", *more, "CPU s"):
        table.add_column(head, justify="right")
    gaps, noise = summary.differences()
    for i, method in enumerate(summary.methods):
        errors = summary.errors[:, i]
        mean = f"{100 * errors.mean():.2f}" if classes else f"{errors.mean():.4f}"
        gap = "" if i == 0 else f"{gaps[i]:+.3g} ± {noise[i]:.2g}"
        better = "" if i == 0 else f"{int((errors < summary.errors[:, 0]).sum())}"
        means = [float(summary.scores[name][:, i].mean()) for name in more]
        extra = [f"{mean:.3f}" if mean == mean else "–" for mean in means]
        seconds = f"{summary.cpu_seconds[:, i].mean():.1f}"
        table.add_row(method, f"{summary.mean_ranks[i]:.2f}", mean, gap, better, *extra, seconds)
    return table


def _draw(summary: Any, folder: Path) -> Path:
    """Draw the mean ranks; return the file."""
    import matplotlib.pyplot as plt

    from vicinal.report import plot_critical_differences

    ax = plot_critical_differences(summary.methods, summary.mean_ranks, summary.critical_difference)
    file = folder / f"ranks-{summary.task}.svg"
    figure: Any = ax.figure
    with cli.saving(file):
        figure.savefig(file)
    plt.close(figure)
    return file


def _json(summary: Any) -> dict[str, Any]:
    gaps, noise = summary.differences()
    return {
        "task": summary.task,
        "tables": list(summary.tables),
        "methods": list(summary.methods),
        "mean_ranks": summary.mean_ranks.tolist() if summary.tables else [],
        "critical_difference": summary.critical_difference if summary.tables else None,
        "scores": {
            name: [[None if value != value else value for value in row] for row in values.tolist()]
            for name, values in summary.scores.items()
        },
        "fit_cpu_seconds": summary.cpu_seconds.tolist(),
        "behind_first": gaps.tolist() if summary.tables else [],
        "standard_errors": noise.tolist() if len(summary.tables) > 1 else [],
        "left_out": [list(each) for each in summary.left_out],
    }
