"""The figures of many tables as a page of Markdown: means and ranks, then every table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vicinal.comparison._benchmark import Benchmark
from vicinal.methods import get_method

ABSENT = "–"
LOG_LOSS = "log-loss"
# How often sets, or intervals, that are to hold nine truths in ten do, and how large they are.
COVERAGE = {"coverage": "in sets of 90 %", "size": "their size"}


def benchmark_page(summaries: Sequence[Benchmark]) -> str:
    """Return two tables a task: a line a method, and a line a table with the lowest in bold."""
    parts = []
    for summary in summaries:
        if not summary.tables:
            continue
        n = len(summary.tables)
        classes = summary.task == "classification"
        parts += [
            f"### {n} {'table' if n == 1 else 'tables'} of {'classes' if classes else 'numbers'}",
            f"Nemenyi's critical difference of ranks at 5 %: {summary.critical_difference:.2f}.",
            _by_method(summary),
            "Error in percent, table by table:" if classes else "nMSE, table by table:",
            _by_table(summary, _percent if classes else _small),
            "CPU-seconds of a fit:",
            _lines(summary, summary.cpu_seconds, lambda value: f"{value:.1f}", best=False),
        ]
    return "\n\n".join(parts) + "\n"


def _by_method(summary: Benchmark) -> str:
    classes = summary.task == "classification"
    gaps, noise = summary.differences()
    sure = LOG_LOSS in summary.scores
    heads = ["", "mean rank", "mean error, %" if classes else "mean nMSE",
             "behind the first, points" if classes else "behind the first, log ratio"]  # fmt: skip
    levels = [name for name in COVERAGE if name in summary.scores]
    heads += [LOG_LOSS] * sure + [COVERAGE[name] for name in levels] + ["CPU-seconds"]
    rows = []
    for i, method in enumerate(summary.methods):
        error = summary.errors[:, i].mean()
        row = [_title(method), f"{summary.mean_ranks[i]:.2f}",
               _percent(error) if classes else _small(error),
               f"{gaps[i]:+.2f} ± {noise[i]:.2f}" if i else ""]  # fmt: skip
        for name, digits in [(LOG_LOSS, 3)] * sure + [(name, 2) for name in levels]:
            mean = float(summary.scores[name][:, i].mean())
            row.append(f"{mean:.{digits}f}" if np.isfinite(mean) else ABSENT)
        rows.append([*row, f"{summary.cpu_seconds[:, i].mean():.1f}"])
    return _table(heads, rows)


def _by_table(summary: Benchmark, phrase: Callable[[float], str]) -> str:
    return _lines(summary, summary.errors, phrase, best=True)


def _lines(
    summary: Benchmark, values: np.ndarray, phrase: Callable[[float], str], *, best: bool
) -> str:
    rows = []
    for name, row in zip(summary.tables, values, strict=True):
        cells = [
            f"**{phrase(value)}**" if best and value == row.min() else phrase(value)
            for value in row
        ]
        rows.append([name.rpartition(".")[0] or name, *cells])
    return _table(["", *map(_title, summary.methods)], rows)


def _title(method: str) -> str:
    name, comma, vote = method.partition(", ")
    return get_method(name).title + comma + vote


def _percent(error: float) -> str:
    return f"{100 * error:.2f}"


def _small(error: float) -> str:
    return f"{error:.4f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
