"""Which rows a user means: a known data set by name, or a table by its place."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from vicinal.data import Roles, check_source, find, get_entry, obtain, sha256_of
from vicinal.runs import Source


def find_source(
    data: str,
    *,
    target: str | None = None,
    task: str | None = None,
    impute: bool = False,
    limit: int | None = None,
    roles: Roles | None = None,
) -> Source:
    """Return where the rows of a known name or a file come from; known names come first.

    Raises
    ------
    ValueError
        For a name that is neither, with the nearest known ones; for table options on a known
        data set.
    """
    if limit is not None and limit < 2:
        raise ValueError(f"a sample (limit) must have at least 2 rows, got {limit}.")
    check_task(task)
    name = check_source(data)
    path = Path(data)
    named = {} if roles is None else {k: v for k, v in asdict(roles).items() if v}
    if name is None:
        source = Source(path.name, str(path.resolve()), target, task, impute, limit=limit)
        return replace(source, digest=sha256_of(path), roles=named)
    if target is not None or task is not None or impute or named:
        raise ValueError(
            f"{data} is a known data set with a target of its own; target, task, impute and "
            f"columns by name are for tables (write ./{data} for a file of that name)."
        )
    return Source(name, limit=limit)


def fetch_rows(source: Source) -> None:
    """Fetch a known data set that is not on this computer, where its progress can be seen."""
    if source.path is None and find(get_entry(source.name)).place in ("absent", "raw files"):
        obtain(get_entry(source.name))


def check_task(task: str | None) -> None:
    """Refuse a task nobody knows."""
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task must be classification or regression, got {task!r}.")
