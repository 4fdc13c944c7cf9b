"""Excel workbooks: the first sheet that holds anything, values only, by openpyxl."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vicinal.data.tables._header import Row, drop_unnamed, name_columns
from vicinal.data.tables._limits import TooLargeError, refuse_beyond, unpacked_limit
from vicinal.data.tables._raw_table import RawTable

# What is raised over archives and sheets that are not whole; a fault of XML is a SyntaxError.
_DAMAGE = (
    ArithmeticError, AttributeError, EOFError, LookupError, OSError, RuntimeError, SyntaxError,
    TypeError, ValueError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip

_MOST_ROWS = 2**20


def read_workbook(path: Path) -> RawTable:
    """Return the first sheet with values; of formulas, the values they were saved with."""
    try:
        import openpyxl
    except ImportError as error:
        raise ValueError(
            f"{path}: reading Excel workbooks needs openpyxl, which is not installed: "
            "pip install 'vicinal[excel]', or save the sheet as CSV."
        ) from error
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        sheets = {sheet.title: _filled_rows(sheet, path) for sheet in book.worksheets}
        book.close()
    except TooLargeError:
        raise
    except _DAMAGE as error:
        raise ValueError(f"{path}: not a whole Excel workbook ({error}).") from error
    filled = [title for title, rows in sheets.items() if rows]
    if not filled:
        raise ValueError(f"{path}: the workbook is empty.")
    table = _as_table(sheets[filled[0]], path)
    if len(filled) == 1:
        return table
    found = f"of {len(filled)} sheets the first, {filled[0]!r}, was read"
    return RawTable(table.frame, (found, *table.notes))


def _filled_rows(sheet: Any, path: Path) -> list[tuple[Any, ...]]:
    # The size a sheet claims to have is not believed: rows are as wide as their last cell.
    sheet.reset_dimensions()
    limit, size, rows = unpacked_limit(path), 0, []
    for number, row in enumerate(sheet.iter_rows(values_only=True)):
        if number >= _MOST_ROWS:  # rows left out are counted up to one that claims any number
            raise ValueError(f"a row claims to be beyond the {_MOST_ROWS:,} that a sheet can have")
        size += 8 * len(row)
        refuse_beyond(size, limit, path)
        if any(value is not None for value in row):
            rows.append(row[: _width(row)])
    width = max(map(len, rows), default=0)
    refuse_beyond(8 * width * len(rows), limit, path)
    return [row + (None,) * (width - len(row)) for row in rows]


def _width(row: Sequence[Any]) -> int:
    return max(number for number, value in enumerate(row, start=1) if value is not None)


def _as_table(rows: list[tuple[Any, ...]], path: Path) -> RawTable:
    import pandas as pd

    texts = [Row(n, ["" if v is None else str(v) for v in row]) for n, row in enumerate(rows[:50])]
    header = name_columns([Row(row.line + 1, row.fields) for row in texts], (), path)
    body = rows[1:] if header.n_lines else rows
    columns = zip(*body, strict=True) if body else [()] * len(header.names)
    cells = {n: list(column) for n, column in zip(header.names, columns, strict=True)}
    frame, unnamed = drop_unnamed(pd.DataFrame(cells).infer_objects())
    return RawTable(frame, (*header.notes, *unnamed))
