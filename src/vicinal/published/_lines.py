"""Published tables shown line by line: published, measured, the difference, the best rival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vicinal.published._experiments import Experiment
from vicinal.published._figures import (
    column_title,
    measured_figure,
    method_title,
    published_figure,
    signed,
    variant_title,
)
from vicinal.published._outcomes import tally
from vicinal.published._tables import Table

Record = Mapping[str, Any]
Pair = tuple[Experiment, Record]
HEADS = ("method", "data set", "k", "published", "measured", "difference", "spread")
RIVAL = "best other published"
RULES = {"method": "---", "data set": "---", "spread": "---"}
DEFAULTS = ""  # the column of a method as it comes


def lines_section(table: Table, pairs: Sequence[Pair]) -> str:
    """Return heading, counts and one line a cell; variants of a method are columns beside it."""
    variants = list(dict.fromkeys(variant_title(e) for e, _ in pairs if e.variant))
    lines: dict[tuple[str, str, Any], dict[str, Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: _order(pair[0])):
        experiment = pair[0]
        line = lines.setdefault((experiment.method, experiment.dataset, experiment.k), {})
        line[variant_title(experiment) if experiment.variant else DEFAULTS] = pair
    heads = (*HEADS, *(f"measured, {variant}" for variant in variants), RIVAL)
    rule = _line([RULES.get(head, "---:") for head in heads])
    told = f"Printed in {{cite}}`{table.document}`, {table.place}. {_summary(pairs)}"
    body = [_line(_cells(line, variants)) for line in lines.values()]
    return "\n".join([f"## {table.title}", "", told, "", _line(heads), rule, *body])


def _order(experiment: Experiment) -> tuple[str, str, int, str]:
    k = experiment.k if isinstance(experiment.k, int) else 0
    return experiment.method, experiment.dataset, k, str(experiment.k)


def _summary(pairs: Sequence[Pair]) -> str:
    """Say for each method how many errors are below the published ones."""
    titles = sorted({(e.method, e.variant, column_title(e)) for e, _ in pairs})
    own = {title: [r for e, r in pairs if column_title(e) == title] for *_, title in titles}
    return " ".join(f"{title}: {tally(records)}" for title, records in own.items())


def _cells(line: Mapping[str, Pair], variants: Sequence[str]) -> list[str]:
    experiment, record = next(iter(line.values()))
    percent = experiment.unit != "nmse"
    return [
        method_title(experiment.method),
        experiment.dataset,
        str(experiment.k),
        published_figure(experiment, record),
        *_measured(line.get(DEFAULTS), percent=percent),
        *(_variant(line.get(variant), percent=percent) for variant in variants),
        _rival(experiment),
    ]


def _measured(pair: Pair | None, *, percent: bool) -> tuple[str, str, str]:
    if pair is None:
        return "–", "–", "–"
    record = pair[1]
    difference = signed(record["difference"], percent=percent)
    verdict = record["verdict"] or record["status"]
    return measured_figure(record, percent=percent), difference, verdict


def _variant(pair: Pair | None, *, percent: bool) -> str:
    """Return the figure of a variant, with its difference from the published one in brackets."""
    if pair is None:
        return "–"
    difference = signed(pair[1]["difference"], percent=percent)
    return f"{measured_figure(pair[1], percent=percent)} ({difference})"


def _rival(experiment: Experiment) -> str:
    rival = experiment.rival
    return "–" if rival is None else f"{method_title(rival[0])} {rival[1]:.2f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
