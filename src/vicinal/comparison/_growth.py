"""What methods cost as the rows grow: samples of rising size, one fold each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vicinal._types import FloatArray
from vicinal.comparison._plan import Question, plan_comparison
from vicinal.comparison._rows import load_rows
from vicinal.runs import Cell, Record, Source

# Below this a fit is mostly overhead, and its growth says nothing.
SHORTEST = 0.02
# As many rows as most methods handle in a minute.
MOST_ROWS = 8000


@dataclass(frozen=True)
class Growth:
    """One method's cost against the size of its training part.

    ``exponent`` is the slope of log CPU-seconds against log rows: 1 is linear, 2 quadratic;
    None where fewer than two sizes took long enough to tell.
    """

    method: str
    n_train: tuple[int, ...]
    fit_cpu_seconds: tuple[float, ...]
    peak_mb: tuple[float, ...]
    exponent: float | None


def plan_growth(
    source: Source,
    sizes: Sequence[int] | None,
    *,
    methods: Sequence[str] | None,
    k: int,
    seed: int,
) -> list[Cell]:
    """Return one cell for each size and method, smallest first.

    Without sizes: a quarter, a half and all of the rows, but at most ``MOST_ROWS``.

    Raises
    ------
    ValueError
        For a size the data cannot give, or anything a comparison would refuse.
    """
    n = len(load_rows(source, seed).y)
    if sizes is None:
        sizes = [min(n, MOST_ROWS) // part for part in (4, 2, 1)]
    too_large = [size for size in sizes if size > n]
    if too_large:
        raise ValueError(
            f"a size of {too_large[0]:,} is more than the {n:,} rows of {source.name}; "
            f"use at most {n:,}."
        )
    cells: list[Cell] = []
    for size in sorted(set(sizes)):
        names = None if methods is None else tuple(methods)
        sample = replace(source, limit=size)
        plan = plan_comparison(Question(sample, names, (k,), protocol="kfold", seed=seed))
        cells += [cell for cell in plan.cells if cell.fold == 0]
    return cells


def measure_growth(records: Iterable[Record]) -> list[Growth]:
    """Return the growth of each method that was measured, in the order they come."""
    by_method: dict[str, list[Record]] = {}
    for record in records:
        if record["status"] == "ok":
            by_method.setdefault(record["method"], []).append(record)
    return [_growth(method, found) for method, found in by_method.items()]


def _growth(method: str, records: Sequence[Record]) -> Growth:
    ordered = sorted(records, key=lambda record: record["n_train"])
    rows = tuple(record["n_train"] for record in ordered)
    seconds = tuple(record["fit_cpu_seconds"] for record in ordered)
    peaks = tuple(record["peak_mb"] for record in ordered)
    exponent = growth_exponent(np.array(rows, float), np.array(seconds))
    return Growth(method, rows, seconds, peaks, exponent)


def growth_exponent(rows: FloatArray, seconds: FloatArray) -> float | None:
    """Return the least-squares slope of log seconds against log rows."""
    long = seconds >= SHORTEST
    if np.unique(rows[long]).size < 2:
        return None
    return float(np.polyfit(np.log(rows[long]), np.log(seconds[long]), 1)[0])
