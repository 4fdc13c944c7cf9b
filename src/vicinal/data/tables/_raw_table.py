"""What leaves a file: a frame, and what was noticed while it was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class TableError(ValueError):
    """A table that can be read if one thing is said; ``remedy`` holds it, an argument by name."""

    def __init__(self, message: str, **remedy: Any) -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(frozen=True)
class RawTable:
    """A table before its columns are looked at.

    ``notes`` are what a user should know of how the file was read; ``decimal`` is the decimal
    mark to take where a column could be read with either, None where the file does not say. The
    columns of an array were chosen by whoever made it: none is left out.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    decimal: str | None = None
    is_array: bool = False


def quoted(names: Sequence[Any], limit: int = 10) -> str:
    """Return names for a message: quoted, comma separated, cut after ``limit``."""
    shown = ", ".join(
        repr(f"{name[:60]}..." if isinstance(name, str) and len(name) > 70 else name)
        for name in names[:limit]
    )
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


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
