"""Published tables of networks on the sphere: what is printed, and the trainings to set beside it.

    trainings.toml ─▶ TrainedTable ─▶ WorldTraining each ─▶ run_world ─▶ figures ─▶ Markdown

A training serves every row that names it alike, and stands in a folder of its own, so that a
stopped run goes on where it stopped.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from vicinal import __version__
from vicinal.published._outcomes import code_digest

if TYPE_CHECKING:
    from vicinal.sphere.worlds import Helpers

# The first part of the names of all of these.
SPHERE = "sphere"
ERRORS = ("error_mean", "class_error")  # what is wrong, where tables print what is right


@dataclass(frozen=True)
class WorldTraining:
    """A run of a world, and which of its records stand in which column."""

    world: str
    source: str
    options: Mapping[str, Any]
    cells: Mapping[str, Mapping[str, Any]]

    @property
    def key(self) -> str:
        """What tells it from others: all but the columns."""
        return json.dumps([self.world, self.source, self.options], sort_keys=True)


@dataclass(frozen=True)
class TrainedRow:
    """A line of a published table; ``why`` says why nothing measures it, where that is so."""

    name: str
    title: str
    published: tuple[float, ...] = ()
    trainings: tuple[WorldTraining, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class TrainedTable:
    """A published table of networks: what of a record stands in each column, errors turned."""

    name: str
    title: str
    citation: str
    place: str
    figure: str
    percent: bool
    columns: tuple[str, ...]
    values: tuple[str, ...]
    note: str
    rows: tuple[TrainedRow, ...]

    def figure_of(self, column: str, records: Sequence[Mapping[str, Any]]) -> float:
        """Return the mean figure of some records."""
        value = self.values[self.columns.index(column)]
        mean = fmean(record[value] for record in records)
        share = 1 - mean if value in ERRORS else mean
        return 100 * share if self.percent else share


@cache
def published_trainings() -> tuple[TrainedTable, ...]:
    """Return every published table of networks."""
    text = files("vicinal.published").joinpath("trainings.toml").read_text(encoding="utf-8")
    return tuple(_table(table) for table in tomllib.loads(text)["tables"])


def _table(entry: dict[str, Any]) -> TrainedTable:
    rows = tuple(
        TrainedRow(
            row["name"],
            row["title"],
            tuple(row.get("published", ())),
            tuple(WorldTraining(**training) for training in row.get("trainings", ())),
            row.get("why", ""),
        )
        for row in entry.pop("rows")
    )
    columns, values = (tuple(entry.pop(key)) for key in ("columns", "values"))
    note = " ".join(entry.pop("note").split())
    return TrainedTable(**entry, columns=columns, values=values, note=note, rows=rows)


def is_of_sphere(name: str) -> bool:
    """Return whether a name picks trainings rather than experiments."""
    return name.split(":")[0] == SPHERE


def select_trainings(names: Iterable[str]) -> tuple[TrainedTable, ...]:
    """Return the tables and rows of names such as sphere, sphere:digits or sphere:digits:thesis."""
    tables: dict[str, TrainedTable] = {}
    for name in names:
        _, table, row, *more = [*name.split(":"), "", ""][:4]
        picked = [t for t in published_trainings() if table in ("", t.name)]
        picked = [_only(t, row) for t in picked]
        picked = [t for t in picked if t.rows]
        if not picked or any(more):
            choices = ", ".join(
                f"{SPHERE}:{t.name}:{r.name}" for t in published_trainings() for r in t.rows
            )
            raise ValueError(f"no published training is called {name!r}. Known: {choices}.")
        for each in picked:
            before = tables.get(each.name)
            rows = {r.name: r for t in (before, each) if t is not None for r in t.rows}
            tables[each.name] = replace(each, rows=tuple(rows.values()))
    return tuple(tables.values())


def _only(table: TrainedTable, row: str) -> TrainedTable:
    return replace(table, rows=tuple(r for r in table.rows if row in ("", r.name)))


def train_again(
    tables: Sequence[TrainedTable],
    folder: Path,
    helpers: Helpers,
    *,
    listener: Callable[[Any], None] = lambda step: None,
    say: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Run the trainings of some tables and return a record a cell that was measured.

    Parameters
    ----------
    tables : sequence of TrainedTable
    folder : Path
        Trainings stand in folders of it.
    helpers : Helpers
    listener, say : callables
        As of :func:`~vicinal.sphere.worlds.run_world`.
    """
    from vicinal.sphere.worlds import get_world, run_world

    outcomes: dict[str, list[dict[str, Any]]] = {}
    figures = []
    for table in tables:
        for row in table.rows:
            for training in row.trainings:
                if training.key not in outcomes:
                    world = get_world(training.world)
                    setting = world.setting(source=training.source, **training.options)
                    say(f"{table.title}: {row.title}")
                    place = folder / setting.folder_name()
                    outcome = run_world(
                        world, setting, place, helpers=helpers, listener=listener, say=say
                    )
                    outcomes[training.key] = outcome.records
                figures += figures_of(table, row, training, outcomes[training.key])
    return figures


def figures_of(
    table: TrainedTable,
    row: TrainedRow,
    training: WorldTraining,
    records: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return a record for each cell of a row that a training measures."""
    figures = []
    for column, where in training.cells.items():
        some = [r for r in records if all(r.get(word) == value for word, value in where.items())]
        printed = dict(zip(table.columns, row.published, strict=False))
        figures.append(
            {
                "experiment": f"{SPHERE}_{table.name}_{row.name}_{column}",
                "table": table.name,
                "row": row.name,
                "column": column,
                "measured": round(table.figure_of(column, some), 4),
                "published": printed.get(column),
                "n_folds": len(some),
                "cpu_seconds": round(sum(r["cpu_seconds"] for r in some), 1),
                "seed": some[0]["seed"],
                "version": __version__,
                "code": code_digest(SPHERE),
            }
        )
    return figures


def trainings_markdown(figures: Iterable[Mapping[str, Any]]) -> str:
    """Return a section a table: what is printed in brackets, what was measured before it."""
    measured = {(f["table"], f["row"], f["column"]): f for f in figures}
    return "\n\n".join(_section(table, measured) for table in published_trainings()) + "\n"


def _section(
    table: TrainedTable, measured: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> str:
    heads = ["", *table.columns, "CPU-seconds"]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    reasons = []
    for row in table.rows:
        cells, seconds = [row.title], []
        for number, column in enumerate(table.columns):
            figure = measured.get((table.name, row.name, column))
            digits = 2 if table.percent or table.figure != "share" else 3
            text = "–" if figure is None else f"{figure['measured']:.{digits}f}"
            if number < len(row.published):
                text += f" ({row.published[number]:g})"
            cells.append(text)
            if figure is not None:
                seconds.append(figure["cpu_seconds"])
        lines.append([*cells, f"{max(seconds):,.0f}" if seconds else "–"])
        if row.why:
            reasons.append(f"{row.title}: {row.why}")
        elif row.trainings and not seconds:
            name = f"{SPHERE}:{table.name}:{row.name}"
            reasons.append(f"{row.title}: not measured yet; `vicinal reproduce {name}` does.")
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    printed = any(row.published for row in table.rows)
    brackets = ", the published figure in brackets" if printed else ""
    sentence = f"{{cite}}`{table.citation}`, {table.place}: {table.figure}{brackets}. {table.note}"
    without = "\n".join(f"- {reason}" for reason in reasons)
    return "\n\n".join(filter(None, [f"## {table.title}", sentence, rows, without]))
