"""``vicinal predict``: what a fitted model says about new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vicinal.cli import _options as cli

Option = typer.Option


def predict(
    model: cli.ModelFile,
    data: cli.Data,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Write the predictions here as CSV.")
    ] = None,
    proba: Annotated[bool, Option("--proba", help="Add each class's share of the vote.")] = False,
    split: cli.Split = "all",
    sheet: cli.Sheet = None,
    formulas: cli.Formulas = False,
    json: cli.Json = None,
) -> None:
    """Predict the target of new rows.

    Columns are found by name, in any order; columns the model does not know are left alone.
    Where the table has the target too, the error is printed. Rows count from 0.

    Example: vicinal predict flowers.vicinal new.csv --proba --out predicted.csv
    """
    cli.check_output(out, "--out", [data, model])
    cli.check_output(json, "--json", [data, model])
    with cli.standard_input(data) as place, cli.working(f"reading {model} and {data}"):
        fitted, facts, rows = load_with_rows(model, place, split, sheet)
    if proba and facts["task"] != "classification":
        raise ValueError("--proba is for classification; this model predicts numbers.")
    with cli.working(f"predicting {len(rows.features):,} rows"), cli.noting():
        predictions = _predict(fitted, rows.features, proba=proba)
        if rows.parts.ids is not None:
            for each, name in zip(predictions, rows.parts.ids.tolist(), strict=True):
                each["id"] = name
    error = _error([each["prediction"] for each in predictions], rows, facts["task"])
    record = _record(facts, rows, error)
    content = {"version": facts.get("version"), "records": [record], "predictions": predictions}
    cli.write_json(json, content)
    text = _as_csv(facts["target"], predictions, formulas=formulas)
    if out is None:
        cli.print_text(text)
    else:
        cli.write_file(out, text)
    _report(out, facts, rows, fitted, error)


def load_with_rows(
    model: Path, data: str, split: str, sheet: str | None = None
) -> tuple[Any, dict[str, Any], Any]:
    """Return a model of ``vicinal fit``, its facts, and the rows of DATA as it needs them."""
    from vicinal.models import load_model, read_metadata

    facts = read_metadata(model)
    fitted = load_model(model)
    if not {"task", "target", "method", "k"} <= set(facts) or not hasattr(fitted, "named_steps"):
        raise ValueError(
            f"{model} holds a model without the columns it was fitted on; the command line needs "
            "one that `vicinal fit` wrote. Load this one in Python with vicinal.load_model."
        )
    from vicinal.comparison import read_new_rows

    text_columns = fitted["columns"].text_columns()
    asked = {"id": facts.get("id"), "missing": facts.get("missing", ()), "sheet": sheet}
    rows = read_new_rows(data, facts["target"], split, text_columns, **asked)
    for note in rows.parts.notes:
        cli.say(f"note: {note}")
    return fitted, facts, rows


def _predict(fitted: Any, features: Any, *, proba: bool) -> list[dict[str, Any]]:
    """Return row, prediction and, where asked for, each class's share of the vote."""
    found = enumerate(map(cli.plain, fitted.predict(features)))
    predictions = [{"row": i, "prediction": value} for i, value in found]
    if proba:
        classes = [str(cli.plain(name)) for name in fitted[-1].classes_]
        shares = fitted.predict_proba(features).tolist()
        for each, row in zip(predictions, shares, strict=True):
            each["shares"] = dict(zip(classes, row, strict=True))
    return predictions


def _error(predicted: list[Any], rows: Any, task: str) -> float | None:
    """Return the error where the true values are all there and say anything."""
    import numpy as np

    from vicinal.comparison import prediction_error
    from vicinal.data import class_names, target_numbers

    if rows.target is None or rows.target.isna().any():
        return None
    if task == "classification":
        truth = [str(value) for value in class_names(rows.target).tolist()]
        return float(np.mean([str(p) != t for p, t in zip(predicted, truth, strict=True)]))
    if rows.target.nunique() < 2:
        return None
    return prediction_error(np.array(predicted), target_numbers(rows.target), "regression")


def _record(facts: dict[str, Any], rows: Any, error: float | None) -> dict[str, Any]:
    kept = ("method", "k", "task", "fit_seconds", "n_train", "seed", "version")
    measured = {"dataset": rows.name, "error_mean": error, "error_sd": None}
    return measured | {name: facts.get(name) for name in kept} | {"n_test": len(rows.features)}


def _as_csv(target: str, predictions: list[dict[str, Any]], *, formulas: bool) -> str:
    classes = predictions[0].get("shares", {})
    named = ["id"] if "id" in predictions[0] else []
    shares = (f"share of {name}" for name in classes)
    header = ["row", *named, f"predicted {target}", *shares]
    lines = (
        [p["row"], *(p[n] for n in named), p["prediction"], *p.get("shares", {}).values()]
        for p in predictions
    )
    return cli.csv_text(header, lines, formulas=formulas)


def _report(
    out: Path | None, facts: dict[str, Any], rows: Any, fitted: Any, error: float | None
) -> None:
    known = {column.name for column in fitted["columns"].reading.columns}
    unused = [name for name in map(str, rows.features.columns) if name not in known]
    if unused:
        more = f" and {len(unused) - 10} more" if len(unused) > 10 else ""
        cli.say(f"note: columns the model does not know: {', '.join(unused[:10])}{more}")
    if error is not None:
        same = (rows.name, len(rows.features)) == (facts["dataset"], facts["n_train"])
        own = " (these look like the training rows: each is its own neighbour)" if same else ""
        shown = cli.format_error(error, facts["task"])
        cli.say(f"error on {len(rows.features):,} rows: {shown}{own}", err=out is None)
    if out is not None:
        cli.say(f"{len(rows.features):,} predictions: {out}", err=False)
