"""Files into tables: CSV, Parquet and NPZ, with every way a file can be wrong said in words.

No stage after this one touches a file; what leaves is a pandas frame with distinct column names
and at least one row. Nothing here runs code found in a file (NPZ is read without pickles).
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

TABLE_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".parquet", ".npz")
# What pandas takes for a missing value, and the question mark of the UCI archive.
MISSING_WORDS = ("?",)
OPEN_QUOTE = "a quotation mark is opened and never closed."
DELIMITERS = (",", ";", "\t", "|")
WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MOST_DIGITS = 4000  # of a whole number that Python reads; a longer one is infinite as a float


def read_frame(
    path: str | os.PathLike[str], *, target: str = "y", text_columns: Collection[str] = ()
) -> pd.DataFrame:
    """Return the table in a file as a frame.

    Parameters
    ----------
    path : path
        Ends in one of ``TABLE_SUFFIXES``.
    target : str
        Which array of an NPZ file to take beside ``X``; its other arrays are left alone.
    text_columns : collection of str
        Columns of a CSV file that are text even where every value looks like a number.

    Returns
    -------
    DataFrame with distinct, non-empty column names and at least one row. An NPZ file gives its
    ``X`` as columns (named by its array ``feature_names``, else x0, x1, ...) and its target.

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
            f"{', '.join(TABLE_SUFFIXES)}."
        )
    if suffix == ".parquet":
        frame = _read_parquet(path)
    elif suffix == ".npz":
        frame = _read_npz(path, target)
    else:
        delimiter = "\t" if suffix.startswith(".tsv") else None
        frame = _read_csv(path, delimiter, text_columns)
    if len(frame) == 0:
        raise ValueError(f"{path}: the table has column names but no rows.")
    return frame


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


def check_column_names(names: Sequence[str], path: Path) -> None:
    """Refuse empty and repeated column names."""
    empty = [str(number) for number, name in enumerate(names, start=1) if not name]
    if empty:
        raise ValueError(
            f"{path}: column {', '.join(empty[:5])} has no name. Name it, or remove it if it only "
            "numbers the rows (pandas writes such a column unless told index=False)."
        )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"{path}: column names appear more than once: {quoted(repeated)}.")


def quoted(names: Sequence[Any], limit: int = 10) -> str:
    """Return names for a message: quoted, comma separated, cut after ``limit``."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


# CSV ------------------------------------------------------------------------------------------


def _read_csv(path: Path, delimiter: str | None, text_columns: Collection[str]) -> pd.DataFrame:
    data = _text_bytes(path)
    delimiter = delimiter or _delimiter(data)
    header = _check_first_rows(data, delimiter, path)
    frame = _parse_csv(data, delimiter, header, text_columns, path)
    large = [n for n in header if n not in text_columns and _holds_large_number(frame[n])]
    if large:
        frame = _parse_csv(data, delimiter, header, {*text_columns, *large}, path)
        frame = frame.assign(**{name: _numbers_of_any_size(frame[name]) for name in large})
    if len(frame) and bool(frame[header[-1]].isna().any()):  # pandas pads short rows silently
        _check_row_lengths(data, delimiter, len(header), path)
    return frame


def _parse_csv(
    data: bytes, delimiter: str, header: list[str], text_columns: Collection[str], path: Path
) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(
            io.BytesIO(data),
            sep=delimiter,
            header=None,
            names=header,
            skiprows=_header_lines(data, delimiter),
            index_col=False,
            skipinitialspace=True,
            na_values=list(MISSING_WORDS),
            dtype={name: str for name in text_columns if name in header},
            low_memory=False,
            **_exact_floats(),
        )
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=header)
    except (pd.errors.ParserError, ValueError, OverflowError) as error:
        raise ValueError(f"{path}: {_csv_complaint(data, delimiter, error)}") from error


def _holds_large_number(column: pd.Series) -> bool:
    """Say whether a column that pandas took for text holds a number beyond its integers."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    texts = (str(value).strip() for value in column.dropna().unique())
    return any(NUMBER.fullmatch(text) and abs(float(text)) >= 2**63 for text in texts)


def _numbers_of_any_size(column: pd.Series) -> pd.Series:
    """Return a column of texts as numbers, where all of them are.

    Whole numbers stay exact, of any size; others become float64, infinite beyond its range.
    """
    import pandas as pd

    texts = column.dropna().str.strip()
    if not all(NUMBER.fullmatch(text) for text in texts):
        return column
    whole = all(WHOLE.fullmatch(text) and len(text) <= MOST_DIGITS for text in texts)
    numbers = [int(text) if whole else float(text) for text in texts]
    kept = pd.Series(numbers, index=texts.index, dtype=object if whole else np.float64)
    return kept.reindex(column.index)


def _exact_floats() -> dict[str, Any]:
    """Return how to ask pandas for the nearest float64; from 3.1 on it does so unasked."""
    import pandas as pd

    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}


def _text_bytes(path: Path) -> bytes:
    """Return the file's UTF-8 text as bytes, unpacked and without a byte-order mark."""
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path}: not a whole gzip file ({error}).") from error
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path}: the text is UTF-16, not UTF-8. {_reencode('UTF-16')}")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        raise ValueError(
            f"{path}: not a text file (zero byte at offset {data.index(0)}); a table saved in "
            "another format must end in .parquet or .npz."
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: the text is not UTF-8 (byte 0x{data[error.start]:02x} at offset "
            f"{error.start}). {_reencode('ISO-8859-1')}"
        ) from error
    if not data.strip():
        raise ValueError(f"{path}: the file is empty.")
    return data


def _reencode(guess: str) -> str:
    return f"Save it as UTF-8, for instance: iconv -f {guess} -t UTF-8 in.csv > out.csv"


def _rows(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) of each row that is not blank."""
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for fields in reader:
        if any(field.strip() for field in fields) or len(fields) > 1:
            yield reader.line_num, fields


def _delimiter(data: bytes) -> str:
    """Return the comma, unless the first line has none but has another usual separator."""
    line = data.lstrip().split(b"\n", 1)[0].decode("utf-8")
    unquoted = re.sub(r'"[^"]*"', "", line)
    return next((mark for mark in DELIMITERS if mark in unquoted), ",")


def _header_lines(data: bytes, delimiter: str) -> int:
    return next(_rows(data, delimiter))[0]


def _check_first_rows(data: bytes, delimiter: str, path: Path) -> list[str]:
    """Return the column names; refuse a first row of another length than theirs."""
    try:
        rows = _rows(data, delimiter)
        _, header = next(rows)
        line, first = next(rows, (0, header))
    except csv.Error as error:
        raise ValueError(f"{path}: not a CSV table ({error}).") from error
    names = [name.strip() for name in header]
    check_column_names(names, path)
    if len(first) != len(names):
        unclosed = "\n" in first[-1]  # a cell that swallowed the lines after it
        raise ValueError(
            f"{path}: {OPEN_QUOTE if unclosed else _ragged(line, len(first), len(names))}"
        )
    return names


def _check_row_lengths(data: bytes, delimiter: str, n_columns: int, path: Path) -> None:
    for line, fields in _rows(data, delimiter):
        if len(fields) != n_columns:
            raise ValueError(f"{path}: {_ragged(line, len(fields), n_columns)}")


def _ragged(line: int, found: int, expected: int) -> str:
    return f"line {line} has {found} values, but there are {expected} columns."


def _csv_complaint(data: bytes, delimiter: str, error: Exception) -> str:
    long_row = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if long_row:
        expected, line, found = (int(number) for number in long_row.groups())
        return _ragged(line, found, expected)
    if "EOF inside string" in str(error):
        return OPEN_QUOTE
    return f"not a CSV table ({str(error).strip()})."


# Parquet --------------------------------------------------------------------------------------


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ValueError(
            f"{path}: reading Parquet needs pyarrow, which is not installed: "
            "pip install 'vicinal[parquet]', or save the table as CSV."
        ) from error
    try:
        table = pq.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path}: not a whole Parquet file ({reason})") from error
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    check_column_names(names, path)
    described = (table.schema.pandas_metadata or {}).get("columns", [])
    table = table.select(names).replace_schema_metadata()  # an index of pandas is no column
    nested = [field.name for field in table.schema if pa.types.is_nested(field.type)]
    if nested:
        raise ValueError(
            f"{path}: columns hold lists or records, not single values: {quoted(nested)}. "
            "Spread them over columns of their own or remove them."
        )
    frame = _with_floats_for_decimals(table).to_pandas()
    declared = {entry.get("name"): entry.get("pandas_type") for entry in described}
    return frame.astype({n: "category" for n in names if declared.get(n) == "categorical"})


def _with_floats_for_decimals(table: Any) -> Any:
    import pyarrow as pa

    fields = [
        field.with_type(pa.float64()) if pa.types.is_decimal(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


# NPZ ------------------------------------------------------------------------------------------


def _read_npz(path: Path, target: str) -> pd.DataFrame:
    import pandas as pd

    arrays = _npz_arrays(path)
    X = _npz_features(arrays, path)
    names = _npz_feature_names(arrays.get("feature_names"), X.shape[1], path)
    frame = pd.DataFrame(X, columns=names)
    if target not in arrays or target == "X":
        return frame
    if target in names:
        raise ValueError(f"{path}: {target!r} names both an array and a feature of X.")
    y = arrays[target]
    if y.shape != (len(X),):
        raise ValueError(
            f"{path}: {target} must have shape ({len(X)},) to match the rows of X, got {y.shape}."
        )
    return pd.concat([frame, pd.Series(y, name=target)], axis=1)


def _npz_features(arrays: dict[str, Any], path: Path) -> Any:
    if "X" not in arrays:
        raise ValueError(f"{path}: no array named 'X'; found {quoted(sorted(arrays))}.")
    X = arrays["X"]
    if X.ndim != 2:
        raise ValueError(f"{path}: X must have shape (rows, features), got {X.shape}.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must hold numbers, got dtype {X.dtype}.")
    return X.astype(np.float64) if X.dtype.kind == "b" else X


def _npz_arrays(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no archive of named arrays")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        if "allow_pickle" in str(error) or "pickled" in str(error):
            raise ValueError(
                f"{path}: holds pickled Python objects, which could run code and are never "
                "loaded. Save plain number or text arrays with numpy.savez."
            ) from error
        raise ValueError(f"{path}: not a whole NPZ file ({error}).") from error


def _npz_feature_names(names: Any, n_features: int, path: Path) -> list[str]:
    if names is None:
        return [f"x{number}" for number in range(n_features)]
    if names.shape != (n_features,):
        raise ValueError(
            f"{path}: feature_names has shape {names.shape}, but X has {n_features} columns."
        )
    listed = [str(name) for name in names]
    check_column_names(listed, path)
    return listed
