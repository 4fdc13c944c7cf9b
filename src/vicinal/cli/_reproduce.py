"""``vicinal reproduce``: published errors beside the ones measured here."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicinal import __version__
from vicinal.cli import _options as cli

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from vicinal.published import Experiment, Outcome

Option = typer.Option
FOLDER = Path("vicinal-runs") / "reproduce"
RECORDS = Path("docs") / "results"
PICTURES = (".svg", ".png", ".pdf")
QUICK = "QUICK: at most 2,000 rows and two folds. This checks that all runs; it reproduces nothing."


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Experiments: a name, a pattern such as '*_letter_*', a table, a group such as "
            "mlng, letter or k3, several joined such as mlng:letter:k3, or all.",
            metavar="NAME...",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        bool, Option("--list", help="List the experiments (all, or those named) and exit.")
    ] = False,
    k: Annotated[
        str | None, Option("--k", help="Only these numbers of neighbours, such as 3,7.")
    ] = None,
    quick: Annotated[
        bool, Option("--quick", help="A subsample and two folds: does it run at all?")
    ] = False,
    jobs: cli.Jobs = 1,
    out: Annotated[Path, Option(help="The run folder.")] = FOLDER,
    fresh: cli.Fresh = False,
    json: cli.Json = None,
    page: Annotated[
        Path | None, Option("--page", help="Write a Markdown page to this file.")
    ] = None,
    plot: Annotated[
        Path | None, Option("--plot", help="Draw bars to this file (.svg, .png or .pdf).")
    ] = None,
    check: Annotated[
        int | None,
        Option("--check", help="Measure so many folds of earlier records again, drawn at random."),
    ] = None,
    records: Annotated[
        Path, Option("--records", help="The folder of records, as --json writes them, for --check.")
    ] = RECORDS,
    seed: Annotated[int | None, Option("--seed", help="Draws the folds of --check.")] = None,
) -> None:
    """Run published experiments again and print published beside measured.

    Every result is kept in the run folder as it comes. Stop at any moment and the same command
    goes on from there; other experiments may use the same folder. --list --json FILE writes
    the settings of each experiment and what its source leaves open. --check N measures N folds
    of earlier records again and names those that no longer hold.

    Example: vicinal reproduce mlng:letter:k3 --quick
    """
    from vicinal.published import is_of_sphere, select_experiments

    if check is not None:
        _check(names or ["all"], check, records, seed, jobs)
        return
    if not names and not show:
        raise ValueError("name experiments to run, such as mlng; see them with --list.")
    if quick and page is not None:
        raise ValueError("--page takes whole runs only; leave out --quick, or --page.")
    cli.check_output(json, "--json")
    cli.check_output(page, "--page")
    cli.check_output(plot, "--plot")
    if plot is not None and plot.suffix not in PICTURES:
        raise ValueError(f"--plot draws {', '.join(PICTURES)}, got {plot.name!r}.")
    networks = [name for name in names or () if is_of_sphere(name)]
    if networks:
        if len(networks) < len(names or ()):
            raise ValueError("networks on the sphere are trained by a command of their own.")
        _train(networks, out, show, json)
        return
    chosen = select_experiments(names or ["all"], None if k is None else cli.split_numbers(k))
    if show:
        _list(chosen, json)
        return
    outcomes = _run(chosen, out, quick=quick, jobs=jobs, fresh=fresh)
    _print(outcomes)
    _write(outcomes, json, page, plot)
    if not all(outcome.complete for outcome in outcomes):
        raise typer.Exit(1)


def _train(names: Sequence[str], out: Path, show: bool, json: Path | None) -> None:
    """Train published networks again, or list them."""
    from vicinal.published import select_trainings, train_again

    tables = select_trainings(names)
    if show:
        for table in tables:
            for row in table.rows:
                printed = ", ".join(
                    f"{column} {value:g}"
                    for column, value in zip(table.columns, row.published, strict=False)
                )
                cli.say(f"sphere:{table.name}:{row.name}  {printed or 'no figure'}", err=False)
        return
    from vicinal.cli._console import make_console
    from vicinal.cli._sphere_train import TrainingDisplay, helpers

    with TrainingDisplay(make_console(stderr=True), lambda error: f"{error:.4g}") as display:
        figures = train_again(tables, out / "sphere", helpers(), listener=display, say=display.say)
    for figure in figures:
        printed = "" if figure["published"] is None else f"published {figure['published']:g}, "
        cli.say(f"{figure['experiment']}: {printed}measured {figure['measured']:.2f}", err=False)
    cli.write_json(json, {"version": __version__, "records": figures})


def _check(names: Sequence[str], n_folds: int, place: Path, seed: int | None, jobs: int) -> None:
    """Say which of some records, drawn at random, no longer hold."""
    import secrets
    import tempfile

    from vicinal.cli._console import describe_cell_of_many, running
    from vicinal.published import check_records, draw_folds, read_results, select_experiments

    if n_folds < 1:
        raise ValueError(f"--check must be at least 1, got {n_folds}.")
    if not place.is_dir():
        raise ValueError(f"--records: there is no folder {place}.")
    experiments = select_experiments(names)
    chosen = {experiment.name for experiment in experiments}
    records = [record for record in read_results(place) if record["experiment"] in chosen]
    seed = secrets.randbelow(10**6) if seed is None else seed
    drawn = draw_folds(records, n_folds, seed)
    if not drawn:
        raise ValueError(f"{place} holds no record of these experiments that is cheap to measure.")
    with tempfile.TemporaryDirectory() as folder, running(describe_cell_of_many) as display:
        path = Path(folder) / "check"
        remeasured = check_records(drawn, experiments, path, jobs=jobs, listener=display)
    for each in remeasured:
        cli.say(each.describe(), err=False)
    moved = sum(each.moved for each in remeasured)
    far = sum(each.moved_far for each in remeasured)
    cli.say(
        f"{len(remeasured)} folds measured again: {len(remeasured) - moved} as recorded, "
        f"{moved - far} moved within noise, {far} moved. Draw the same ones by --seed {seed}.",
        err=False,
    )
    if far:
        raise typer.Exit(1)


def _list(experiments: Sequence[Experiment], json: Path | None) -> None:
    settings = [asdict(experiment) for experiment in experiments]
    cli.write_json(json, {"version": __version__, "experiments": settings})
    for experiment in experiments:
        cli.say(f"{experiment.name}  {_printed(experiment)}", err=False)


def _printed(experiment: Experiment) -> str:
    """Return the figure as the source prints it."""
    if experiment.error is None:
        return "no figure"
    spread = "" if experiment.spread is None else f" ± {experiment.spread}"
    unit = {"percent": " %", "share": ""}.get(experiment.unit, f" {experiment.unit}")
    return f"{experiment.error}{spread}{unit}"


def _run(
    chosen: Sequence[Experiment], out: Path, *, quick: bool, jobs: int, fresh: bool
) -> list[Outcome]:
    from vicinal.cli._console import describe_cell_of_many, make_console, running
    from vicinal.published import check_data, reproduce

    console = make_console(stderr=True)
    if quick:
        console.print(QUICK, style="bold yellow")
    with console.status("looking for the data sets"):
        check_data(chosen)
    with running(describe_cell_of_many) as display:
        return reproduce(chosen, out, quick=quick, jobs=jobs, fresh=fresh, listener=display)


def _print(outcomes: Sequence[Outcome]) -> None:
    from vicinal.cli._console import make_console

    console = make_console()
    if console.is_terminal:
        console.print(_table(outcomes))
    else:
        for outcome in outcomes:
            console.print(describe_outcome(outcome), markup=False, soft_wrap=True)
    _print_summary(console, outcomes)


def describe_outcome(outcome: Outcome) -> str:
    """Return one line: the name, what was published, what was measured, and the difference."""
    published, measured, difference, verdict = _figures(outcome)
    text = f"{outcome.experiment.name}: published {published}, measured {measured}"
    if outcome.errors and outcome.experiment.error is not None:
        text += f", difference {difference}"
    why = f" ({outcome.messages[0]})" if outcome.messages else ""
    return f"{text}, {verdict}{why}"


def _figures(outcome: Outcome) -> tuple[str, str, str, str]:
    """Return published, measured, difference and verdict as they are printed."""
    from vicinal.published import measured_figure, outcome_record, published_figure, signed

    percent = outcome.experiment.unit != "nmse"
    record = outcome_record(outcome)
    verdict = "quick" if outcome.quick and outcome.complete else record["verdict"]
    return (
        published_figure(outcome.experiment, record),
        measured_figure(record, percent=percent),
        signed(record["difference"], percent=percent),
        verdict or record["status"],
    )


def _table(outcomes: Sequence[Outcome]) -> Table:
    from rich.table import Table
    from rich.text import Text

    styles = {"lower": "green", "within": "green", "higher": "yellow", "quick": "dim", "ok": ""}
    title = QUICK if any(outcome.quick for outcome in outcomes) else None
    table = Table(title=title, title_style="bold yellow", header_style="bold")
    for column in ("experiment", "published", "measured", "difference", "spread", "best rival"):
        table.add_column(column, justify="left" if column in ("experiment", "spread") else "right")
    for outcome in outcomes:
        *figures, verdict = _figures(outcome)
        rival = outcome.experiment.rival
        table.add_row(
            outcome.experiment.name,
            *figures,
            Text(verdict, style=styles.get(verdict, "red")),
            "" if rival is None else f"{rival[0]} {rival[1]:g}",
        )
    return table


def _print_summary(console: Console, outcomes: Sequence[Outcome]) -> None:
    from vicinal.published import outcome_record, tally

    failed = [outcome for outcome in outcomes if not outcome.complete]
    if any(outcome.quick for outcome in outcomes):
        console.print(QUICK, style="bold yellow")
    else:
        compared = [outcome for outcome in outcomes if outcome.experiment.error is not None]
        for group, members in _by_method_and_scale(compared).items():
            sentence = tally([outcome_record(outcome) for outcome in members])
            console.print(f"{group}: {sentence}", soft_wrap=True, markup=False)
    for message in dict.fromkeys(message for outcome in failed for message in outcome.messages):
        console.print(f"failed: {message}", style="red", markup=False, soft_wrap=True)


def _by_method_and_scale(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Group outcomes; a count over several preparations would count some measurements twice."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        experiment = outcome.experiment
        rows = "" if isinstance(experiment.k, int) else f", {experiment.k}"
        name = f"{experiment.label}, scale {experiment.preparation['scale']}{rows}"
        groups.setdefault(name, []).append(outcome)
    return groups


def _write(
    outcomes: Sequence[Outcome], json: Path | None, page: Path | None, plot: Path | None
) -> None:
    from vicinal.published import draw_results, outcome_record, results_markdown

    records = [outcome_record(outcome) for outcome in outcomes]
    cli.write_json(json, {"version": __version__, "records": records})
    if page is not None:
        cli.write_file(page, f"# Published results, measured again\n\n{results_markdown(records)}")
    if plot is not None and any(outcome.errors for outcome in outcomes):
        picture = io.BytesIO()
        draw_results(records).savefig(picture, format=plot.suffix[1:])
        cli.write_file(plot, picture.getvalue())
    for path in filter(None, (json, page, plot)):
        cli.say(str(path), err=False)
