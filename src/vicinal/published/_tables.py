"""Published tables as data: one TOML file a table, read into experiments.

The files live in ``tables/`` beside this one. ``tables/schema.json`` says what they hold, and
``tables/notes.toml`` what the sources leave open.
"""

from __future__ import annotations

import tomllib
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.published._experiments import Experiment, pick_experiments

if TYPE_CHECKING:
    from vicinal.runs import Neighbors

NOTES = "notes"
CHOSEN = ("knn", "hnn")  # the words of a run, which is not loaded for reading a table
ABSENT = "–"
Figure = tuple[float, float | None]  # as printed: the error, and what stands after ±
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A published table or figure: what it is, where it is printed, and its experiments.

    ``layout`` is how results are shown: "lines" (one a cell, with the difference) or "columns"
    (methods side by side). ``experiments`` are in the order of the rows.
    """

    name: str
    title: str
    citation: str
    document: str
    place: str
    order: int
    layout: str
    unit: str
    experiments: tuple[Experiment, ...]


@dataclass(frozen=True)
class PrintedRow:
    """One line of a table: a data set, the neighbours, and the figures by method."""

    dataset: str
    k: Neighbors
    figures: Mapping[str, Figure]


@cache
def published_tables() -> tuple[Table, ...]:
    """Return every shipped table, in the order in which results are shown."""
    folder = Path(__file__).parent / "tables"
    texts = {
        file.name.removesuffix(".toml"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }
    notes = parse_notes(texts.pop(NOTES))
    tables = (parse_table(text, name, notes) for name, text in texts.items())
    return tuple(sorted(tables, key=lambda table: table.order))


def published_experiments() -> tuple[Experiment, ...]:
    """Return every shipped experiment, ordered by method, data set, preparation and k."""
    experiments = (e for table in published_tables() for e in table.experiments)
    return tuple(sorted(experiments, key=_order))


def select_experiments(
    names: Iterable[str], ks: Iterable[int] | None = None
) -> tuple[Experiment, ...]:
    """Return the shipped experiments that names pick; see :func:`pick_experiments`."""
    return pick_experiments(published_experiments(), names, ks)


def _order(experiment: Experiment) -> tuple[str, str, int, str, int]:
    """Sort k and sizes as numbers: k11 comes after k3, n1000 after n500."""
    k = experiment.k if isinstance(experiment.k, int) else 0
    stem = experiment.name.rsplit("_", 1)[0]
    return experiment.method, stem, k, str(experiment.k), experiment.n_train


def parse_notes(text: str) -> dict[str, str]:
    """Read the notes, by their keys; line ends within one are spaces."""
    return {key: " ".join(note.split()) for key, note in tomllib.loads(text).items()}


def parse_table(text: str, name: str, notes: Mapping[str, str]) -> Table:
    """Read one table; ``name`` is the file's name without its ending.

    Raises
    ------
    ValueError
        Where the text is not TOML, lacks a field or names an unknown note; it says in which
        table, and in which row.
    """
    try:
        head = tomllib.loads(text)
        fields = {
            word: head[word]
            for word in ("title", "citation", "document", "place", "order", "layout", "unit")
        }
        rows = parse_rows(head["rows"])
        experiments = tuple(
            experiment
            for row in rows
            for column in head["methods"]
            for experiment in _experiments(head, name, column, row, notes)
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"published table {name}.toml cannot be read: {why}") from error
    return Table(name=name, **fields, experiments=experiments)


def parse_rows(text: str) -> list[PrintedRow]:
    """Read lines of words: a head of ``dataset k`` and methods, then a line a row.

    Figures are printed ones, "2.32" or "2.32±0.1"; – stands where there is none.
    """
    head, *lines = (line.split() for line in text.strip().splitlines())
    if head[:2] != ["dataset", "k"]:
        raise ValueError(f"rows begin with the head 'dataset k', got {' '.join(head)!r}")
    return [_row(head, words, number) for number, words in enumerate(lines, 1)]


def _row(head: list[str], words: list[str], number: int) -> PrintedRow:
    place = f"row {number} ({' '.join(words[:2])})"
    if len(words) != len(head):
        raise ValueError(f"{place} has {len(words)} words for {len(head)} columns")
    cells = dict(zip(head[2:], words[2:], strict=True))
    try:
        figures = {method: _figure(word) for method, word in cells.items() if word != ABSENT}
        return PrintedRow(words[0], _neighbors(words[1]), figures)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _figure(word: str) -> Figure:
    error, sign, spread = word.partition("±")
    return float(error), float(spread) if sign else None


def _neighbors(word: str) -> Neighbors:
    return word if word in CHOSEN else int(word)


def _experiments(
    head: Fields, table: str, column: str, row: PrintedRow, notes: Mapping[str, str]
) -> Iterator[Experiment]:
    """Yield the experiments of one method on one row: none, one, or one for each size."""
    own = head["methods"][column]
    if not _holds(own, {column}, row):
        return
    names = {column, own.get("method", column)}  # what holds for a method holds for its variants
    blocks = [head, own, *(e for e in head.get("exceptions", ()) if _holds(e, names, row))]
    fields = ChainMap(*(dict(block) for block in reversed(blocks)))
    experiment = _experiment(fields, own, table, column, row)
    keys = {key for block in blocks for key in block.get("notes", ())}
    unknown = keys - set(notes)
    if unknown:
        raise ValueError(f"no note is called {min(unknown)!r}; notes.toml holds them")
    doubts = tuple(text for key, text in notes.items() if key in keys)
    yield from _by_size(replace(experiment, doubts=doubts))


def _holds(block: Fields, methods: set[str], row: PrintedRow) -> bool:
    """Say whether a block speaks of a cell: it names its data set, method and k, or none."""
    return (
        row.dataset in block.get("datasets", (row.dataset,))
        and row.k in block.get("k", (row.k,))
        and not methods.isdisjoint(block.get("methods", methods))
    )


def _experiment(
    fields: Fields, own: Fields, table: str, column: str, row: PrintedRow
) -> Experiment:
    method, protocol = own.get("method", column), dict(fields["protocol"])
    printed = own.get("figure", own.get("beside", method))
    error, spread = row.figures.get(printed, (None, None))
    experiment = Experiment(
        name="",
        table=table,
        citation=fields["citation"],
        dataset=row.dataset,
        protocol=protocol.pop("name"),
        folds=protocol,
        preparation=fields["preparation"],
        method=method,
        parameters=fields.get("parameters", {}),
        k=row.k,
        error=error,
        spread=spread,
        unit=fields["unit"],
        others={name: figure[0] for name, figure in row.figures.items() if name != printed},
        view=fields.get("view", {}),
        seconds=_seconds(fields, own, row),
        variant=own.get("variant", ""),
        beside=own.get("beside", ""),
        title=own.get("title", ""),
    )
    ending = f"k{row.k}" if isinstance(row.k, int) else row.k
    words = (experiment.citation, experiment.label, row.dataset, fields.get("word"), ending)
    return replace(experiment, name="_".join(word for word in words if word))


def _seconds(fields: Fields, own: Fields, row: PrintedRow) -> float | None:
    """Return the published running time, which belongs to one k where the table says to which."""
    of_row = fields.get("seconds_k", row.k) == row.k
    return own.get("seconds", {}).get(row.dataset) if of_row else None


def _by_size(experiment: Experiment) -> Iterator[Experiment]:
    """Yield one experiment for each of ``train_sizes``; a time belongs to the largest."""
    folds = dict(experiment.folds)
    sizes = folds.pop("train_sizes", None)
    if sizes is None:
        yield experiment
        return
    for n in sizes:
        yield replace(
            experiment,
            name=f"{experiment.name}_n{n}",
            folds={**folds, "train_size": n},
            seconds=experiment.seconds if n == max(sizes) else None,
        )
