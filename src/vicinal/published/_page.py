"""The documentation's results page, made from records and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vicinal.published._experiments import Experiment
from vicinal.published._figures import method_title
from vicinal.published._sections import lines_section, matrix_section
from vicinal.published._tables import Table, published_experiments, published_tables

Record = Mapping[str, Any]
SECTIONS = {"lines": lines_section, "columns": matrix_section}


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return the records of all ``*.json`` files of a folder, in the files' order by name."""
    return [
        record
        for file in sorted(folder.glob("*.json"))
        for record in json.loads(file.read_text(encoding="utf-8"))["records"]
    ]


def records_citing(records: Iterable[Record], sources: Iterable[str]) -> list[Record]:
    """Return the records of experiments that cite one of some works, or stand in some tables."""
    works = set(sources)
    names = {e.name for e in published_experiments() if {e.citation, e.table} & works}
    return [record for record in records if record["experiment"] in names]


def results_markdown(records: Iterable[Record]) -> str:
    """Return one section a published table: what was printed, what we measure, and the doubts.

    Tables that compare methods column by column are shown so, the others line by line.

    Raises
    ------
    ValueError
        For records of a quick run: figures from a subsample are no reproduction.
    """
    measured = {record["experiment"]: record for record in records}
    quick = [name for name, record in measured.items() if record["quick"]]
    if quick:
        raise ValueError(
            f"{quick[0]} was run on a subsample (quick); a results page takes whole runs."
        )
    sections, shown = [], []
    for table in published_tables():
        pairs = [(e, measured[e.name]) for e in table.experiments if e.name in measured]
        if pairs:
            sections.append(SECTIONS[table.layout](table, pairs))
            sections.extend(_without_twin(table, measured))
            shown += [experiment for experiment, _ in pairs]
    return "\n\n".join([*sections, _doubts(shown)]) + "\n"


def _without_twin(table: Table, measured: Mapping[str, Record]) -> list[str]:
    """Say which printed figures of a table have no measured one beside them."""
    printed = [
        e for e in table.experiments if e.error is not None and not e.variant and not e.beside
    ]
    missing = [e for e in printed if e.name not in measured]
    if not missing:
        return []
    places: dict[str, dict[str, list[str]]] = {}
    for experiment in missing:
        by_set = places.setdefault(method_title(experiment.method), {})
        by_set.setdefault(experiment.dataset, []).append(str(experiment.k))
    cells = "; ".join(
        f"{method} on " + ", ".join(f"{name} (k = {', '.join(ks)})" for name, ks in by_set.items())
        for method, by_set in places.items()
    )
    return [
        f"{len(missing)} of {len(printed)} printed figures have no measured one beside them, for "
        f"the time fits take; `vicinal reproduce {table.name}` measures them. They are: {cells}."
    ]


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
