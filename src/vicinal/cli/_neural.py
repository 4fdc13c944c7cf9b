"""``vicinal neural train``: which loss trains a small network best for k-NN?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli import _options as cli

if TYPE_CHECKING:
    from rich.table import Table

Option = typer.Option

neural = typer.Typer(
    help="Small networks trained for k-NN (needs PyTorch).",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@neural.callback()
def _group() -> None:
    """Small networks trained for k-NN (needs PyTorch)."""


@neural.command("train")
def train(
    source: Annotated[
        str, typer.Argument(help="mnist, usps, or a folder CLASS/FILE.", metavar="SOURCE")
    ],
    losses: Annotated[
        str | None,
        Option(
            help="Losses with options, separated by blanks: 'triplet:margin=0.2 neighborhood'.",
            show_default="gerrymandering, neighborhood, triplet, contrastive, multi-similarity",
        ),
    ] = None,
    rows: Annotated[int, Option(help="Rows to train on, at most.")] = 10_000,
    epochs: Annotated[int, Option(help="Epochs of every loss.", min=1)] = 6,
    batch: Annotated[int, Option(help="Rows of a step.", min=2)] = 200,
    rate: Annotated[float, Option(help="Learning rate of every loss.")] = 3e-3,
    k: Annotated[str, Option("--k", help="Numbers of neighbours.")] = "1,5,30",
    seed: Annotated[int, Option(help="Seed of rows and weights.")] = 0,
    out: cli.Out = None,
    fresh: cli.Fresh = False,
    json: cli.JsonCopy = None,
) -> None:
    """Train one small network with each of several losses, and compare their k-NN errors.

    All losses have the same rows, steps and rate. Stop at any moment and the same command goes on
    to the very same weights.

    Example: vicinal neural train mnist --rows 5000
    """
    from vicinal.cli._console import explain_stop, make_console
    from vicinal.runs import RUNS, RunFolder

    try:
        import torch  # noqa: F401
    except ImportError:
        raise ValueError("networks need PyTorch: pip install 'vicinal[torch]'") from None
    from vicinal.neural.pictures import LOSSES, Budget, outcome_record, read_outcome, read_parts

    cli.check_output(json)
    ks = tuple(cli.split_numbers(k))
    if min(ks) < 1:
        raise ValueError(f"--k {k}: a number of neighbours is at least 1.")
    names = LOSSES if losses is None else tuple(losses.split())
    if not names:
        raise ValueError("--losses names nothing.")
    budget = Budget(rows, epochs, batch, rate, seed)
    console, path = make_console(stderr=True), out or RUNS / f"neural-{Path(source).name}"
    settings = {"version": __version__, "source": source, "ks": list(ks), **asdict(budget)}
    parts = read_parts(source, rows, seed)
    with explain_stop(console, path), RunFolder(path, settings, fresh=fresh) as run:
        for loss in names:
            if not run.measured(loss):
                run.add([outcome_record(_train(loss, parts, budget, ks, path, console))])
        outcomes = [read_outcome(run.known[loss]) for loss in names]
    make_console().print(_table(source, outcomes))
    content = {**settings, "outcomes": [asdict(outcome) for outcome in outcomes]}
    for file in (path / "results.json", json):
        cli.write_json(file, content)


def _train(
    loss: str, parts: tuple[Any, Any], budget: Any, ks: tuple[int, ...], path: Path, console: Any
) -> Any:
    from vicinal.neural.pictures import train_with

    file = path / f"{loss.replace(':', '-').replace(',', '-')}.checkpoint"

    def report(step: Any) -> None:
        if step.finished is not None:
            console.print(
                f"{loss}: epoch {step.epoch + 1} of {step.n_epochs}, loss {step.finished.loss:.4f}",
                markup=False, highlight=False,
            )  # fmt: skip

    outcome = train_with(loss, *parts, budget, ks=ks, checkpoint=file, listener=report)
    file.unlink(missing_ok=True)
    return outcome


def _table(source: str, outcomes: list[Any]) -> Table:
    from rich.table import Table

    table = Table(title=f"{source}: k-NN error, %", box=None, title_justify="left")
    table.add_column("loss")
    for head in (*(f"k = {k}" for k in outcomes[0].errors), "CPU s"):
        table.add_column(head, justify="right")
    for outcome in outcomes:
        errors = [f"{100 * error:.2f}" for error in outcome.errors.values()]
        table.add_row(outcome.loss, *errors, f"{outcome.cpu_seconds:.1f}")
    return table
