"""How much a packed table may unpack to, before it is believed.

A megabyte can be made to unpack to gigabytes. A packed table may take 100 MB unpacked, or 20 times
its size on disk where that is more; tables of the usual kind stay far below. The environment's
``VICINAL_LARGEST_TABLE``, such as ``4GB``, is another limit.
"""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

VARIABLE = "VICINAL_LARGEST_TABLE"
_USUAL, _TIMES = 10**8, 20
MOST_COLUMNS = 100_000
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


class TooLargeError(ValueError):
    """A table unpacks to more than it may."""


def unpacked_limit(path: Path) -> int:
    """Return the most bytes that the table in a file may take unpacked."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return max(_USUAL, _TIMES * path.stat().st_size)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]b)?", text.lower())
    if match is None:
        raise ValueError(f"{VARIABLE} must be a size such as 500MB or 4GB, got {text!r}.")
    return int(float(match[1]) * _UNITS[match[2] or ""])


def refuse_beyond(size: int, limit: int, path: Path) -> None:
    """Refuse a table that takes more bytes than it may."""
    if size > limit:
        raise TooLargeError(
            f"{path}: its {path.stat().st_size / 1e6:.3g} MB unpack to more than "
            f"{limit / 1e6:.3g} MB, as files made to fill the memory do. If you trust it, set "
            f"{VARIABLE} to a larger size, such as 4GB."
        )


def refuse_too_wide(n_columns: int, path: Path) -> None:
    """Refuse a table of more columns than could be looked at one by one in seconds."""
    if n_columns > MOST_COLUMNS:
        raise TooLargeError(
            f"{path}: the table has {n_columns:,} columns, and at most {MOST_COLUMNS:,} are read. "
            "If its rows and columns are swapped, turn it; else choose columns first."
        )


def refuse_large_archive(path: Path) -> None:
    """Refuse a zip archive whose members together unpack to too much.

    An archive that is none is left to its reader. Members are never read beyond the sizes they
    claim here.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return
    refuse_beyond(size, unpacked_limit(path), path)
