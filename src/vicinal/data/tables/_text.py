"""Text files into columns: bytes -> text -> separator -> header -> cells, each step said in words.

Columns of plain numbers leave as numbers and are never held as text; all others leave as text,
for ``_columns`` to recognise.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.data.tables._dates import look_like_months
from vicinal.data.tables._header import (
    OPEN_QUOTE,
    Line,
    describe_ragged,
    drop_unnamed,
    name_columns,
)
from vicinal.data.tables._limits import refuse_too_wide
from vicinal.data.tables._numbers import NO_NUMBER, read_number_texts
from vicinal.data.tables._raw_table import RawTable

if TYPE_CHECKING:
    import pandas as pd

# What pandas takes for a missing value, and the question mark of the UCI archive.
MISSING_WORDS = ("?",)
# The comma comes last: it is the one that numbers are written with, too.
SEPARATORS = ("\t", ";", "|", ",")
N_LOOKED_AT = 50
_CODES = re.compile(rb"""(?:^|[\s,;|"])0[0-9]""")


def read_text(
    data: bytes, path: Path, separator: str | None = None, text_columns: Collection[str] = ()
) -> RawTable:
    """Return the table in the bytes of a text file.

    Parameters
    ----------
    data : bytes
    path : Path
        What messages call the file.
    separator : str, optional
        By default the one that parts the first rows alike.
    text_columns : collection of str
        Columns that are text even where every value looks like a number.
    """
    data, notes = as_utf8(data, path)
    data, separator = _said_separator(data, separator)
    data, comment = _without_comments(data)
    separator = separator or find_separator(data)
    if separator == " ":
        data = b"\n".join(b"\t".join(line.split()) for line in data.split(b"\n"))
        comment, separator = "\t".join(comment.split()), "\t"
    first = _first_rows(data, separator, path)
    refuse_too_wide(max((len(row.fields) for row in first), default=0), path)
    header = name_columns(first, comment.split(separator), path)
    parse = partial(_parse, data, separator, header.names, header.n_lines, path=path)
    frame = parse(text_columns)
    if len(frame) and bool(frame[header.names[-1]].isna().any()):  # pandas pads short rows silently
        _check_row_lengths(data, separator, header.n_lines, len(header.names), path)
    doubtful = _doubtful_numbers(data, frame, text_columns)
    if doubtful:
        frame = parse({*text_columns, *doubtful})
    frame, empty = _without_empty_end(frame)
    frame, unnamed = drop_unnamed(frame)
    decimal = "," if separator == ";" else None
    return RawTable(frame, (*notes, *header.notes, *empty, *unnamed), decimal=decimal)


# Bytes into text ------------------------------------------------------------------------------


def as_utf8(data: bytes, path: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return the text in UTF-8 without a byte-order mark, and what was found about its encoding."""
    for mark, encoding in ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")):
        if data.startswith(mark):
            return _decoded(data, encoding, path).encode(), (f"the text is {encoding}",)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        raise ValueError(
            f"{path}: not a text file (zero byte at offset {data.index(0)}); a table saved in "
            "another format must end in .parquet, .feather, .xlsx or .npz."
        )
    if not data.strip():
        raise ValueError(f"{path}: the file is empty.")
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # lines as old Macs end them
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = _decoded(data, "Windows-1252", path)
        return text.encode(), ("the text is not UTF-8; it was read as Western (Windows-1252)",)
    return data, ()


def _decoded(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: the text is neither UTF-8 nor {encoding} (byte 0x{data[error.start]:02x} at "
            f"offset {error.start}). Save it as UTF-8, for instance: "
            "iconv -f ISO-8859-15 -t UTF-8 in.csv > out.csv"
        ) from error


def _said_separator(data: bytes, separator: str | None) -> tuple[bytes, str | None]:
    """Take the line "sep=;" off, which Excel puts first."""
    first, _, rest = data.partition(b"\n")
    said = re.fullmatch(rb'"?sep=(.)"?\s*', first, re.IGNORECASE)
    return (b"\n" + rest, said[1].decode()) if said else (data, separator)


def _without_comments(data: bytes) -> tuple[bytes, str]:
    """Blank the lines that begin with #, where the file opens with one; return the last of those.

    Blank lines stay, so that line numbers in messages are those of the file.
    """
    if not data.lstrip().startswith(b"#"):
        return data, ""
    lines = data.split(b"\n")
    first = next((n for n, line in enumerate(lines) if not re.match(rb"#|\s*$", line)), len(lines))
    if first == len(lines):
        return data, ""  # nothing else: a table whose values begin with #
    last = next((line for line in reversed(lines[:first]) if line.strip()), b"")
    blanked = (b"" if line.startswith(b"#") else line for line in lines)
    return b"\n".join(blanked), last.lstrip(b"# ").decode("utf-8").strip()


# Text into rows -------------------------------------------------------------------------------


def find_separator(data: bytes) -> str:
    """Return what parts the first rows into the same number of fields, at least two.

    Where several do, the comma yields, since decimals and prose hold commas too; where none does,
    the first of the usual ones in the first line; blanks where there is none of them.
    """
    first = _unquoted_first_line(data)
    present = [mark for mark in SEPARATORS if mark in first]
    for mark in present:
        widths = [len(row.fields) for row in _first_rows(data, mark)]
        below = set(widths[1:]) or set(widths)
        if widths and widths[0] > 1 and below in ({widths[0]}, {widths[0] + 1}):
            return mark
    if present:
        return "," if "," in present else present[0]
    words = [len(line.split()) for line in data.split(b"\n", N_LOOKED_AT)[:-1] if line.strip()]
    return " " if len(words) > 1 and words[0] > 1 and len(set(words)) == 1 else ","


def _unquoted_first_line(data: bytes) -> str:
    return re.sub(r'"[^"]*"', "", data.lstrip(b"\r\n ").split(b"\n", 1)[0].decode("utf-8"))


def _first_rows(data: bytes, separator: str, path: Path | None = None) -> list[Line]:
    """Return the first rows; where the text cannot be taken apart, none, or a complaint by name."""
    try:
        return list(islice(_rows(data, separator), N_LOOKED_AT))
    except csv.Error as error:
        if path is None:
            return []
        raise ValueError(f"{path}: not a CSV table ({error}).") from error


def _rows(data: bytes, separator: str) -> Iterator[Line]:
    """Yield each row that is not blank."""
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    for fields in reader:
        if any(field.strip() for field in fields) or len(fields) > 1:
            yield Line(reader.line_num, fields)


# Rows into cells ------------------------------------------------------------------------------


def _parse(
    data: bytes,
    separator: str,
    header: list[str],
    n_lines: int,
    text_columns: Collection[str],
    path: Path,
) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            header=None,
            names=header,
            skiprows=n_lines,
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
        raise ValueError(f"{path}: {_complaint(error)}") from error


def _without_empty_end(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Leave out rows of separators alone at the end, as spreadsheets save them."""
    filled = frame.iloc[::-1].notna().any(axis=1).to_numpy()
    n_empty = int(filled.argmax()) if filled.any() else 0
    if not n_empty:
        return frame, ()
    note = f"passed over {n_empty:,} empty row{'s' * (n_empty > 1)} at the end"
    return frame.iloc[: len(frame) - n_empty], (note,)


def _exact_floats() -> dict[str, Any]:
    """Return how to ask pandas for the nearest float64; from 3.1 on it does so unasked."""
    import pandas as pd

    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}


def _doubtful_numbers(data: bytes, frame: pd.DataFrame, text_columns: Collection[str]) -> list[str]:
    """Return the columns of plain numbers whose texts say more than their values.

    Whole numbers where some cell opens with a zero, 007, may be codes; fractions beside columns
    with decimal commas may be thousands, 1.234, and 03.2021 a month.
    """
    kinds = {name: frame[name].dtype.kind for name in frame.columns if name not in text_columns}
    doubtful = [name for name, kind in kinds.items() if kind in "iu"] if _CODES.search(data) else []
    texts = [name for name, kind in kinds.items() if kind not in "iufb"]
    fractions = [name for name, kind in kinds.items() if kind == "f"]
    if fractions and any(_has_decimal_comma(frame[name]) for name in texts):
        return doubtful + fractions
    return doubtful + [name for name in fractions if look_like_months(frame[name].to_numpy(float))]


def _has_decimal_comma(column: pd.Series) -> bool:
    values = [
        v for v in map(str, column.dropna().unique()[:N_LOOKED_AT]) if v.lower() not in NO_NUMBER
    ]
    return read_number_texts(values).decimals == {","} if values else False


def _check_row_lengths(
    data: bytes, separator: str, n_lines: int, n_columns: int, path: Path
) -> None:
    for row in _rows(data, separator):
        if row.line > n_lines and len(row.fields) != n_columns:
            raise ValueError(f"{path}: {describe_ragged(row, n_columns)}")


def _complaint(error: Exception) -> str:
    long_row = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if long_row:
        expected, line, n_cells = (int(number) for number in long_row.groups())
        return describe_ragged(Line(line, [""] * n_cells), expected)
    if "EOF inside string" in str(error):
        return OPEN_QUOTE
    return f"not a CSV table ({str(error).strip()})."
