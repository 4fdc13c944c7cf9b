"""``vicinal fit``: learn a metric and keep it in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli

Option = typer.Option
N_SHOWN = 5
USUAL_NEIGHBORS = 5


def fit(
    data: cli.DataOrRun,
    out: Annotated[Path, Option("--out", "-o", help="The model file to write.")],
    method: Annotated[
        str | None,
        Option(
            help="A method by name, as in compare, or module:Class.",
            show_default="auto; of a run, what it found",
        ),
    ] = None,
    k: Annotated[
        int | None,
        Option(
            "--k",
            help="The number of neighbours; auto chooses how it votes, and learns for so many.",
            show_default="5; of a run, what it found",
        ),
    ] = None,
    target: cli.Target = None,
    split: cli.Split = "all",
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
    seed: Annotated[int, Option(help="Seed of the learner and of the held-out rows.")] = 0,
    no_error: Annotated[
        bool, Option("--no-error", help="Skip the held-out error, which costs a second fit.")
    ] = False,
    json: cli.Json = None,
) -> None:
    """Learn a metric from a table and write a model file for predict and neighbors.

    The model is fitted on all rows. Its error is measured apart: on a quarter of the rows, by a
    model fitted on the other three. The run folder of a comparison in place of a table fits what
    was best there, with its k and all that was said of the columns.

    Example: vicinal fit flowers.csv --target species --out flowers.vicinal

    Example: vicinal fit vicinal-runs/flowers-1a2b3c4d --out flowers.vicinal
    """
    if Path(data).is_dir():
        _fit_found(data, out, method, k, no_error, json)
        return
    named = cli.name_roles(
        drop=drop, features=features, keep=keep, categories=categories, id=id, groups=groups,
        weights=weights, missing=missing, sheet=sheet,
    )  # fmt: skip
    options: dict[str, Any] = {
        "k": USUAL_NEIGHBORS if k is None else k,
        "scale": scale,
        "n_components": pca,
    }
    options |= {"impute": impute, "seed": seed, "check": not no_error}
    with cli.standard_input(data) as place:
        _fit(data, place, out, method, target, task, split, named, options, json)


def _fit_found(
    folder: str, out: Path, method: str | None, k: int | None, no_error: bool, json: Path | None
) -> None:
    """Fit what a comparison found, on all its rows."""
    from vicinal.comparison import read_found

    best = read_found(folder)
    options: dict[str, Any] = {
        "k": best.k if k is None else k, "scale": best.scale, "n_components": best.n_components,
        "impute": best.impute, "seed": best.seed, "check": not no_error,
    }  # fmt: skip
    named = {name: tuple(v) if isinstance(v, list) else v for name, v in best.roles.items()}
    method = method or best.method
    _fit(best.data, best.data, out, method, best.target, best.task, "all", named, options, json)


def _fit(
    data: str, place: str, out: Path, method: str | None, target: str | None, task: str | None,
    split: str, named: dict[str, Any], options: dict[str, Any], json: Path | None,
) -> None:  # fmt: skip
    cli.check_output(out, "--out", [data])
    cli.check_output(json, "--json", [data, out])
    cli.find_own_learners([method or ""])
    with cli.working(f"reading {data}"):
        from vicinal.comparison import fit_table, read_training_rows
        from vicinal.data import Roles

        rows = read_training_rows(place, target, task=task, split=split, roles=Roles(**named))
    with cli.working(f"fitting {method or 'a metric'} on {len(rows.features):,} rows"):
        fitted = fit_table(rows, method, **options)
    record = describe(rows, fitted, options["k"], options["seed"])
    settings: dict[str, Any] = {
        "split": split, "scale": fitted.scale, "pca": options["n_components"],
        "unit": rows.parts.unit, "missing": list(named.get("missing", ())),
    }  # fmt: skip
    from vicinal.cli._why import columns_to_keep

    settings["cells"] = columns_to_keep(rows, fitted.relevance)
    if rows.parts.ids is not None:
        settings |= {"id": named["id"], "ids": rows.parts.ids.tolist()}
    _save(out, fitted, record, target=rows.target_name, **settings)
    cli.write_json(json, {"version": record["version"], "records": [record]})
    _print(out, rows, fitted, record)


def describe(rows: Any, fitted: Any, k: int, seed: int) -> dict[str, Any]:
    """Return what is known about a fit as JSON values, under the names all commands use."""
    from vicinal import __version__

    return {
        "dataset": rows.name,
        "method": fitted.method,
        "task": fitted.task,
        "k": k,
        "error_mean": fitted.error,
        "error_sd": None,  # one split has no spread
        "euclidean_error": fitted.plain_error,
        "fit_seconds": fitted.fit.wall,
        "fit_cpu_seconds": fitted.fit.cpu,
        "n_train": len(rows.features),
        "n_test": fitted.n_held_out,
        "seed": seed,
        "version": __version__,
        "relevance": dict(fitted.relevance[:50]),
        "notes": list(fitted.notes),
    }


def _save(out: Path, fitted: Any, record: dict[str, Any], **settings: Any) -> None:
    from vicinal.models import save_model

    with cli.saving(out):
        save_model(fitted.model, out, **record, **settings)


def _print(out: Path, rows: Any, fitted: Any, record: dict[str, Any]) -> None:
    seconds = record["fit_seconds"]
    n_features = len(fitted.model["columns"].feature_names_)
    lines = [
        f"{record['method']}, {cli.phrase_vote(fitted.model, record['k'])}, fitted on "
        f"{record['n_train']:,} rows of "
        f"{rows.name} ({n_features:,} feature{'s' * (n_features != 1)}, {fitted.task}) in "
        f"{f'{seconds:.2f}' if seconds < 10 else f'{seconds:.0f}'} s"
    ]
    if fitted.error is not None:
        lines.append(
            f"error on {fitted.n_held_out:,} held-out rows: "
            f"{cli.format_error(fitted.error, fitted.task)} "
            f"(Euclidean: {cli.format_error(fitted.plain_error, fitted.task)})"
        )
    if fitted.relevance:
        top = ", ".join(f"{name} {100 * share:.0f} %" for name, share in fitted.relevance[:N_SHOWN])
        lines.append(f"features that weigh most in the distance: {top}")
    from vicinal.cli._console import name_options

    notes = [f"note: {name_options(note)}" for note in fitted.notes]
    for line in [*lines, *notes, f"model: {out}"]:
        cli.say(line, err=False)
