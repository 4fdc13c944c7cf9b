"""The documentation's results page, made from records and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from vicinal.experiments._methods import get_method
from vicinal.experiments._outcomes import tally
from vicinal.experiments._published import Experiment, published_experiments

Record = Mapping[str, Any]
SCALES = {
    "zscore": "features z-scored",
    "histogram": "histogram normalisation",
    "unit": "rows of unit length",
    "none": "features as they come",
}
QUOTED = {"gblmnn": "GB-LMNN", "knca": "k-NCA"}
HEADER = (
    "| method | data set | k | published | measured | difference | spread | best other published |"
)
RULE = "|---|---|---:|---:|---:|---:|---|---:|"


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return the records of all ``*.json`` files of a folder, in the files' order by name."""
    return [
        record
        for file in sorted(folder.glob("*.json"))
        for record in json.loads(file.read_text(encoding="utf-8"))["records"]
    ]


def results_markdown(records: Iterable[Record]) -> str:
    """Return one section a published table: what was printed, what we measure, and the doubts.

    Raises
    ------
    ValueError
        For records of a quick run: figures from a subsample are no reproduction.
    """
    records = list(records)
    quick = [record["experiment"] for record in records if record["quick"]]
    if quick:
        raise ValueError(
            f"{quick[0]} was run with --quick, on a subsample; a results page takes whole runs."
        )
    known = {experiment.name: experiment for experiment in published_experiments()}
    pairs = [(known[r["experiment"]], r) for r in records if r["experiment"] in known]
    pairs.sort(key=lambda pair: (pair[0].document, *_place(pair[0])))
    tables = groupby(pairs, key=lambda pair: (pair[0].document, _label(pair[0])))
    sections = [_section(list(table)) for _, table in tables]
    return "\n\n".join([*sections, _doubts([experiment for experiment, _ in pairs])]) + "\n"


def _place(experiment: Experiment) -> tuple[int, str, str, str, int, str]:
    """Order tables as they are printed, then by method and data set."""
    first = min(
        other.line or 0
        for other in published_experiments()
        if (other.document, _label(other)) == (experiment.document, _label(experiment))
    )
    label, method = _label(experiment), experiment.method
    k = experiment.k if isinstance(experiment.k, int) else 0
    return first, label, method, experiment.dataset, k, str(experiment.k)


def _label(experiment: Experiment) -> str:
    return experiment.table.split(",")[0].removeprefix("tab:")


def _section(pairs: Sequence[tuple[Experiment, Record]]) -> str:
    experiment = pairs[0][0]
    scale = SCALES.get(experiment.preparation["scale"], experiment.preparation["scale"])
    printed = f"Printed in {{cite}}`{experiment.document}`, table `{_label(experiment)}`."
    lines = [_row(experiment, record) for experiment, record in pairs]
    return "\n".join(
        [f"## {scale.capitalize()}", "", f"{printed} {_summary(pairs)}", "", HEADER, RULE, *lines]
    )


def _summary(pairs: Sequence[tuple[Experiment, Record]]) -> str:
    """Say for each method how many errors are below the published ones."""
    methods = sorted({experiment.method for experiment, _ in pairs})
    own = {name: [r for experiment, r in pairs if experiment.method == name] for name in methods}
    return " ".join(f"{_title(name)}: {tally(records)}" for name, records in own.items())


def _row(experiment: Experiment, record: Record) -> str:
    percent = experiment.unit == "percent"
    published = figure(record["published_error"], experiment.spread, percent=percent)
    sd = record["error_sd"]
    spread = None if sd is None else (100 * sd if percent else sd)
    cells = [
        _title(experiment.method),
        experiment.dataset,
        str(experiment.k),
        published,
        figure(record["error_mean"], spread, percent=percent),
        signed(record["difference"], percent=percent),
        record["verdict"] or record["status"],
        _rival(experiment),
    ]
    return "| " + " | ".join(cells) + " |"


def _rival(experiment: Experiment) -> str:
    rival = experiment.rival
    return "–" if rival is None else f"{_title(rival[0])} {rival[1]:.2f}"


def _title(method: str) -> str:
    try:
        return get_method(method).title
    except ValueError:  # a rival that is only quoted
        return QUOTED.get(method, method.upper())


def figure(error: float | None, spread: float | None, *, percent: bool) -> str:
    """Return an error in the unit it is printed in, with ± where a spread is known."""
    if error is None:
        return "–"
    text = f"{100 * error:.2f}" if percent else f"{error:.3f}"
    digits = 1 if percent else 3
    return text if spread is None else f"{text} ± {spread:.{digits}f}"


def signed(difference: float | None, *, percent: bool) -> str:
    """Return a difference with its sign; minus is better than published."""
    if difference is None:
        return "–"
    value, digits = (100 * difference, 2) if percent else (difference, 3)
    text = f"{round(value, digits) or 0.0:+.{digits}f}"  # what rounds to nothing is not negative
    return text.replace("-", "−")


def _doubts(experiments: Sequence[Experiment]) -> str:
    """List every doubt once, with the data sets and methods it touches."""
    touched: dict[str, set[str]] = {}
    for experiment in experiments:
        for doubt in experiment.doubts:
            place = f"{_title(experiment.method)} on {experiment.dataset}"
            touched.setdefault(doubt, set()).add(place)
    lines = [f"- {doubt} *({_places(places)})*" for doubt, places in touched.items()]
    return "\n".join(["## What the sources leave open", "", *lines])


def _places(places: set[str]) -> str:
    return ", ".join(sorted(places)) if len(places) <= 4 else f"{len(places)} sets and methods"
