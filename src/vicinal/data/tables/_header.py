"""What the columns of a text file are called: a first line of names, a comment, or numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from vicinal.data.tables._numbers import NO_NUMBER, looks_like_number
from vicinal.data.tables._raw_table import quoted

if TYPE_CHECKING:
    import pandas as pd

OPEN_QUOTE = "a quotation mark is opened and never closed."
_UNNAMED = "column "


@dataclass(frozen=True)
class Line:
    """The fields of a row, and the line of the file it ends in."""

    line: int
    fields: list[str]


@dataclass(frozen=True)
class Header:
    """The names of all columns, and how many lines of the file come before the rows."""

    names: list[str]
    n_lines: int
    notes: tuple[str, ...] = ()


def name_columns(rows: Sequence[Line], comment: Sequence[str], path: Path) -> Header:
    """Return the header of the first rows of a file.

    Parameters
    ----------
    rows : sequence of Line
    comment : sequence of str
        The fields of a comment before the rows: where there are as many as columns and the first
        row is no header, they are the names.
    """
    first, below = rows[0], rows[1:]
    values = [row.fields for row in below]
    if len(comment) == len(first.fields) > 1 and _is_header(first.fields, values) is not True:
        return _distinct([name.strip().strip('"') for name in comment], 0)
    if _is_header(first.fields, values) is False:
        names = [f"x{number}" for number in range(len(first.fields))]
        note = (
            "the first line holds values like the others, so the file has no header and its "
            f"columns are called x0 to x{len(names) - 1}"
        )
        return Header(names, 0, (note,))
    names = [name.strip() for name in first.fields]
    if below:
        if all(len(row) == len(names) + 1 and not row[-1].strip() for row in values):
            names.append("")  # every row ends in a separator that the header lacks
        _check_first_row(names, below[0], path)
    return _distinct(names, first.line)


def _is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool | None:
    """Say whether the first row names the columns; None where nothing speaks for or against it.

    It does where a word stands above a column of numbers. It does not where some of it are
    numbers, unless they count up evenly as numbered columns and years do, or where all of it
    are values that come again below.
    """
    cells = [cell.strip() for cell in first]
    columns = list(zip(*[row for row in below if len(row) == len(first)], strict=True))
    if not columns:
        return None
    for cell, column in zip(cells, columns, strict=True):
        values = [value for value in column if value.strip().lower() not in NO_NUMBER]
        above = cell.lower() not in NO_NUMBER and not looks_like_number(cell)
        if above and values and all(map(looks_like_number, values)):
            return True
    numbers = [cell for cell in cells if looks_like_number(cell)]
    if numbers:
        return _count_up(numbers)
    again = all(cell in column for cell, column in zip(cells, columns, strict=True))
    return False if again else None


def _count_up(cells: list[str]) -> bool:
    if len(cells) < 2 or not all(cell.isdigit() for cell in cells):
        return False
    steps = {int(b) - int(a) for a, b in pairwise(cells)}
    return len(steps) == 1 and min(steps) > 0


def _distinct(names: list[str], n_lines: int) -> Header:
    """Return names that differ: a second "a" becomes "a.2", the nameless are numbered from 1."""
    seen: Counter[str] = Counter()
    taken = set(names)
    distinct = []
    for number, name in enumerate(names, start=1):
        seen[name] += 1
        while name and seen[name] > 1 and f"{name}.{seen[name]}" in taken:
            seen[name] += 1
        repeated = f"{name}.{seen[name]}" if seen[name] > 1 else name
        distinct.append(repeated if name else f"{_UNNAMED}{number}")
    several = [name for name, count in seen.items() if name and count > 1]
    if not several:
        return Header(distinct, n_lines)
    second = f"{several[0]}.2"
    note = f"several columns are called {quoted(several)}; the second is called {second!r} here"
    return Header(distinct, n_lines, (note,))


def drop_unnamed(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Leave out columns with neither name nor value: the separators that end every line."""
    unnamed = [name for name in frame.columns if re.fullmatch(rf"{_UNNAMED}\d+", name)]
    no_value = frame[unnamed].isna().all()
    empty, rest = ([name for name in unnamed if no_value[name] == each] for each in (True, False))
    notes = (f"columns without a name are called {quoted(rest)}",) if rest else ()
    return (frame.drop(columns=empty) if empty else frame), notes


def _check_first_row(names: list[str], row: Line, path: Path) -> None:
    if len(row.fields) != len(names):
        unclosed = "\n" in row.fields[-1]  # a cell that swallowed the lines after it
        raise ValueError(f"{path}: {OPEN_QUOTE if unclosed else describe_ragged(row, len(names))}")


def describe_ragged(row: Line, n_columns: int) -> str:
    """Return what is wrong with a row of another length than the header."""
    columns = "is 1 column" if n_columns == 1 else f"are {n_columns} columns"
    return f"line {row.line} has {len(row.fields)} values, but there {columns}."
