"""The documentation's results page, made from records and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from vicinal.published._experiments import Experiment, published_experiments
from vicinal.published._figures import figure, method_title, printed_spread, signed
from vicinal.published._matrix import TITLES, label_of, matrix_section
from vicinal.published._outcomes import tally

Record = Mapping[str, Any]
SCALES = {
    "zscore": "features z-scored",
    "histogram": "histogram normalisation",
    "unit": "rows of unit length",
    "none": "features as they come",
}
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


def records_citing(records: Iterable[Record], citations: Iterable[str]) -> list[Record]:
    """Return the records of experiments that cite one of some works."""
    wanted = set(citations)
    names = {e.name for e in published_experiments() if e.citation in wanted}
    return [record for record in records if record["experiment"] in names]


def results_markdown(records: Iterable[Record]) -> str:
    """Return one section a published table: what was printed, what we measure, and the doubts.

    Tables that compare methods column by column are shown so, the others line by line.

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
    tables = groupby(pairs, key=lambda pair: (pair[0].document, label_of(pair[0])))
    sections = [
        matrix_section(list(table)) if label in TITLES else _section(list(table))
        for (_, label), table in tables
    ]
    return "\n\n".join([*sections, _doubts([experiment for experiment, _ in pairs])]) + "\n"


def _place(experiment: Experiment) -> tuple[int, str, str, str, int, str]:
    """Order tables as they are shown or else printed, then by method and data set."""
    label, method = label_of(experiment), experiment.method
    if label in TITLES:
        first = list(TITLES).index(label)
    else:
        first = _first_line(experiment.document, label)
    k = experiment.k if isinstance(experiment.k, int) else 0
    return first, label, method, experiment.dataset, k, str(experiment.k)


def _first_line(document: str, label: str) -> int:
    """Return the line at which a table begins in its source."""
    return min(
        other.line or 0
        for other in published_experiments()
        if (other.document, label_of(other)) == (document, label)
    )


def _section(pairs: Sequence[tuple[Experiment, Record]]) -> str:
    experiment = pairs[0][0]
    scale = SCALES.get(experiment.preparation["scale"], experiment.preparation["scale"])
    printed = f"Printed in {{cite}}`{experiment.document}`, table `{label_of(experiment)}`."
    lines = [_row(experiment, record) for experiment, record in pairs]
    return "\n".join(
        [f"## {scale.capitalize()}", "", f"{printed} {_summary(pairs)}", "", HEADER, RULE, *lines]
    )


def _summary(pairs: Sequence[tuple[Experiment, Record]]) -> str:
    """Say for each method how many errors are below the published ones."""
    methods = sorted({experiment.method for experiment, _ in pairs})
    own = {name: [r for experiment, r in pairs if experiment.method == name] for name in methods}
    return " ".join(f"{method_title(name)}: {tally(records)}" for name, records in own.items())


def _row(experiment: Experiment, record: Record) -> str:
    percent = experiment.unit != "nmse"
    published = figure(record["published_error"], printed_spread(experiment), percent=percent)
    sd = record["error_sd"]
    spread = None if sd is None else (100 * sd if percent else sd)
    cells = [
        method_title(experiment.method),
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
    return "–" if rival is None else f"{method_title(rival[0])} {rival[1]:.2f}"


def _doubts(experiments: Sequence[Experiment]) -> str:
    """List every doubt once, with the data sets and methods it touches."""
    touched: dict[str, set[str]] = {}
    for experiment in experiments:
        for doubt in experiment.doubts:
            place = f"{method_title(experiment.method)} on {experiment.dataset}"
            touched.setdefault(doubt, set()).add(place)
    lines = [f"- {doubt} *({_places(places)})*" for doubt, places in touched.items()]
    return "\n".join(["## What the sources leave open", "", *lines])


def _places(places: set[str]) -> str:
    return ", ".join(sorted(places)) if len(places) <= 4 else f"{len(places)} sets and methods"
