"""Published tables as Markdown, in two layouts: a line a figure, or a column a method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vicinal.published._experiments import Experiment
from vicinal.published._figures import (
    beside_title,
    column_title,
    measured_figure,
    method_title,
    published_figure,
    signed,
)
from vicinal.published._outcomes import tally
from vicinal.published._tables import Table
from vicinal.runs import HNN, KNN

Record = Mapping[str, Any]
Pair = tuple[Experiment, Record]
HEADS = ("method", "data set", "k", "published", "measured", "difference", "spread")
RIVAL = "best other published"
WORDS = ("method", "data set", "spread", "neighbours")  # columns that are no numbers
DEFAULTS = ""  # the column of a method as it comes
KINDS = {KNN: "k-NN", HNN: "h-NN"}
ABSENT = "–"


def lines_section(table: Table, pairs: Sequence[Pair]) -> str:
    """Show a line a figure, with the difference; what stands beside it has columns of its own."""
    variants = list(dict.fromkeys(beside_title(e) for e, _ in pairs if beside_title(e)))
    lines: dict[tuple[str, str, Any], dict[str, Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: _order(pair[0])):
        experiment = pair[0]
        method = experiment.beside or experiment.method
        line = lines.setdefault((method, experiment.dataset, experiment.k), {})
        line[beside_title(experiment)] = pair
    titles = sorted({(e.method, e.variant, column_title(e)) for e, _ in pairs if not e.beside})
    sentences = [f"Printed in {_place(table)}.", *_counts(pairs, [title for *_, title in titles])]
    heads = (*HEADS, *(f"measured, {variant}" for variant in variants), RIVAL)
    cells = [_line_cells(line, variants) for line in lines.values()]
    return "\n\n".join([_section(table, sentences, heads, cells), *_times(pairs)])


def _times(pairs: Sequence[Pair]) -> list[str]:
    """Show seconds of a fit where the source prints some: a line a data set, a column a method."""
    timed = [
        (e, record)
        for e, record in pairs
        if e.seconds is not None and record["fit_cpu_seconds"] is not None
    ]
    if not timed:
        return []
    columns = list(dict.fromkeys(column_title(e) for e, _ in timed))
    rows: dict[str, dict[str, str]] = {}
    for experiment, record in sorted(timed, key=lambda pair: pair[0].dataset):
        cell = f"{record['fit_cpu_seconds']:.3g} ({experiment.seconds:.0f})"
        rows.setdefault(experiment.dataset, {})[column_title(experiment)] = cell
    k = timed[0][0].k
    sentence = f"Seconds of a fit at k = {k}: CPU-seconds measured, the published in brackets."
    cells = [[name, *(row.get(column, ABSENT) for column in columns)] for name, row in rows.items()]
    return [sentence, _lines(("data set", *columns), cells)]


def matrix_section(table: Table, pairs: Sequence[Pair]) -> str:
    """Show a line a data set and a column a method, the published figures in brackets."""
    place = {experiment.name: number for number, experiment in enumerate(table.experiments)}
    pairs = sorted(pairs, key=lambda pair: place[pair[0].name])
    measured = {column_title(e) for e, _ in pairs}
    columns = [c for c in dict.fromkeys(map(column_title, table.experiments)) if c in measured]
    rows: dict[tuple[str, ...], dict[str, Pair]] = {}
    for pair in pairs:
        rows.setdefault(_row_name(pair[0]), {})[column_title(pair[0])] = pair
    timed = any(experiment.seconds is not None for experiment in table.experiments)
    printed = [pair for pair in pairs if pair[0].error is not None]
    sentences = [_printed(table), *_counts(printed, columns), *_gains(list(rows.values()), columns)]
    cells = [[*name, *_row_cells(row, columns, timed=timed)] for name, row in rows.items()]
    return _section(table, sentences, ("data set", "neighbours", "training rows", *columns), cells)


def _section(
    table: Table, told: Iterable[str], heads: Sequence[str], cells: Iterable[Sequence[str]]
) -> str:
    return "\n".join([f"## {table.title}", "", " ".join(told), "", _lines(heads, cells)])


def _lines(heads: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    rule = ["---" if head in WORDS else "---:" for head in heads]
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, rule, *cells))


def _place(table: Table) -> str:
    return f"{{cite}}`{table.document}`, {table.place}"


def _printed(table: Table) -> str:
    unit = "nMSE" if table.unit == "nmse" else "Errors in percent"
    if all(experiment.error is None for experiment in table.experiments):
        return f"After {_place(table)}. {unit}; the source prints no figures for it."
    return f"Printed in {_place(table)}. {unit}, with the published figure in brackets."


def _counts(pairs: Sequence[Pair], columns: Iterable[str]) -> list[str]:
    """Say for each column how many errors are below the published ones."""
    own = {c: [record for e, record in pairs if column_title(e) == c] for c in columns}
    return [f"{column}: {tally(records)}" for column, records in own.items() if records]


def _gains(rows: Sequence[Mapping[str, Pair]], columns: Sequence[str]) -> list[str]:
    """Say how often a method is below the Euclidean distance, here and as published."""
    plain = method_title("euclidean")
    sentences = []
    for column in columns:
        both = [(row[column], row[plain]) for row in rows if column in row and plain in row]
        if column == plain or not both:
            continue
        ours = sum(_below(a[1]["error_mean"], b[1]["error_mean"]) for a, b in both)
        theirs = sum(_below(a[0].error, b[0].error) for a, b in both)
        published = f", as published on {theirs}" if any(a[0].error for a, _ in both) else ""
        sentences.append(f"{column} is below {plain} on {ours} of {len(both)} lines{published}.")
    return sentences


def _below(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and a < b


def _order(experiment: Experiment) -> tuple[str, str, int, str]:
    k = experiment.k if isinstance(experiment.k, int) else 0
    return experiment.beside or experiment.method, experiment.dataset, k, str(experiment.k)


def _line_cells(line: Mapping[str, Pair], variants: Sequence[str]) -> list[str]:
    experiment, record = next(iter(line.values()))
    rival = experiment.rival
    own = (ABSENT,) * 3
    if DEFAULTS in line:
        verdict = line[DEFAULTS][1]["verdict"] or line[DEFAULTS][1]["status"]
        own = (*_measured(line[DEFAULTS]), verdict)
    beside = [_measured(line[v]) if v in line else None for v in variants]
    return [
        method_title(experiment.beside or experiment.method),
        experiment.dataset,
        str(experiment.k),
        published_figure(experiment, record),
        *own,
        *(ABSENT if pair is None else f"{pair[0]} ({pair[1]})" for pair in beside),
        ABSENT if rival is None else f"{method_title(rival[0])} {rival[1]:.2f}",
    ]


def _measured(pair: Pair) -> tuple[str, str]:
    """Return a measured figure and its difference from the published one."""
    percent = pair[0].unit != "nmse"
    difference = signed(pair[1]["difference"], percent=percent)
    return measured_figure(pair[1], percent=percent), difference


def _row_name(experiment: Experiment) -> tuple[str, str, str]:
    kind = KINDS.get(str(experiment.k), str(experiment.k))
    n = f"{experiment.n_train:,}" if experiment.n_train else "all"
    return experiment.dataset, kind, n


def _row_cells(row: Mapping[str, Pair], columns: Sequence[str], *, timed: bool) -> list[str]:
    means = [pair[1]["error_mean"] for pair in row.values() if pair[1]["error_mean"] is not None]
    best = min(means) if len(means) > 1 else None  # one alone has won over nobody
    return [_row_cell(row[c], best, timed=timed) if c in row else ABSENT for c in columns]


def _row_cell(pair: Pair, best: float | None, *, timed: bool) -> str:
    experiment, record = pair
    text = measured_figure(record, percent=experiment.unit != "nmse")
    if record["error_mean"] is not None and record["error_mean"] == best:
        text = f"**{text}**"
    if experiment.error is not None:
        text += f" ({published_figure(experiment, record)})"
    if timed and record["fit_cpu_seconds"] is not None:
        published = "" if experiment.seconds is None else f" ({experiment.seconds:.0f} s)"
        text += f", {record['fit_cpu_seconds']:.2f} s{published}"
    return text
