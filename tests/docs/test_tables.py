"""The page of many tables shows the figures of its record."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from vicinal.comparison import Benchmark, benchmark_page

ROOT = Path(__file__).parents[2]


def read_summaries():
    content = json.loads((ROOT / "benchmarks/results/tables.json").read_text(encoding="utf-8"))
    return [
        Benchmark(
            each["task"], tuple(each["tables"]), tuple(each["methods"]),
            {name: np.array(values, float) for name, values in each["scores"].items()},
            np.array(each["cpu_seconds"], float), (),
        )
        for each in content
    ]  # fmt: skip


def test_the_page_is_that_of_the_record():
    page = (ROOT / "docs/results/tables.inc").read_text(encoding="utf-8")
    assert page == benchmark_page(read_summaries())


def test_all_tables_of_both_tasks_were_measured():
    classes, numbers = read_summaries()
    assert (len(classes.tables), len(numbers.tables)) == (22, 12)
    assert {"auto", "hgb"} <= set(classes.methods) & set(numbers.methods)
    for summary in (classes, numbers):
        assert np.all(np.isfinite(summary.errors) & (summary.errors >= 0))
