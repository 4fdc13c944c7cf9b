"""``vicinal predict``: what a fitted model says about new rows."""

from __future__ import annotations

import warnings
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
    append: Annotated[
        bool, Option("--append", help="Write the whole table, predictions in its last column.")
    ] = False,
    explain: Annotated[
        Path | None,
        Option("--explain", help="Write a page: each answer beside the rows it came from."),
    ] = None,
    split: cli.Split = "all",
    sheet: cli.Sheet = None,
    formulas: cli.Formulas = False,
    json: cli.Json = None,
) -> None:
    """Predict the target of new rows.

    Columns are found by name, in any order; columns the model does not know are left alone.
    Where the table has the target too, the error is printed. Rows count from 0.

    Example: vicinal predict flowers.vicinal new.csv --proba --out predicted.csv

    Example: vicinal predict flowers.vicinal new.csv --append --explain why.html
    """
    cli.check_output(explain, "--explain", [data, model])
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
    shown = rows.features if append else None
    if append and rows.target is not None:
        shown = rows.features.assign(**{facts["target"]: rows.target})
    text = _as_csv(facts["target"], predictions, shown, formulas=formulas)
    if out is None:
        cli.print_text(text)
    else:
        cli.write_file(out, text)
    if explain is not None:
        _write_explanation(explain, fitted, facts, rows, predictions)
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
    reading = {"id": facts.get("id"), "missing": facts.get("missing", ()), "sheet": sheet}
    rows = read_new_rows(data, facts["target"], split, text_columns, **reading)
    for note in rows.parts.notes:
        cli.say(f"note: {note}")
    return fitted, facts, rows


def _predict(fitted: Any, features: Any, *, proba: bool) -> list[dict[str, Any]]:
    """Return row, prediction and, where asked for, each class's share of the vote."""
    values = enumerate(map(cli.plain, fitted.predict(features)))
    predictions = [{"row": i, "prediction": value} for i, value in values]
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
    names = ("method", "k", "task", "fit_seconds", "n_train", "seed", "version")
    measured = {"dataset": rows.name, "error_mean": error, "error_sd": None}
    return measured | {name: facts.get(name) for name in names} | {"n_test": len(rows.features)}


def _as_csv(
    target: str, predictions: list[dict[str, Any]], table: Any = None, *, formulas: bool
) -> str:
    """Return the predictions as CSV, beside the whole ``table`` where that is given."""
    from vicinal.cli._why import format_number

    classes = predictions[0].get("shares", {})
    named = ["id"] if "id" in predictions[0] else []
    shares = [f"share of {name}" for name in classes]
    heads = [f"predicted {target}", *shares]
    columns = ["row", *named] if table is None else [*named, *map(str, table.columns)]
    cells = None if table is None else table.astype(object).where(table.notna(), "").to_numpy()

    def line(p: dict[str, Any]) -> list[Any]:
        own = [p["row"]] if cells is None else []
        rest = [] if cells is None else cells[p["row"]].tolist()
        values = (format_number(value) for value in p.get("shares", {}).values())
        return [*own, *(p[n] for n in named), *rest, format_number(p["prediction"]), *values]

    return cli.csv_text([*columns, *heads], map(line, predictions), formulas=formulas)


MOST_EXPLAINED = 200


def _write_explanation(
    path: Path, fitted: Any, facts: dict[str, Any], rows: Any, predictions: list[dict[str, Any]]
) -> None:
    """Write why each row is answered as it is: the first few of many."""
    from vicinal.cli._neighbors import name_rows, search
    from vicinal.cli._why import answers_of
    from vicinal.report import render_answers

    numbers = list(range(min(len(rows.features), MOST_EXPLAINED)))
    features = rows.features.iloc[numbers]
    with cli.noting():
        neighborhoods = search(fitted, features, numbers, facts["k"])
    name_rows(neighborhoods, facts.get("ids"), rows.parts.ids)
    answers, columns = answers_of(
        neighborhoods, features, facts, [p["prediction"] for p in predictions]
    )
    title = f"Why these answers: {facts['target']} of {rows.name} by {facts['method']}"
    page = render_answers(answers, title=title, target=facts["target"], columns=columns)
    cli.write_file(path, page.encode("utf-8", errors="replace"))
    more = f", of {len(rows.features):,}" if len(numbers) < len(rows.features) else ""
    answers_are = "answer is" if len(numbers) == 1 else "answers are"
    cli.say(f"{len(numbers):,} {answers_are} explained{more}: {path}")


def _say_own(fitted: Any, features: Any) -> str:
    """Say how many rows the model learned from: each of them is its own neighbour."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when they were predicted
        distances, _ = fitted[-1].kneighbors(fitted[:-1].transform(features), 1)
    n_own = int((distances[:, 0] <= 1e-9 * max(1.0, float(distances.max()))).sum())
    if not n_own:
        return ""
    return (
        f" ({n_own:,} of them equal a row that the model learned from, which is then its own "
        "neighbour: this is not the error on new rows)"
    )


def _report(
    out: Path | None, facts: dict[str, Any], rows: Any, fitted: Any, error: float | None
) -> None:
    names = {column.name for column in fitted["columns"].reading.columns}
    unused = [name for name in map(str, rows.features.columns) if name not in names]
    if unused:
        more = f" and {len(unused) - 10} more" if len(unused) > 10 else ""
        cli.say(f"note: columns the model does not know: {', '.join(unused[:10])}{more}")
    if error is not None:
        own = _say_own(fitted, rows.features)
        shown = cli.format_error(error, facts["task"])
        cli.say(f"error on {len(rows.features):,} rows: {shown}{own}", err=out is None)
    if out is not None:
        cli.say(f"{len(rows.features):,} predictions: {out}", err=False)
