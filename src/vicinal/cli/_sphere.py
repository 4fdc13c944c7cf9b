"""``vicinal sphere``: networks on the sphere, checked, trained and asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.table import Table

    from vicinal.sphere.digits import NetworkErrors

Option = typer.Option
WORLDS = ("digits", "molecules", "shapes")

sphere = typer.Typer(
    help="Networks on the sphere that commute with rotations exactly (needs PyTorch).",
    no_args_is_help=True,
)


@sphere.command("check")
def check(
    preset: Annotated[str, Option(help="The network to check.")] = "thesis",
    layers: Annotated[
        int | None, Option(help="Another number of layers than the preset's.", show_default=False)
    ] = None,
    rotations: Annotated[int, Option(help="How many random rotations.")] = 16,
    seed: Annotated[int, Option(help="Seed of weights, inputs and rotations.")] = 0,
    json: Annotated[Path | None, Option("--json", help="Write the errors to this file.")] = None,
) -> None:
    """Print how far each layer of a network is from commuting with rotations.

    The error is the largest relative difference between rotating before and after the layers up
    to this one, over Haar-random rotations, in both precisions. Exits 1 where a whole network is
    above 1e-5 in float32 or 1e-12 in float64.

    Example: vicinal sphere check --layers 5
    """
    need_torch()
    from vicinal.cli._console import make_console
    from vicinal.cli._options import check_output
    from vicinal.sphere.digits import check_network, write_errors

    check_output(json)
    if rotations < 1:
        raise ValueError(f"--rotations {rotations}: at least one is needed.")
    errors = check_network(preset, n_layers=layers, n_rotations=rotations, seed=seed)
    make_console().print(_error_table(errors))
    if json is not None:
        write_errors(errors, json)
    if not errors.passes:
        raise typer.Exit(1)


class _Worlds(TyperGroup):
    """A command for each world, made of its setting's fields when it is asked for.

    A known set in a world's place stands for its world: ``train mnist`` is ``train digits mnist``.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(WORLDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in WORLDS:
            return None
        need_torch()
        from vicinal.cli._sphere_train import make_command

        return make_command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in WORLDS and not args[0].startswith("-"):
            need_torch()
            from vicinal.sphere.worlds import find_world

            if Path(args[0]).is_dir():
                raise ValueError(
                    f"{args[0]} is a folder: say of what, as in `vicinal sphere train shapes "
                    f"{args[0]}`; there are {', '.join(WORLDS)}."
                )
            args = [find_world(args[0]).name, *args]
        return super().resolve_command(ctx, args)


train = typer.Typer(
    cls=_Worlds,
    no_args_is_help=True,
    help="Train a network on images drawn on the sphere, on molecules, or on shapes.\n\n"
    "Example: vicinal sphere train digits mnist",
)
sphere.add_typer(train, name="train")


@train.callback()
def _train() -> None:
    pass


@sphere.command("predict")
def predict(
    run: Annotated[
        Path, typer.Argument(help="A run folder of `sphere train`, or a network.pt.", metavar="RUN")
    ],
    source: Annotated[
        str,
        typer.Argument(
            help="Images: a known set, a folder, or a file, NPZ (array images, and labels if "
            "known), NPY, IDX, PNG or JPEG. Molecules: an XYZ file, or a folder of them. Shapes: "
            "a known set, a mesh or a cloud of points, or a folder of them.",
            metavar="SOURCE",
        ),
    ],
    out: Annotated[
        Path | None, Option("--out", "-o", help="Write the predictions here as CSV.")
    ] = None,
    proba: Annotated[bool, Option("--proba", help="Add each class's probability.")] = False,
    split: Annotated[str, Option(help="all, or the train or test part of a known set.")] = "all",
    json: Annotated[Path | None, Option("--json", help="Write the results here as JSON.")] = None,
) -> None:
    """Predict classes of images or shapes, or energies of molecules, with trained networks.

    Where a run holds several networks, of folds or members, their mean is given with its spread.
    Where the classes are known, the error is printed. Forces, where they were learned, are in the
    JSON. Rows count from 0.

    Example: vicinal sphere predict my-run images.npz --out predicted.csv
    """
    need_torch()
    from vicinal.cli._options import (
        check_output,
        csv_text,
        print_text,
        say,
        working,
        write_file,
        write_json,
    )
    from vicinal.sphere.worlds import find_networks, get_world, world_name

    check_output(out, "--out", [source, run])
    check_output(json, "--json", [source, run])
    networks = find_networks(run)
    world = get_world(world_name(networks))
    with working(f"predicting {source}"):
        answers = world.predict(networks, source, part=split, proba=proba)
    if answers.sentence is not None:
        say(answers.sentence)
    records = [dict(zip(answers.header, row, strict=True)) for row in answers.rows]
    write_json(json, {"dataset": source, **answers.facts, "predictions": records})
    text = csv_text(answers.header, answers.rows)
    if out is None:
        print_text(text)
    else:
        write_file(out, text)


def need_torch() -> None:
    """Say in words where torch is missing."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ValueError(
            "networks on the sphere need PyTorch: pip install 'vicinal[torch]'"
        ) from None


def _error_table(errors: NetworkErrors) -> Table:
    from rich.table import Table

    table = Table(title="relative error under rotations", box=None, title_justify="left")
    table.add_column("after")
    for precision in errors.precisions:
        table.add_column(precision, justify="right")
    for row in errors.rows:
        table.add_row(row.name, *(f"{value:.1e}" for value in row.errors))
    return table
