"""Cells name measurements: the same name for the same thing, another for anything else."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from vicinal.runs import Cell, Setting, Source
from vicinal.runs._cells import record_from_json, record_key

SETTING = Setting(
    Source("wine.csv", "/somewhere/wine.csv", "kind", digest="abc"),
    {"scale": "zscore", "n_components": None},
    "kfold",
    {"n_folds": 5},
    seed=3,
)
CELL = Cell(SETTING, 1, "mlng", (3, 7), {"max_iter": 5})


def test_a_cell_survives_the_trip_to_a_worker():
    assert record_from_json(Cell, json.loads(json.dumps(asdict(CELL)))) == CELL


def test_the_key_does_not_depend_on_the_place_of_the_file_nor_on_the_other_k():
    moved = replace(SETTING, source=replace(SETTING.source, path="/elsewhere/wine.csv"))
    assert record_key(replace(CELL, setting=moved, ks=(3,)), 3) == record_key(CELL, 3)


@pytest.mark.parametrize(
    "other",
    [
        replace(CELL, fold=2),
        replace(CELL, method="lda"),
        replace(CELL, parameters={"max_iter": 6}),
        replace(CELL, setting=replace(SETTING, seed=4)),
        replace(CELL, setting=replace(SETTING, protocol="repeated")),
        replace(CELL, setting=replace(SETTING, folds={"n_folds": 4})),
        replace(CELL, setting=replace(SETTING, preparation={"scale": "none"})),
        replace(CELL, setting=replace(SETTING, source=replace(SETTING.source, digest="abd"))),
        replace(CELL, setting=replace(SETTING, source=replace(SETTING.source, limit=9))),
    ],
)
def test_whatever_changes_the_result_changes_the_key(other):
    assert record_key(other, 3) != record_key(CELL, 3)


def test_another_k_or_another_version_has_another_key(monkeypatch):
    before = record_key(CELL, 3)
    assert record_key(CELL, 7) != before
    monkeypatch.setattr("vicinal.runs._cells.__version__", "9.9")
    assert record_key(CELL, 3) != before
