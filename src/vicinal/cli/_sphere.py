"""``vicinal sphere``: networks on the sphere, checked and trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from vicinal.sphere.digits import NetworkErrors, SphereOutcome, SpherePredictions, SphereSetting

Option = typer.Option

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
    _need_torch()
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


@sphere.command("train")
def train(
    data: Annotated[
        str,
        typer.Argument(
            help="A known set: labelled images (mnist, digits), molecules (qm7) or shapes "
            "(shrec2012, shapedb69).",
            metavar="DATA",
        ),
    ] = "mnist",
    preset: Annotated[
        str | None,
        Option(
            help="The network and how it is trained; 'list' shows all. Unless told, thesis for "
            "images, shells for molecules and cross for shapes.",
            show_default=False,
        ),
    ] = None,
    train: Annotated[
        str | None,
        Option(
            help="Training images: plain or rotated, the latter unless told.", show_default=False
        ),
    ] = None,
    test: Annotated[
        str | None,
        Option(
            help="Test images: plain, rotated, or both with a comma, as unless told.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        Option(
            help="What a rotation acts on: resampled (the drawing; the presets' own) or "
            "coefficients (by Wigner matrices; it tests rounding only); cohen2018 draws as that "
            "paper's generator, for figures that compare with published ones.",
            show_default=False,
        ),
    ] = None,
    projection: Annotated[
        str | None,
        Option(
            help="How digits lie on the hemisphere: lambert (equal areas) or stereographic; the "
            "preset's own unless told.",
            show_default=False,
        ),
    ] = None,
    epochs: Annotated[int | None, Option(help="Another number than the preset's.")] = None,
    patience: Annotated[
        int | None, Option(help="Stop after this many epochs without a better validation error.")
    ] = None,
    n_train: Annotated[
        int | None, Option("--n-train", help="Train on this many rows only.")
    ] = None,
    validation: Annotated[
        int | None,
        Option(
            help="Rows held out of the training part to choose the epoch; a tenth, at most "
            "5,000, unless told.",
            show_default=False,
        ),
    ] = None,
    fold: Annotated[
        str | None,
        Option(
            help="Molecules: the published fold to test on, 0 to 4, or all, as unless told.",
            show_default=False,
        ),
    ] = None,
    rivals: Annotated[
        str | None,
        Option(
            help="What to measure besides, with commas. Molecules, kernel ridge regressions: "
            "eigenvalues, bag-of-bonds, fchl19 (needs qmllib). Shapes: d2, spectra, spectra-lda, "
            "spectra-mlng.",
            show_default=False,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        Option(
            help="Images and shapes: cross-entropy of classes, as unless told, or a loss of "
            "embeddings, gerrymandering, neighborhood or triplet, with options as in "
            "gerrymandering:k=3,margin=10; or cross-entropy+gerrymandering.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, Option(help="Seed of rows, weights, rotations and warps.")] = 0,
    threads: Annotated[int | None, Option(help="Threads to work in.")] = None,
    out: Annotated[Path | None, Option(help="The run folder.", show_default=False)] = None,
    fresh: Annotated[bool, Option("--fresh", help="Forget an earlier run and start over.")] = False,
    json: Annotated[Path | None, Option("--json", help="Write the results here too.")] = None,
) -> None:
    """Train a network on images drawn on the sphere, on molecules, or on shapes read by rays.

    Images are tested as they are and rotated, molecules on their published folds, shapes by how
    test meshes, each turned at random, find those of their class. Every half minute the training
    is kept in the run folder: stop it at any moment, even by kill -9, and the same command goes on
    to the very same weights. Under torchrun several processes share each batch of images.

    Example: vicinal sphere train mnist --preset compact --train rotated
    """
    _need_torch()
    from vicinal.cli._console import make_console
    from vicinal.cli._options import check_output, split_names
    from vicinal.sphere.digits import SphereSetting

    if preset == "list":
        make_console().print(_preset_table())
        return
    check_output(json)
    console = make_console(stderr=True)
    asked: dict[str, Any] = {
        "n_epochs": epochs, "n_train": n_train, "n_validation": validation, "patience": patience,
        "seed": seed,
    }  # fmt: skip
    others = split_names(rivals) if rivals else []
    by = loss or "cross-entropy"
    _set_threads(threads)
    if data == "qm7":
        from vicinal.cli._sphere_molecules import train_molecules
        from vicinal.sphere.molecules import MoleculeSetting

        _refuse("images", train=train, test=test, protocol=protocol, projection=projection)
        _refuse("images and shapes", loss=loss)
        molecules = MoleculeSetting(preset=preset or "shells", **asked)
        train_molecules(molecules, fold or "all", others, out, console, fresh=fresh, json=json)
        return
    _refuse("molecules", fold=fold)
    if data in ("shrec2012", "shapedb69"):
        from vicinal.cli._sphere_shapes import train_shapes
        from vicinal.sphere.shapes import ShapeSetting

        _refuse("images", train=train, test=test, protocol=protocol, projection=projection)
        shapes = ShapeSetting(dataset=data, preset=preset or "cross", loss=by, **asked)
        train_shapes(shapes, others, out, console, fresh=fresh, json=json)
        return
    _refuse("molecules and shapes", rivals=rivals)
    setting = SphereSetting(
        dataset=data, preset=preset or "thesis", train=train or "rotated", loss=by,
        tests=tuple(split_names(test or "plain,rotated")), protocol=cast(Any, protocol),
        projection=projection, **asked,
    )  # fmt: skip
    outcome = _train(setting, out, console, fresh=fresh)
    if outcome is not None:
        _show(*outcome, json)


@sphere.command("predict")
def predict(
    network: Annotated[
        Path, typer.Argument(help="A run folder of `sphere train`, or its network.pt.")
    ],
    data: Annotated[
        str,
        typer.Argument(
            help="Images: a known set, or a file, NPZ (array images, and labels if known), NPY or "
            "IDX. Molecules: an XYZ file.",
            metavar="DATA",
        ),
    ],
    out: Annotated[
        Path | None, Option("--out", "-o", help="Write the predictions here as CSV.")
    ] = None,
    proba: Annotated[bool, Option("--proba", help="Add each class's probability.")] = False,
    split: Annotated[str, Option(help="all, or the train or test part of a known set.")] = "all",
    json: Annotated[Path | None, Option("--json", help="Write the results here as JSON.")] = None,
) -> None:
    """Predict the class of upright images, or the energy of molecules, with a trained network.

    Where the classes are known, the error is printed. Energies are in kcal/mol, with their spread
    over the networks of the folds. Rows count from 0.

    Example: vicinal sphere predict my-run images.npz --out predicted.csv
    """
    _need_torch()
    from vicinal.cli._options import check_output, print_text, say, working, write_file, write_json
    from vicinal.sphere.digits import predict_images, read_pictures

    check_output(out, "--out", [data, network])
    check_output(json, "--json", [data, network])
    if data.lower().endswith(".xyz"):
        from vicinal.cli._sphere_molecules import predict_energies

        predict_energies(network, Path(data), out, json)
        return
    with working(f"reading {data}"):
        pictures = read_pictures(data, split)
    with working(f"predicting {len(pictures.images):,} images"):
        found = predict_images(network, pictures.images)
    error = found.error(pictures.labels)
    if error is not None:
        say(f"error {100 * error:.2f} % of {len(found.predicted):,} images")
    text, records = _tabulate(found, proba=proba)
    facts = {"dataset": data, "n_test": len(records), "error": error}
    write_json(json, {**facts, "predictions": records})
    if out is None:
        print_text(text)
    else:
        write_file(out, text)


def _tabulate(
    found: SpherePredictions, *, proba: bool
) -> tuple[str, list[dict[str, int | str | float]]]:
    """Return predictions as CSV and as records."""
    from vicinal.cli._options import csv_text

    header = ("row", "predicted", *(found.classes if proba else ()))
    shares = found.probabilities.tolist() if proba else [[]] * len(found.predicted)
    pairs = zip(found.predicted, shares, strict=True)
    rows = [(row, name, *share) for row, (name, share) in enumerate(pairs)]
    return csv_text(header, rows), [dict(zip(header, row, strict=True)) for row in rows]


def _refuse(kind: str, **options: str | None) -> None:
    """Refuse options that are for another kind of data."""
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"--{name} {value}: that is for {kind}.")


def _set_threads(threads: int | None) -> None:
    import torch

    if threads is not None:
        if threads < 1:
            raise ValueError(f"--threads {threads}: at least one is needed.")
        torch.set_num_threads(threads)


def _train(
    setting: SphereSetting, out: Path | None, console: Console, *, fresh: bool
) -> tuple[SphereOutcome, Path] | None:
    """Train, in this process or as one of several; return the outcome in the first of them."""
    from vicinal.cli._sphere_losses import make_objective
    from vicinal.cli._sphere_runs import training_run
    from vicinal.runs import RUNS
    from vicinal.scale.processes import process_group, wait_for_all
    from vicinal.sphere.digits import run_on_sphere
    from vicinal.sphere.training import classification

    objective = make_objective(setting.loss, classification())
    with process_group() as rank:
        if rank:
            wait_for_all()
            run_on_sphere(setting, out or RUNS / setting.folder_name(), objective=objective)
            return None
        with training_run(setting, out, console, fresh=fresh) as (folder, display):
            wait_for_all()  # until the folder is there, and emptied where that was asked
            outcome = run_on_sphere(
                setting, folder, objective=objective, listener=display, say=display.say
            )
            return outcome, folder


def _need_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ValueError(
            "networks on the sphere need PyTorch: pip install 'vicinal[torch]'"
        ) from None


def _show(outcome: SphereOutcome, folder: Path, json: Path | None) -> None:
    from vicinal.cli._console import make_console
    from vicinal.cli._sphere_page import write_outputs

    page = write_outputs(outcome, folder, json)
    console = make_console()
    for test in outcome.tests:
        console.print(
            f"{outcome.title}: trained on {outcome.setting.train}, tested on {test.orientation} "
            f"({test.drawing.protocol}): {100 * (1 - test.error):.2f} % correct, "
            f"{outcome.n_parameters:,} parameters, {outcome.cpu_seconds:.0f} CPU s",
            markup=False,
            soft_wrap=True,
        )
    console.print(f"report: {page}", markup=False, soft_wrap=True)


def _error_table(errors: NetworkErrors) -> Table:
    from rich.table import Table

    table = Table(title="relative error under rotations", box=None, title_justify="left")
    table.add_column("after")
    for precision in errors.precisions:
        table.add_column(precision, justify="right")
    for row in errors.rows:
        table.add_row(row.name, *(f"{value:.1e}" for value in row.errors))
    return table


def _preset_table() -> Table:
    from rich.table import Table

    from vicinal.sphere.digits import list_presets
    from vicinal.sphere.molecules import list_molecule_presets
    from vicinal.sphere.shapes import list_shape_presets

    table = Table(box=None)
    for title in ("for", "preset", "what it is"):
        table.add_column(title)
    for preset in list_presets():
        table.add_row("images", preset.name, preset.title)
    for molecular in list_molecule_presets():
        table.add_row("molecules", molecular.name, molecular.title)
    for shape in list_shape_presets():
        table.add_row("shapes", shape.name, shape.title)
    return table
