"""Published tables of networks: what is printed, and trainings that measure it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from vicinal.published import (
    published_trainings,
    select_trainings,
    train_again,
    trainings_markdown,
)
from vicinal.published._trainings import TrainedRow, TrainedTable, WorldTraining
from vicinal.sphere.worlds import Helpers, get_world

DIGITS = TrainedTable(
    "tiny", "Tiny digits", "trivedi2018", "nowhere", "percent right", True,
    ("upright", "turned"), ("error_mean", "error_mean"), "", (
        TrainedRow(
            "planar", "planar", (90.0,), (
                WorldTraining(
                    "digits", "digits",
                    {"preset": "planar", "n_epochs": 1, "n_train": 40, "test": "plain,rotated"},
                    {"upright": {"test": "plain"}, "turned": {"test": "rotated"}},
                ),
            ),
        ),
    ),
)  # fmt: skip


def test_every_training_is_one_its_world_takes():
    for table in published_trainings():
        assert table.rows
        assert len(table.columns) == len(table.values)
        for row in table.rows:
            assert len(row.published) in (0, len(table.columns))
            assert bool(row.why) != bool(row.trainings)
            for training in row.trainings:
                setting = get_world(training.world).setting(
                    source=training.source, **training.options
                )
                assert setting.plan().n_epochs > 0
                assert set(training.cells) <= set(table.columns)


def test_names_pick_tables_and_rows():
    (digits,) = select_trainings(["sphere:digits:planar", "sphere:digits:thesis"])
    assert [row.name for row in digits.rows] == ["planar", "thesis"]
    assert len(select_trainings(["sphere"])) == len(published_trainings())
    for wrong in ("sphere:words", "sphere:digits:none", "sphere:digits:planar:more"):
        with pytest.raises(ValueError, match="no published training is called"):
            select_trainings([wrong])


def test_a_training_gives_a_figure_a_cell_and_is_not_run_twice(tmp_path):
    spoken: list[str] = []
    helpers = Helpers(lambda name, plain: plain, lambda name, seed: None)
    figures = train_again([DIGITS], tmp_path, helpers, say=spoken.append)
    assert [figure["column"] for figure in figures] == ["upright", "turned"]
    assert [figure["published"] for figure in figures] == [90.0, None]
    assert all(0 < figure["measured"] < 100 for figure in figures)
    twice = replace(DIGITS, rows=(DIGITS.rows[0], replace(DIGITS.rows[0], name="again")))
    again = train_again([twice], tmp_path, helpers, say=spoken.append)
    assert [f["measured"] for f in again] == 2 * [f["measured"] for f in figures]
    assert [f["cpu_seconds"] for f in again] == 2 * [f["cpu_seconds"] for f in figures]


def test_columns_show_what_is_right_of_each_value():
    table = next(table for table in published_trainings() if table.name == "shrec2012")
    records = [{"class_error": 0.2, "nearest": 0.7}, {"class_error": 0.3, "nearest": 0.8}]
    assert table.figure_of("class", records) == pytest.approx(0.75)
    assert table.figure_of("nearest", records) == pytest.approx(0.75)


def test_a_page_has_printed_and_measured_figures_and_says_what_is_missing():
    figure = {"table": "digits", "row": "planar", "column": "NR/NR", "measured": 98.5,
              "cpu_seconds": 95.0}  # fmt: skip
    page = trainings_markdown([figure])
    assert "| planar network | 98.50 (97.67) | – (22.18) | – (12) | 95 |" in page
    assert "`vicinal reproduce sphere:digits:thesis` does" in page
    assert "correlation network: the set cannot be had" in page
