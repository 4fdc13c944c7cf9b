"""Files into raw tables, by the end of their names; every way a file can be wrong said in words.

No stage after this one touches a file. Nothing here runs code found in a file (NPZ is read
without pickles, workbooks without formulas).
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vicinal.data.tables._limits import (
    refuse_beyond,
    refuse_large_archive,
    refuse_too_wide,
    unpacked_limit,
)
from vicinal.data.tables._raw_table import RawTable

if TYPE_CHECKING:
    import pandas as pd

TEXTS = (".csv", ".tsv", ".txt", ".dat", ".data", ".jsonl", ".ndjson", ".arff")
TABLE_SUFFIXES = (
    *TEXTS, *(f"{suffix}.gz" for suffix in TEXTS), ".parquet", ".feather", ".xlsx", ".npz",
)  # fmt: skip


def read_raw(
    path: str | os.PathLike[str],
    *,
    target: str = "y",
    text_columns: Collection[str] = (),
    sheet: str | None = None,
    n_rows: int | None = None,
    seed: int = 0,
) -> RawTable:
    """Return the table in a file, its columns as the file has them.

    Parameters
    ----------
    path : path
        Ends in one of ``TABLE_SUFFIXES``.
    target : str
        Which array of an NPZ file to take beside ``X``; its other arrays are left alone.
    text_columns : collection of str
        Columns of a text file that are text even where every value looks like a number.
    sheet : str, optional
        The sheet of a workbook, by default the first that holds a table.
    n_rows : int, optional
        Of a text of more than 100 MB, read about so many rows, drawn at random through the file.
    seed : int
        Draws them.

    Returns
    -------
    RawTable
        With distinct, non-empty column names and at least one row. An NPZ file gives its ``X`` as
        columns (named by its array ``feature_names``, else x0, x1, ...) and its target.

    Raises
    ------
    ValueError
        The file is missing, unreadable, empty, damaged or not a table; the message says which.
    """
    path = Path(path)
    suffix = table_suffix(path)
    check_file(path)
    if suffix is None:
        raise ValueError(
            f"{path}: cannot tell what kind of table this is from its name; it must end in one of "
            f"{', '.join(s for s in TABLE_SUFFIXES if not s.endswith('.gz'))}, or in .gz after "
            "one of the texts among them."
        )
    if sheet is not None and suffix != ".xlsx":
        raise ValueError(f"{path}: sheets (sheet) are of Excel workbooks alone.")
    try:
        table = None if n_rows is None else _read_sample(path, suffix, text_columns, n_rows, seed)
        if table is None:
            table = _read(path, suffix, target, text_columns, sheet)
    except MemoryError as error:
        raise ValueError(f"{path}: reading it takes more memory than there is.") from error
    refuse_too_wide(table.frame.shape[1], path)
    if len(table.frame) == 0:
        raise ValueError(f"{path}: the table has column names but no rows.")
    return replace(table, frame=table.frame.rename(columns=str))


def _read(
    path: Path, suffix: str, target: str, text_columns: Collection[str], sheet: str | None
) -> RawTable:
    """Hand the file to whoever knows its kind; none is imported before it is needed."""
    if suffix in (".parquet", ".feather"):
        from vicinal.data.tables._arrow import read_arrow

        return RawTable(read_arrow(path, suffix))
    if suffix in (".npz", ".xlsx"):
        refuse_large_archive(path)
    if suffix == ".npz":
        from vicinal.data.tables._npz import read_npz

        return RawTable(read_npz(path, target), is_array=True)
    if suffix == ".xlsx":
        from vicinal.data.tables._workbook import read_workbook

        return read_workbook(path, sheet)
    return _read_text(_unpacked(path), path, suffix.removesuffix(".gz"), text_columns)


def _read_sample(
    path: Path, suffix: str, text_columns: Collection[str], n_rows: int, seed: int
) -> RawTable | None:
    """Draw rows of a text too large to be looked at whole; None is any other table."""
    from vicinal.data.tables._sampling import LINES, is_large_text, sample_records

    if not is_large_text(path):
        return None
    data, n_records = sample_records(path, n_rows, seed)
    table = _read_text(data, path, suffix, text_columns)
    n_all = n_records - (suffix not in LINES)  # the names of the columns
    drawn = (
        f"{len(table.frame):,} of the {n_all:,} rows of its {path.stat().st_size / 1e6:.0f} MB "
        "were drawn at random (limit)"
    )
    return replace(table, notes=(drawn, *table.notes))


def _read_text(data: bytes, path: Path, suffix: str, text_columns: Collection[str]) -> RawTable:
    if suffix in (".jsonl", ".ndjson"):
        from vicinal.data.tables._json_lines import read_json_lines

        return read_json_lines(data, path)
    if suffix == ".arff":
        from vicinal.data.tables._arff import read_arff

        return read_arff(data, path)
    from vicinal.data.tables._text import read_text

    return read_text(data, path, "\t" if suffix == ".tsv" else None, text_columns)


def read_frame(
    path: str | os.PathLike[str], *, target: str = "y", text_columns: Collection[str] = ()
) -> pd.DataFrame:
    """Return the frame of :func:`read_raw`."""
    return read_raw(path, target=target, text_columns=text_columns).frame


def _unpacked(path: Path) -> bytes:
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    limit = unpacked_limit(path)
    try:
        with gzip.open(path) as file:
            data = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: not a whole gzip file ({error}).") from error
    refuse_beyond(len(data), limit, path)
    return data


def table_suffix(path: str | os.PathLike[str]) -> str | None:
    """Return which of ``TABLE_SUFFIXES`` a file name ends in, None when it is another."""
    name = Path(path).name.lower()
    return next((suffix for suffix in TABLE_SUFFIXES if name.endswith(suffix)), None)


def check_file(path: Path) -> None:
    """Refuse what cannot be read as a file, saying why."""
    try:
        if path.is_dir():
            raise ValueError(f"{path} is a directory; give the file in it that holds the table.")
        if not path.exists():
            raise ValueError(f"{path}: no such file.")
        if not path.is_file():
            raise ValueError(f"{path} is not a regular file; write the table to a file first.")
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        reason = "no permission" if isinstance(error, PermissionError) else error.strerror
        raise ValueError(f"{path} cannot be read: {reason}.") from error
    if empty:
        raise ValueError(f"{path}: the file is empty.")
