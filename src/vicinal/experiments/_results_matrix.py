"""Published tables whose columns are methods: one line a data set, measured beside published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vicinal.experiments._figures import figure, method_title, printed_spread
from vicinal.experiments._outcomes import tally
from vicinal.experiments._published import Experiment
from vicinal.runs import HNN, KNN

Record = Mapping[str, Any]
Pair = tuple[Experiment, Record]
# What is shown so, by the label of the table or figure in its source.
TITLES = {
    "table:KernelRegression": "Regression",
    "table:KernelRegression by group": "Regression, rows that belong together kept together",
    "table:Classification": "Two classes",
    "table:Classification by group": "Two classes, molecules kept together",
    "fig:synthNoRot": "Made-up sines",
    "fig:synthRot": "Made-up sines, rotated",
    "fig:RegVariation": "Regression error against the number of training rows",
    "figure:classificationvar": "Error of two classes against the number of training rows",
    "figure:llr": "Differences against local linear slopes",
    "figure:llr_rotation": "Differences against local linear slopes, made-up sines, rotated",
    "tb:MNISTEJOP": "Handwritten digits, raw pixels, k = 7",
    "tb:EJOPsecond": "Many classes",
    "tb:EJOPsecond by group": "Many classes, speakers kept together",
}
COLUMNS = ("euclidean", "gw", "relieff", "egop", "ejop")
KINDS = {KNN: "k-NN", HNN: "h-NN"}
ESTIMATORS = {"difference": "EGOP by differences", "local-linear": "EGOP by local linear slopes"}
TIMED = "figure:llr"


def label_of(experiment: Experiment) -> str:
    """Return the label of the table an experiment is printed in."""
    return experiment.table.split(",")[0].removeprefix("tab:")


def matrix_section(pairs: Sequence[Pair]) -> str:
    """Return heading, counts and table of the experiments of one published table."""
    label = label_of(pairs[0][0])
    columns = _columns(pairs)
    rows: dict[tuple[str, ...], dict[str, Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: _row_order(pair[0])):
        rows.setdefault(_row_name(pair[0]), {})[_column(pair[0])] = pair
    heads = ("data set", "neighbours", "training rows", *columns)
    lines = [_line([*name, *_cells(row, columns, label)]) for name, row in rows.items()]
    rule = _line(["---", "---", "---:", *("---:" for _ in columns)])
    told = [_printed(pairs), *_counts(pairs), *_gains(list(rows.values()), columns)]
    return "\n".join([f"## {TITLES[label]}", "", " ".join(told), "", _line(heads), rule, *lines])


def _printed(pairs: Sequence[Pair]) -> str:
    experiment = pairs[0][0]
    place = f"{{cite}}`{experiment.document}`, `{label_of(experiment).removesuffix(' by group')}`"
    unit = "nMSE" if experiment.unit == "nmse" else "Errors in percent"
    if all(e.error is None for e, _ in pairs):
        return f"After {place}. {unit}; the source prints no figures for it."
    return f"Printed in {place}. {unit}, with the published figure in brackets."


def _counts(pairs: Sequence[Pair]) -> list[str]:
    """Say for each method how many errors are below the published ones."""
    printed = [pair for pair in pairs if pair[0].error is not None]
    methods = sorted({e.method for e, _ in printed}, key=COLUMNS.index)
    own = {name: [record for e, record in printed if e.method == name] for name in methods}
    return [f"{method_title(name)}: {tally(records)}" for name, records in own.items()]


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


def _columns(pairs: Sequence[Pair]) -> list[str]:
    found = {_column(e): (COLUMNS.index(e.method), _column(e)) for e, _ in pairs}
    return sorted(found, key=found.__getitem__)


def _column(experiment: Experiment) -> str:
    if experiment.method == "egop" and "estimator" in experiment.parameters:
        return ESTIMATORS[experiment.parameters["estimator"]]
    return method_title(experiment.method)


def _row_order(experiment: Experiment) -> tuple[int, str, int, str]:
    # A curve keeps its data set together, a table the order it is printed in.
    line = experiment.line or 0
    return line, experiment.dataset, experiment.n_train, str(experiment.k)


def _row_name(experiment: Experiment) -> tuple[str, str, str]:
    kind = KINDS.get(str(experiment.k), str(experiment.k))
    n = f"{experiment.n_train:,}" if experiment.n_train else "all"
    return experiment.dataset, kind, n


def _cells(row: Mapping[str, Pair], columns: Sequence[str], label: str) -> list[str]:
    means = [pair[1]["error_mean"] for pair in row.values() if pair[1]["error_mean"] is not None]
    best = min(means) if len(means) > 1 else None  # one alone has won over nobody
    return [_cell(row.get(column), best, timed=label == TIMED) for column in columns]


def _cell(pair: Pair | None, best: float | None, *, timed: bool) -> str:
    if pair is None:
        return "–"
    experiment, record = pair
    percent = experiment.unit != "nmse"
    sd = record["error_sd"]
    spread = None if sd is None else (100 * sd if percent else sd)
    text = figure(record["error_mean"], spread, percent=percent)
    if record["error_mean"] is not None and record["error_mean"] == best:
        text = f"**{text}**"
    if experiment.error is not None:
        published = figure(record["published_error"], printed_spread(experiment), percent=percent)
        text += f" ({published})"
    if timed:
        text += _seconds(experiment, record)
    return text


def _seconds(experiment: Experiment, record: Record) -> str:
    published = "" if experiment.seconds is None else f" ({experiment.seconds:.0f} s)"
    taken = record["fit_cpu_seconds"]
    return "" if taken is None else f", {taken:.2f} s{published}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
