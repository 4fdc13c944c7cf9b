"""``vicinal sphere train`` on meshes: a network, its rivals, and lists of what is alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import FloatArray
from vicinal.cli._console import make_console
from vicinal.cli._sphere_losses import make_objective
from vicinal.cli._sphere_runs import check_rivals, keep_records, training_run
from vicinal.cli._sphere_shape_page import MEANING, MEASURES, write_shape_page
from vicinal.methods import get_method, make_learner
from vicinal.sphere.shapes import (
    JudgedShapes,
    ShapeRows,
    ShapeSetting,
    describe_histograms,
    describe_spectra,
    judge,
    run_on_shapes,
    smoothed_classification,
)

if TYPE_CHECKING:
    from rich.console import Console

# What meshes are described by, and the learner, if any, of the metric they are compared in.
RIVALS: dict[str, tuple[str, str | None]] = {
    "d2": ("d2", None),
    "spectra": ("spectra", None),
    "spectra-lda": ("spectra", "lda"),
    "spectra-mlng": ("spectra", "mlng"),
}


def train_shapes(
    setting: ShapeSetting,
    rivals: Sequence[str],
    out: Path | None,
    console: Console,
    *,
    fresh: bool,
    json: Path | None,
) -> None:
    """Train on a set of meshes and print how test meshes find each other, rivals beside it."""
    check_rivals(rivals, RIVALS, "shapes")
    objective = make_objective(setting.loss, smoothed_classification())
    with training_run(setting, out, console, fresh=fresh) as (folder, display):
        outcome = run_on_shapes(
            setting, folder, objective=objective, listener=display, say=display.say
        )
        records = [outcome.record()]
        for name in rivals:
            display.say(f"rival {name}")
            records.append(judge_rival(name, setting, outcome.parts).record(setting, outcome.parts))
        keep_records(records, folder, json)
        display.say("drawing the lists")
        page = write_shape_page(outcome, records, folder / "report.html")
    _show(records, folder, page)


def judge_rival(name: str, setting: ShapeSetting, parts: ShapeRows) -> JudgedShapes:
    """Describe meshes without a network, learn a metric where the rival has one, and judge."""
    described, learned = RIVALS[name]
    describe: Callable[[ShapeSetting, ShapeRows], tuple[FloatArray, FloatArray]] = (
        describe_histograms if described == "d2" else describe_spectra
    )
    began = time.process_time()
    database, queries = describe(setting, parts)
    if learned is not None:
        learner = make_learner(get_method(learned), "classification", k=1, seed=setting.seed)
        learner.fit(database.astype(np.float32), parts.shapes.labels[parts.train])
        database, queries = (
            learner.transform(rows.astype(np.float32)).astype(np.float64)
            for rows in (database, queries)
        )
    return judge(name, database, queries, parts, time.process_time() - began)


def _show(records: Sequence[dict[str, Any]], folder: Path, page: Path) -> None:
    from rich.table import Table

    table = Table(box=None)
    table.add_column("method")
    for name in (*MEASURES, "CPU s"):
        table.add_column(name, justify="right")
    for record in records:
        values = [value(record) for value in MEASURES.values()]
        shown = ["" if value is None else f"{value:.3f}" for value in values]
        table.add_row(record["method"], *shown, f"{record['cpu_seconds']:.0f}")
    console = make_console()
    console.print(table)
    console.print(MEANING, markup=False)
    console.print(f"network: {folder}", markup=False, soft_wrap=True)
    console.print(f"report: {page}", markup=False, soft_wrap=True)
