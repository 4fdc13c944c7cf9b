"""Weka's ARFF files: declared columns, then rows separated by commas."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from vicinal.data.tables._raw_table import RawTable, check_column_names
from vicinal.data.tables._text import as_utf8

_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?P<name>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(?P<kind>.+)""",
    re.IGNORECASE,
)
_NUMBERS = ("numeric", "real", "integer")


def read_arff(data: bytes, path: Path) -> RawTable:
    """Return the rows; columns of declared values are categories, ? is missing."""
    import pandas as pd

    data, notes = as_utf8(data, path)
    kinds, lines = _declared(data.decode("utf-8").splitlines(), path)
    check_column_names(list(kinds), path)
    try:
        rows = list(csv.reader(lines, quotechar="'", skipinitialspace=True, escapechar="\\"))
    except csv.Error as error:
        raise ValueError(f"{path}: a row after @data cannot be read ({error}).") from error
    if rows and rows[0][0].lstrip().startswith("{"):
        raise ValueError(f"{path}: sparse ARFF is not read; save the table with every value.")
    wrong = next((row for row in rows if len(row) != len(kinds)), None)
    if wrong is not None:
        raise ValueError(
            f"{path}: a row after @data has {len(wrong)} values, but {len(kinds)} are declared."
        )
    frame = pd.DataFrame(rows, columns=list(kinds), dtype=object)
    frame = frame.apply(lambda column: column.str.strip().replace({"?": None, "": None}))
    for name, kind in kinds.items():
        if kind.lower() in _NUMBERS:
            numbers = pd.to_numeric(frame[name], errors="coerce")
            if numbers.isna().equals(frame[name].isna()):  # else a word is among them
                frame[name] = numbers
        elif kind.startswith("{"):
            frame[name] = frame[name].astype("category")
    return RawTable(frame, notes)


def _declared(lines: list[str], path: Path) -> tuple[dict[str, str], list[str]]:
    """Return the columns with their kinds, and the lines after @data."""
    kinds: dict[str, str] = {}
    for number, line in enumerate(lines):
        match = _ATTRIBUTE.match(line.strip())
        if match:
            name = match["name"].strip("'\"").replace("\\", "")
            kinds[name] = match["kind"].strip()
        elif line.strip().lower() == "@data":
            rest = lines[number + 1 :]
            return kinds, [row for row in rest if row.strip() and not row.startswith("%")]
    raise ValueError(f"{path}: not an ARFF file (there is no line @data).")
