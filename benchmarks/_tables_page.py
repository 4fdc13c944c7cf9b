"""The page of many tables, from run folders of ``vicinal benchmark tables``.

    python -m benchmarks._tables_page FOLDER ...

Of each folder all results count, whatever commands they came from; a table, or a method, that lacks
some is named and left out. What is shown is kept as ``results/tables.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vicinal.comparison import Benchmark, benchmark_page, summarize_benchmark

FOLDER = Path(__file__).parent
RECORD = FOLDER / "results" / "tables.json"
PAGE = FOLDER.parent / "docs" / "results" / "tables.inc"
DIGITS = 8


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Return the last result of every cell of a run folder."""
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    last = {(r["dataset"], r["method"], str(r["k"]), r["fold"]): r for r in records}
    return [record for record in last.values() if record["status"] == "ok"]


def whole(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of methods, at votes, that were measured on every table."""
    tables = {record["dataset"] for record in records}
    seen: dict[tuple[str, str], set[str]] = {}
    for record in records:
        seen.setdefault((record["method"], str(record["k"])), set()).add(record["dataset"])
    for (method, k), some in seen.items():
        if some < tables:
            print(f"{method}, {k}: only {len(some)} of {len(tables)} tables")
    return [r for r in records if seen[r["method"], str(r["k"])] == tables]


def rounded(summary: Benchmark) -> Benchmark:
    """Return a summary of figures as the record keeps them."""
    return replace(
        summary,
        scores={name: np.round(values, DIGITS) for name, values in summary.scores.items()},
        cpu_seconds=np.round(summary.cpu_seconds, DIGITS),
    )


def as_json(summary: Benchmark) -> dict[str, Any]:
    """Return all figures of a summary."""
    return {
        "task": summary.task,
        "tables": list(summary.tables),
        "methods": list(summary.methods),
        "scores": {name: _rows(values) for name, values in summary.scores.items()},
        "cpu_seconds": _rows(summary.cpu_seconds),
    }


def _rows(values: Any) -> list[list[float | None]]:
    rows: list[list[float]] = np.asarray(values).tolist()
    return [[None if np.isnan(v) else v for v in row] for row in rows]


def main(folders: Sequence[str]) -> None:
    """Write the record and the page."""
    summaries = [
        rounded(summary)
        for folder in folders
        for summary in summarize_benchmark(whole(read_records(Path(folder))))
    ]
    content = json.dumps([as_json(summary) for summary in summaries])
    RECORD.write_text(content + "\n", encoding="utf-8")
    PAGE.write_text(benchmark_page(summaries), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
