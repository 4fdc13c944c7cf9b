"""``vicinal bench``: what does each method cost here, and how does that grow with the rows?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli._options import (
    Data,
    Fresh,
    JsonCopy,
    Methods,
    Out,
    Target,
    check_output,
    find_own_learners,
    split_names,
    split_numbers,
    write_json,
)

if TYPE_CHECKING:
    from rich.table import Table

Option = typer.Option


def bench(
    data: Data = "digits",
    target: Target = None,
    methods: Methods = None,
    sizes: Annotated[
        str | None,
        Option(help="Numbers of rows to sample, separated by commas.", show_default=False),
    ] = None,
    k: Annotated[int, Option("--k", help="Number of neighbours.")] = 3,
    seed: Annotated[int, Option(help="Seed of samples and learners.")] = 0,
    out: Out = None,
    fresh: Fresh = False,
    json: JsonCopy = None,
) -> None:
    """Measure the CPU-seconds and the memory of a fit as the rows grow.

    Each method is fitted on samples of rising size; the growth is the slope of log time against
    log rows (1 is linear, 2 quadratic). Compilation is done beforehand and not counted.
    """
    from vicinal.cli._console import RunDisplay, describe_cell_of_many, explain_stop, make_console
    from vicinal.comparison import find_source, measure_growth, plan_growth
    from vicinal.runs import RUNS, RunFolder, run_cells

    check_output(json)
    source = find_source(data, target=target)
    names = None if methods is None else split_names(methods)
    find_own_learners(names or ())
    rows = None if sizes is None else split_numbers(sizes, "--sizes")
    cells = plan_growth(source, rows, methods=names, k=k, seed=seed)
    path = out or RUNS / f"bench-{Path(source.name).stem}"
    errors, output = make_console(stderr=True), make_console()
    with (
        RunDisplay(errors, describe_cell_of_many) as display,
        explain_stop(errors, display),
        RunFolder(path, fresh=fresh) as folder,
    ):
        records = run_cells(cells, folder, listener=display)
    growths = measure_growth(records)
    output.print(_table(growths))
    write_json(json, {"version": __version__, "records": [_as_record(r) for r in records]})
    if not growths:
        raise typer.Exit(1)


def _table(growths: list[Any]) -> Table:
    from rich.table import Table

    table = Table(title="CPU-seconds of a fit", box=None, title_justify="left")
    table.add_column("method")
    sizes = sorted({n for growth in growths for n in growth.n_train})
    for rows in sizes:
        table.add_column(f"{rows:,} rows", justify="right")
    table.add_column("growth", justify="right")
    table.add_column("peak MB", justify="right")
    for growth in growths:
        slope = "" if growth.exponent is None else f"n^{growth.exponent:.1f}"
        taken = dict(zip(growth.n_train, growth.fit_cpu_seconds, strict=True))
        seconds = [f"{taken[rows]:.2f}" if rows in taken else "failed" for rows in sizes]
        table.add_row(growth.method, *seconds, slope, f"{max(growth.peak_mb):.0f}")
    return table


def _as_record(record: dict[str, Any]) -> dict[str, Any]:
    """A measurement under the names all commands use; one fold has no spread."""
    return {**record, "error_mean": record.get("error"), "error_sd": None}
