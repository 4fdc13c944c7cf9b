"""Which column of a table does what: predicted, named, grouped, weighed, left out, kept."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.data.tables._cells import as_texts
from vicinal.data.tables._columns import is_whole, recognise_columns
from vicinal.data.tables._doubts import leave_total
from vicinal.data.tables._raw_table import RawTable, quoted
from vicinal.data.tables._reading import ALL, FROM_0, Reading
from vicinal.data.tables._target import plain_target

if TYPE_CHECKING:
    import pandas as pd


# Asked for as groups: rows that are copies of one another.
COPIES = "copies"
# Lines above a header that are looked through for a name.
MOST_TITLES = 10


@dataclass(frozen=True)
class Roles:
    """Columns by what they are for.

    ``drop`` are left out, ``features`` the only ones to use (all where empty), ``keep`` used
    although they would be left out, ``categories`` hold codes even where these are numbers; ``id``
    names the rows, ``groups`` says which of them belong together ("copies": those that are alike in
    all columns), ``weights`` what each counts. ``missing`` are words that stand for no value, and
    ``sheet`` is the one of a workbook that holds the table.
    """

    drop: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    id: str | None = None
    groups: str | None = None
    weights: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None

    def __post_init__(self) -> None:
        for name in ("drop", "features", "keep", "categories", "missing"):
            value = getattr(self, name)
            object.__setattr__(
                self, name, (value,) if isinstance(value, str) else tuple(value or ())
            )

    def named(self) -> list[str]:
        """Return every column that is asked for by name."""
        singles = [name for name in (self.id, self.groups, self.weights) if name is not None]
        return [*self.drop, *self.features, *self.keep, *self.categories, *singles]


@dataclass(frozen=True)
class TableParts:
    """A table taken apart by roles.

    ``features`` (n, columns) with ``reading``, the record of its columns; ``target`` is None where
    the table lacks it; ``unit`` is what its numbers are written with. ``kept`` are the columns that
    someone asked for, all of an array's; ``copies`` says that copies are the groups.
    """

    features: pd.DataFrame
    reading: Reading
    target: pd.Series | None = None
    unit: str = ""
    ids: AnyArray | None = None
    groups: IntArray | None = None
    weights: FloatArray | None = None
    notes: tuple[str, ...] = ()
    kept: Collection[str] = ()
    copies: bool = False

    def without(self, name: str) -> TableParts:
        """Return the parts without a feature."""
        rest = [each for each in map(str, self.features.columns) if each != name]
        return replace(self, features=self.features[rest], reading=self.reading.of(rest))


def take_parts(
    table: RawTable, target: str, roles: Roles, path: str | os.PathLike[str], *,
    needs_target: bool = True,
) -> TableParts:  # fmt: skip
    """Return the features, the target and the other columns with a role.

    Raises
    ------
    ValueError
        For a column that is not there (with the nearest name), weights that are no numbers.
    """
    frame, total = leave_total(without_values(table.frame, roles.missing))
    names = [str(name) for name in frame.columns]
    copies = roles.groups == COPIES and COPIES not in names
    roles = replace(roles, groups=None) if copies else roles
    for name in [*([target] if needs_target else []), *roles.named()]:
        if name not in names:
            raise ValueError(f"{path}: no column {name!r}.{_suggest(name, names, table)}")
    frame = frame.assign(**{name: _codes(frame[name]) for name in roles.categories})
    keep = ALL if table.is_array else (*roles.keep, *roles.features)
    reading = recognise_columns(frame, table.decimal, keep=keep)
    column, unit = None, ""
    if target in names:
        column = plain_target(frame[target], reading[target])
        unit = reading[target].convention.unit
    taken = {target, *roles.drop, roles.id, roles.groups, roles.weights}
    columns = [n for n in names if n not in taken and (not roles.features or n in roles.features)]
    return TableParts(
        frame[columns],
        replace(reading.of(columns), notes=_notes_on(reading, [*columns, target])),
        column,
        unit,
        None if roles.id is None else _names(frame[roles.id]),
        None if roles.groups is None else group_codes(frame[roles.groups]),
        None if roles.weights is None else _weights(frame[roles.weights], roles.weights),
        (*table.notes, *total),
        frozenset(columns if table.is_array else (*roles.keep, *roles.features, *roles.categories)),
        copies,
    )


def without_values(frame: pd.DataFrame, words: Collection[str]) -> pd.DataFrame:
    """Return a frame whose cells of these words, or of the numbers they are, are missing."""
    if not words:
        return frame
    texts = {word.strip().casefold() for word in words}
    numbers = [float(word) for word in texts if re.fullmatch(r"[+-]?\d+(\.\d+)?", word)]

    def clear(column: pd.Series) -> pd.Series:
        if column.dtype.kind in "iuf":
            gone = column.isin(numbers)
        else:
            gone = column.astype(object).map(
                lambda value: isinstance(value, str) and value.strip().casefold() in texts
            )
        return column.mask(gone.astype(bool)) if gone.any() else column

    return frame.apply(clear)


def _notes_on(reading: Reading, names: list[str]) -> tuple[str, ...]:
    return tuple(note for note in reading.notes if any(note.startswith(repr(n)) for n in names))


def _suggest(asked: str, names: list[str], table: RawTable) -> str:
    near = difflib.get_close_matches(asked.lower(), [name.lower() for name in names], n=1)
    meant = next((name for name in names if near and name.lower() == near[0]), None)
    hint = f" Did you mean {meant!r}?" if meant else ""
    headless = [note for note in table.notes if "no header" in note]
    why = f" ({headless[0]}.)" if headless else ""
    first = table.frame.head(MOST_TITLES).astype(str)
    below = np.flatnonzero((first == asked).any(axis=1))
    if len(below) and not meant:
        why = f" {asked!r} stands in row {below[0]} ({FROM_0}): remove what is above the header."
    return f"{hint} The columns are {quoted(names, 30)}.{why}"


def _codes(column: pd.Series) -> pd.Series:
    """Return a column as categories; whole numbers lose the point that holes gave them."""
    if column.dtype.kind == "f" and is_whole(column.to_numpy()):
        column = column.astype("Int64")
    return column.map(str, na_action="ignore").astype("category")


def _names(column: pd.Series) -> AnyArray:
    return np.array(["" if text is None else text for text in as_texts(column)], dtype=np.str_)


def group_codes(column: pd.Series) -> IntArray:
    """Return the group of each row by number; a row without one is a group of its own."""
    texts = as_texts(column)
    numbers = {text: number for number, text in enumerate(sorted({text or "" for text in texts}))}
    codes = np.array([numbers[text or ""] for text in texts], dtype=np.int64)
    alone = np.array([text is None for text in texts])
    codes[alone] = codes.max(initial=0) + 1 + np.arange(alone.sum())
    return codes


def _weights(column: pd.Series, name: str) -> FloatArray:
    import pandas as pd

    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if len(wrong):
        raise ValueError(
            f"weights must be finite and not negative, but {name!r} holds "
            f"{str(column.iloc[wrong[0]])!r} in row {wrong[0]} (counting from 0)."
        )
    if not values.any():
        raise ValueError(f"the weights {name!r} are zero in every row.")
    return values
