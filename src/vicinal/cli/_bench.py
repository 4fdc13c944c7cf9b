"""``vicinal bench``: what does each method cost here, and how does that grow with the rows?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli import _options as cli

if TYPE_CHECKING:
    from rich.table import Table

Option = typer.Option


def bench(
    data: cli.Data = "digits",
    target: cli.Target = None,
    methods: cli.Methods = None,
    sizes: Annotated[
        str | None,
        Option(help="Numbers of rows to sample, separated by commas.", show_default=False),
    ] = None,
    k: Annotated[int, Option("--k", help="Number of neighbours.")] = 3,
    seed: Annotated[int, Option(help="Seed of samples and learners.")] = 0,
    out: cli.Out = None,
    fresh: cli.Fresh = False,
    json: cli.JsonCopy = None,
) -> None:
    """Measure the CPU-seconds and the memory of a fit as the rows grow.

    Each method is fitted on samples of rising size; the growth is the slope of log time against
    log rows (1 is linear, 2 quadratic). Compilation is done beforehand and not counted.

    Example: vicinal bench flowers.csv --target species --methods lda,mlng
    """
    from vicinal.cli._console import describe_cell_of_many, make_console, running
    from vicinal.comparison import find_source, measure_growth, plan_growth
    from vicinal.runs import RUNS, RunFolder, run_cells

    cli.check_output(json)
    source = find_source(data, target=target)
    rows = None if sizes is None else cli.split_numbers(sizes, "--sizes")
    cells = plan_growth(source, rows, methods=cli.split_methods(methods), k=k, seed=seed)
    path = out or RUNS / f"bench-{Path(source.name).stem}"
    with running(describe_cell_of_many) as display, RunFolder(path, fresh=fresh) as folder:
        records = run_cells(cells, folder, listener=display)
    growths = measure_growth(records)
    make_console().print(_table(growths))
    # One fold has no spread; names are those that all commands use.
    measured = [
        {**record, "error_mean": record.get("error"), "error_sd": None} for record in records
    ]
    cli.write_json(json, {"version": __version__, "records": measured})
    if not growths:
        raise typer.Exit(1)


def _table(growths: list[Any]) -> Table:
    from rich.table import Table

    table = Table(title="CPU-seconds of a fit", box=None, title_justify="left")
    sizes = sorted({n for growth in growths for n in growth.n_train})
    table.add_column("method")
    for head in (*(f"{rows:,} rows" for rows in sizes), "growth", "peak MB"):
        table.add_column(head, justify="right")
    for growth in growths:
        slope = "" if growth.exponent is None else f"n^{growth.exponent:.1f}"
        taken = dict(zip(growth.n_train, growth.fit_cpu_seconds, strict=True))
        seconds = [f"{taken[rows]:.2f}" if rows in taken else "failed" for rows in sizes]
        table.add_row(growth.method, *seconds, slope, f"{max(growth.peak_mb):.0f}")
    return table
