"""Excel workbooks: the first sheet that holds anything, values only, by openpyxl."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vicinal.data.tables._header import Row, drop_unnamed, name_columns
from vicinal.data.tables._raw_table import RawTable


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
        sheets = {sheet.title: _filled_rows(sheet) for sheet in book.worksheets}
        book.close()
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path}: not a whole Excel workbook ({error}).") from error
    filled = [title for title, rows in sheets.items() if rows]
    if not filled:
        raise ValueError(f"{path}: the workbook is empty.")
    table = _as_table(sheets[filled[0]], path)
    if len(filled) == 1:
        return table
    found = f"of {len(filled)} sheets the first, {filled[0]!r}, was read"
    return RawTable(table.frame, (found, *table.notes))


def _filled_rows(sheet: Any) -> list[tuple[Any, ...]]:
    rows = [row for row in sheet.iter_rows(values_only=True) if any(v is not None for v in row)]
    width = max((_width(row) for row in rows), default=0)
    return [row[:width] + (None,) * (width - len(row)) for row in rows]


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
