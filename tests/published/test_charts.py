"""Bars of published tables: as high as the records say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vicinal.published import draw_cells, draw_results, read_results, records_citing

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def records():
    return [
        record
        for record in records_citing(read_results(RESULTS), ["trivedi2014"])
        if record["experiment"].endswith(("_letter_zscore_k3", "_dslr_zscore_k3"))
        and record["method"] in ("mlng", "euclidean")
    ]


def test_bars_are_as_high_as_the_errors_and_lines_are_the_published_ones(records):
    (ax,) = draw_results(records).axes
    heights: dict[str, dict[str, float]] = {t.get_text(): {} for t in ax.get_xticklabels()}
    for container in ax.containers:
        for bar in getattr(container, "patches", []):
            row = list(heights)[round(bar.get_x() + bar.get_width() / 2)]
            heights[row][str(container.get_label())] = bar.get_height()
    titles = {"mlng": "MLNG", "euclidean": "Euclidean"}
    plain = [r for r in records if r["experiment"].split("_")[1] in titles]
    for record in plain:
        bar = heights[f"{record['dataset']}\n{record['k']}"][titles[record["method"]]]
        assert bar == pytest.approx(100 * record["error_mean"])
    lines: list[Any] = [line for line in ax.collections if line.get_label() == "_published"]
    levels = {round(float(line.get_segments()[0][0, 1]), 2) for line in lines}
    assert levels == {round(100 * r["published_error"], 2) for r in plain}


def test_many_rows_have_several_panels_and_no_record_none():
    records = json.loads((RESULTS / "trivedi2014_mlng.json").read_text())["records"]
    rows = {(r["experiment"].split("_")[3], r["dataset"], r["k"]) for r in records}
    of_table = Counter(scaling for scaling, _, _ in rows)
    assert len(draw_results(records).axes) == sum(-(-n // 6) for n in of_table.values())
    with pytest.raises(ValueError, match="nothing was measured"):
        draw_results([])


def test_a_cell_is_a_dot_of_its_published_and_measured_error(records):
    (ax,) = draw_cells(records).axes
    dots = {
        (round(x, 6), round(y, 6)) for c in ax.collections for x, y in np.asarray(c.get_offsets())
    }
    expected = {
        (round(100 * r["published_error"], 6), round(100 * r["error_mean"], 6)) for r in records
    }
    assert dots == expected
    assert ax.get_xlim() == ax.get_ylim()


def test_nothing_measured_is_nothing_to_draw(records):
    with pytest.raises(ValueError, match="no cell has both"):
        draw_cells([record | {"error_mean": None} for record in records])
