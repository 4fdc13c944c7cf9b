"""Published tables whose columns are methods: one line a data set, measured beside published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vicinal.published._experiments import Experiment
from vicinal.published._figures import (
    column_title,
    measured_figure,
    method_title,
    published_figure,
)
from vicinal.published._outcomes import tally
from vicinal.published._tables import Table
from vicinal.runs import HNN, KNN

Record = Mapping[str, Any]
Pair = tuple[Experiment, Record]
KINDS = {KNN: "k-NN", HNN: "h-NN"}


def matrix_section(table: Table, pairs: Sequence[Pair]) -> str:
    """Return heading, counts and table of the experiments of one published table."""
    place = {experiment.name: number for number, experiment in enumerate(table.experiments)}
    pairs = sorted(pairs, key=lambda pair: place[pair[0].name])
    measured = {column_title(e) for e, _ in pairs}
    columns = [c for c in dict.fromkeys(map(column_title, table.experiments)) if c in measured]
    rows: dict[tuple[str, ...], dict[str, Pair]] = {}
    for pair in pairs:
        rows.setdefault(_row_name(pair[0]), {})[column_title(pair[0])] = pair
    timed = any(experiment.seconds is not None for experiment in table.experiments)
    heads = ("data set", "neighbours", "training rows", *columns)
    lines = [_line([*name, *_cells(row, columns, timed=timed)]) for name, row in rows.items()]
    rule = _line(["---", "---", "---:", *("---:" for _ in columns)])
    told = [_printed(table), *_counts(pairs, columns), *_gains(list(rows.values()), columns)]
    return "\n".join([f"## {table.title}", "", " ".join(told), "", _line(heads), rule, *lines])


def _printed(table: Table) -> str:
    place = f"{{cite}}`{table.document}`, {table.place}"
    unit = "nMSE" if table.unit == "nmse" else "Errors in percent"
    if all(experiment.error is None for experiment in table.experiments):
        return f"After {place}. {unit}; the source prints no figures for it."
    return f"Printed in {place}. {unit}, with the published figure in brackets."


def _counts(pairs: Sequence[Pair], columns: Sequence[str]) -> list[str]:
    """Say for each column how many errors are below the published ones."""
    printed = [pair for pair in pairs if pair[0].error is not None]
    own = {c: [record for e, record in printed if column_title(e) == c] for c in columns}
    return [f"{column}: {tally(records)}" for column, records in own.items() if records]


def _gains(rows: Sequence[Mapping[str, Pair]], columns: Sequence[str]) -> list[str]:
    """Say how often a method is below the Euclidean distance, here and as published."""
    plain = method_title("euclidean")
    told = []
    for column in columns:
        both = [(row[column], row[plain]) for row in rows if column in row and plain in row]
        if column == plain or not both:
            continue
        ours = sum(_below(a[1]["error_mean"], b[1]["error_mean"]) for a, b in both)
        theirs = sum(_below(a[0].error, b[0].error) for a, b in both)
        published = f", as published on {theirs}" if any(a[0].error for a, _ in both) else ""
        told.append(f"{column} is below {plain} on {ours} of {len(both)} lines{published}.")
    return told


def _below(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and a < b


def _row_name(experiment: Experiment) -> tuple[str, str, str]:
    kind = KINDS.get(str(experiment.k), str(experiment.k))
    n = f"{experiment.n_train:,}" if experiment.n_train else "all"
    return experiment.dataset, kind, n


def _cells(row: Mapping[str, Pair], columns: Sequence[str], *, timed: bool) -> list[str]:
    means = [pair[1]["error_mean"] for pair in row.values() if pair[1]["error_mean"] is not None]
    best = min(means) if len(means) > 1 else None  # one alone has won over nobody
    return [_cell(row.get(column), best, timed=timed) for column in columns]


def _cell(pair: Pair | None, best: float | None, *, timed: bool) -> str:
    if pair is None:
        return "–"
    experiment, record = pair
    text = measured_figure(record, percent=experiment.unit != "nmse")
    if record["error_mean"] is not None and record["error_mean"] == best:
        text = f"**{text}**"
    if experiment.error is not None:
        text += f" ({published_figure(experiment, record)})"
    return text + _seconds(experiment, record) if timed else text


def _seconds(experiment: Experiment, record: Record) -> str:
    published = "" if experiment.seconds is None else f" ({experiment.seconds:.0f} s)"
    taken = record["fit_cpu_seconds"]
    return "" if taken is None else f", {taken:.2f} s{published}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
