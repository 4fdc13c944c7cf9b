"""Excel workbooks: the first sheet that holds anything, values only, by openpyxl."""

from __future__ import annotations

import statistics
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vicinal.data.tables._header import Line, drop_unnamed, name_columns
from vicinal.data.tables._limits import TooLargeError, refuse_beyond, unpacked_limit
from vicinal.data.tables._raw_table import RawTable, quoted

# What is raised over archives and sheets that are not whole; a fault of XML is a SyntaxError.
_DAMAGE = (
    ArithmeticError, AttributeError, EOFError, LookupError, OSError, RuntimeError, SyntaxError,
    TypeError, ValueError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip

_MOST_ROWS = 2**20
MOST_LOOKED_AT = 1000


def read_workbook(path: Path, sheet: str | None = None) -> RawTable:
    """Return the sheet of that name, or the first that holds a table.

    Of formulas, the values they were saved with.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise ValueError(
            f"{path}: reading Excel workbooks needs openpyxl, which is not installed: "
            "pip install 'vicinal[excel]', or save the sheet as CSV."
        ) from error
    try:
        with path.open("rb") as file:  # which openpyxl leaves open where the workbook is damaged
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheets = {each.title: _filled_cells(each, path) for each in book.worksheets}
    except TooLargeError:
        raise
    except _DAMAGE as error:
        raise ValueError(f"{path}: not a whole Excel workbook ({error}).") from error
    filled = [title for title, each in sheets.items() if each.rows]
    if not filled:
        raise ValueError(f"{path}: the workbook is empty.")
    title = _choose_sheet(sheets, filled, sheet, path)
    table = _as_table(sheets[title], path)
    if len(filled) == 1 or sheet is not None:
        return table
    note = f"of the sheets {quoted(filled)}, {title!r} was read; another is read by name (sheet)"
    return RawTable(table.frame, (note, *table.notes))


def _choose_sheet(
    sheets: dict[str, _Sheet], filled: list[str], asked: str | None, path: Path
) -> str:
    """Return the title of the sheet asked for, by default the first of two columns and rows."""
    if asked is None:
        tables = [t for t in filled if len(sheets[t].rows) > 1 and len(sheets[t].rows[0]) > 1]
        return (tables or filled)[0]
    if asked not in filled:
        kind = "an empty sheet" if asked in sheets else "no sheet"
        raise ValueError(f"{path}: {asked!r} is {kind} of it; there are {quoted(filled)}.")
    return asked


@dataclass(frozen=True)
class _Sheet:
    """The rows and columns of a sheet that hold anything, and what lay empty between them."""

    rows: list[tuple[Any, ...]]
    notes: tuple[str, ...] = ()


def _filled_cells(sheet: Any, path: Path) -> _Sheet:
    # The size a sheet claims to have is not believed: rows are as wide as their last cell. A cell
    # far from the others costs what it holds, not the millions of empty ones between.
    sheet.reset_dimensions()
    limit, size, last = unpacked_limit(path), 0, 0
    filled: list[dict[int, Any]] = []
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > _MOST_ROWS:  # rows left out are counted up to one that claims any number
            raise ValueError(f"a row claims to be beyond the {_MOST_ROWS:,} that a sheet can have")
        size += 8 * len(row)
        refuse_beyond(size, limit, path)
        cells = {place: value for place, value in enumerate(row) if value is not None}
        if cells:
            filled.append(cells)
            last = number
    places = sorted(set().union(*filled))
    refuse_beyond(8 * len(places) * len(filled), limit, path)
    rows = [tuple(cells.get(place) for place in places) for cells in filled]
    n_rows, n_columns = last - len(rows), (places[-1] + 1 if places else 0) - len(places)
    gaps = [(n_rows, "row"), (n_columns, "column")]
    passed = " and ".join(f"{n:,} empty {what}{'s' * (n > 1)}" for n, what in gaps if n)
    return _Sheet(rows, (f"passed over {passed} of the sheet",) if passed else ())


def _as_table(sheet: _Sheet, path: Path) -> RawTable:
    import pandas as pd

    rows, titles = _without_titles(sheet.rows)
    texts = [Line(n, ["" if v is None else str(v) for v in row]) for n, row in enumerate(rows[:50])]
    header = name_columns([Line(row.line + 1, row.fields) for row in texts], (), path)
    body = rows[1:] if header.n_lines else rows
    columns = zip(*body, strict=True) if body else [()] * len(header.names)
    cells = {n: list(column) for n, column in zip(header.names, columns, strict=True)}
    frame, unnamed = drop_unnamed(pd.DataFrame(cells).infer_objects())
    return RawTable(frame, (*sheet.notes, *titles, *header.notes, *unnamed))


def _without_titles(
    rows: list[tuple[Any, ...]],
) -> tuple[list[tuple[Any, ...]], tuple[str, ...]]:
    """Leave out what stands above the header: rows that fill half as many cells as most do."""
    filled = [sum(value is not None for value in row) for row in rows[:MOST_LOOKED_AT]]
    usual = statistics.median(filled)
    first = next(n for n, count in enumerate(filled) if count > usual / 2)
    if not first or usual < 2:
        return rows, ()
    title = next(str(value) for value in rows[0] if value is not None)
    above = f"{first} row{'s' * (first > 1)} above the header"
    return rows[first:], (f"passed over {above} ({title[:40]!r}{', ...' * (first > 1)})",)
