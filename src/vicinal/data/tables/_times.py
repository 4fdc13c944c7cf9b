"""Rows in the order of a time: of a date, of a number called so, or of the file itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.data.tables._columns import FEW_ROWS
from vicinal.data.tables._dependence import BEYOND_CHANCE, Dependence, Evidence, share_groups
from vicinal.data.tables._reading import Column
from vicinal.data.tables._roles import group_codes

if TYPE_CHECKING:
    import pandas as pd

# A moment; and what may be one, or how long something took.
_MOMENT = re.compile(
    r"(?:.*[\s_.-])?(?:time[\s_.-]?stamp|unix(?:[\s_.-]?time)?|date|datum|year|yr|jahr"
    r"|zeit(?:punkt|stempel))",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?:.*[\s_.-])?(?:time|epoch|zeit|t|ts|tick|time[\s_.-]?(?:step|index)|period)", re.IGNORECASE
)


def find_time(columns: list[Column], frame: pd.DataFrame, rows: Evidence) -> Dependence | None:
    """Return the order of the first time that says something, or a line on one that may.

    Parameters
    ----------
    columns : list of Column
        Those that became features, and whole numbers left out for telling rows apart.
    frame : DataFrame
        The table as it was read.
    rows : Evidence
    """
    for name, times, is_moment in _clocks(columns, frame, rows):
        series = _series(columns, frame, times)
        in_order = _never_turns_back(times, series)
        follows = serial_dependence(rows.targets, times, series) > BEYOND_CHANCE
        if in_order and follows and is_moment:
            line = (
                f"rows come in the order of {name!r} and their targets follow one another: "
                "each part is learned from what came before it (protocol='time'); where time "
                "does not matter, shuffle them (protocol='kfold')"
            )
            return Dependence("time", times=times, notes=(line,))
        if in_order or follows:
            seen = "rows come in the order" if in_order else "targets follow one another in order"
            line = (
                f"{seen} of {name!r}: if later rows are to be predicted from earlier ones, "
                "have them judged so (protocol='time'), or every error may be flattered"
            )
            return Dependence(times=times, notes=(line,))
        return Dependence(times=times)
    return _by_the_file(rows)


def _clocks(
    columns: list[Column], frame: pd.DataFrame, rows: Evidence
) -> Iterator[tuple[str, FloatArray, bool]]:
    """Yield columns of dates, then of numbers called a time, as numbers without holes.

    With each whether it surely is a moment: rows may be sorted by how long something took.
    """
    import pandas as pd

    numbers = [c for c in columns if c.kind in ("number", "identifier")]
    moments = [c for c in columns if c.kind == "date"]
    moments += [c for c in numbers if _MOMENT.fullmatch(c.name)]
    for column in [*moments, *(c for c in numbers if _TIME.fullmatch(c.name))]:
        if column.used:
            times = rows.numbers(column.name)
        else:
            times = pd.to_numeric(frame[column.name], errors="coerce").to_numpy(np.float64)
        if not np.isnan(times).any() and len(np.unique(times)) >= FEW_ROWS:
            yield column.name, times, column in moments


def _series(columns: list[Column], frame: pd.DataFrame, times: FloatArray) -> IntArray:
    """Return the series of each row: where times come again, the column that parts them, if any."""
    one = np.zeros(len(times), np.int64)
    if len(np.unique(times)) == len(times):
        return one
    for column in columns:
        if column.kind not in ("category", "text", "number") or not column.used:
            continue
        codes = group_codes(frame[column.name])
        long = int(codes.max()) + 1 <= len(codes) / FEW_ROWS
        if long and len(np.unique(np.stack([codes, times]), axis=1).T) == len(times):
            return codes
    return one


def _never_turns_back(times: FloatArray, series: IntArray) -> bool:
    order = np.argsort(series, kind="stable")
    steps = np.diff(times[order])[np.diff(series[order]) == 0]
    return bool(np.all(steps >= 0) or np.all(steps <= 0))


def serial_dependence(
    targets: FloatArray, times: FloatArray, series: IntArray | None = None
) -> float:
    """Return how many deviations the correlation of neighbours in time is beyond chance.

    Neighbours are of one series, (n,), and each series' own mean counts for nothing.
    """
    if series is None or not series.any():
        series = np.zeros(len(times), np.int64)
    else:
        sizes = np.bincount(series)
        sums = np.stack([np.bincount(series, column) for column in targets.T], axis=1)
        targets = targets - (sums / np.maximum(sizes, 1)[:, None])[series]
    order = np.lexsort((times, series))
    values, same = targets[order], np.diff(series[order]) == 0
    total = float(np.sum(values**2))
    products = float(np.sum((values[1:] * values[:-1])[same]))
    return products / total * len(values) ** 0.5 if total > 0 else 0.0


def _by_the_file(rows: Evidence) -> Dependence | None:
    """Return a line where rows next to each other have like targets, and no column is why.

    A file may be sorted by a column, or class by class in a few parts: then its order says nothing.
    """
    places = np.arange(len(rows.X)) * 1.0
    if serial_dependence(rows.targets, places) <= BEYOND_CHANCE:
        return None
    runs = np.append(0, np.cumsum(np.any(rows.targets[1:] != rows.targets[:-1], axis=1)))
    if any(map(_is_sorted, rows.X.T)) or _is_sorted(rows.targets[:, 0]):
        return None
    if runs[-1] + 1 <= len(runs) / FEW_ROWS and not share_groups(runs, rows.without("")):
        return None
    line = (
        "rows next to each other have like targets, more than chance has it: if they come in order "
        "of time, have them judged so (protocol='time'); if they come in groups, name the column "
        "(groups); or every error may be flattered"
    )
    return Dependence(times=places, notes=(line,))


def _is_sorted(values: FloatArray) -> bool:
    """Say whether values only rise, or only fall, or come again and stand together."""
    before, after = values[:-1], values[1:]
    n_values = len(np.unique(values))
    together = n_values <= len(values) / 2 and int(np.sum(before != after)) + 1 == n_values
    in_order = bool(np.all(before <= after) or np.all(before >= after))
    return n_values > 1 and (together or in_order)
