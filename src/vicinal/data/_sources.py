"""Whether a name is a known data set or the place of a table; nothing heavy is loaded for it."""

from __future__ import annotations

from pathlib import Path

from vicinal.data.tables._files import check_file, table_suffix


def check_source(data: str) -> str | None:
    """Return the full name of a known data set, None for a table; known names come first.

    Raises
    ------
    ValueError
        Where it is neither (with the nearest known names), or the file cannot be read.
    """
    path = Path(data)
    if table_suffix(path) is not None or len(path.parts) > 1:  # no set is called like that
        check_file(path)
        return None
    from vicinal.data._registry import get_entry  # with NumPy

    try:
        return get_entry(data).name
    except ValueError as error:
        if path.exists():
            check_file(path)
            return None
        raise ValueError(f"{error} There is no file {data!r} here either.") from None
