"""``vicinal sphere train`` on meshes: a network, its rivals, and lists of what is alike."""

from __future__ import annotations

import hashlib
import json as json_format
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._types import FloatArray
from vicinal.cli._console import explain_stop, make_console
from vicinal.cli._options import write_json
from vicinal.cli._sphere import TrainingDisplay
from vicinal.methods import get_method, make_learner
from vicinal.runs import RUNS, RunFolder
from vicinal.sphere.shapes import (
    JudgedShapes,
    ShapeRows,
    ShapeSetting,
    describe_histograms,
    describe_shapes,
    describe_spectra,
    judge,
    load_shapes,
    run_on_shapes,
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
LOSSES = ("cross-entropy", "gerrymandering", "neighborhood", "triplet")


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
    for name in rivals:
        if name not in RIVALS:
            raise ValueError(f"--rivals {name}: for shapes there are {', '.join(RIVALS)}.")
    loss = make_loss(setting.loss)
    folder = out or RUNS / _folder_name(setting)
    with (
        explain_stop(console, folder),
        RunFolder(folder, setting.configuration(), fresh=fresh),
        TrainingDisplay(console) as display,
    ):
        outcome = run_on_shapes(setting, folder, loss=loss, listener=display, say=display.say)
        records = [outcome.record()]
        parts = load_shapes(setting) if rivals else None
        for name in rivals:
            assert parts is not None
            display.say(f"rival {name}")
            judged = judge_rival(name, setting, parts)
            records.append(describe_shapes(judged, setting, outcome.n_train, outcome.n_test))
        write_json(folder / "results.json", {"records": records})
    write_json(json, {"records": records})
    _show(records, folder)


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


def make_loss(name: str) -> Callable[..., Any] | None:
    """Return the loss of embeddings that a name stands for; None is cross-entropy of classes."""
    if name not in LOSSES:
        raise ValueError(f"--loss {name}: there are {', '.join(LOSSES)}.")
    if name == "cross-entropy":
        return None
    if name == "triplet":
        return _triplet
    from vicinal.losses import GerrymanderingLoss, NeighborhoodLoss

    return GerrymanderingLoss(n_neighbors=1) if name == "gerrymandering" else NeighborhoodLoss()


def _triplet(embeddings: Any, labels: Any) -> Any:
    """Mean over all triplets of the batch that break the margin 1 of squared distances."""
    import torch

    squared = torch.cdist(embeddings, embeddings).square()
    alike = labels[:, None] == labels
    near = alike & ~torch.eye(len(labels), dtype=torch.bool)
    gaps = squared[:, :, None] - squared[:, None, :] + 1
    broken = near[:, :, None] & ~alike[:, None, :] & (gaps > 0)
    return gaps[broken].mean() if bool(broken.any()) else embeddings.sum() * 0


def _folder_name(setting: ShapeSetting) -> str:
    text = json_format.dumps(setting.configuration(), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"sphere-{setting.dataset}-{setting.preset}-{digest}"


def _show(records: Sequence[dict[str, Any]], folder: Path) -> None:
    from rich.table import Table

    table = Table(box=None)
    table.add_column("method")
    columns = {
        "1-NN": lambda r: 1 - r["error_mean"],
        "class": lambda r: None if r["class_error"] is None else 1 - r["class_error"],
        "nearest": lambda r: r["nearest"],
        "first tier": lambda r: r["first_tier"],
        "second tier": lambda r: r["second_tier"],
        "E": lambda r: r["e_measure"],
        "DCG": lambda r: r["dcg"],
        "mAP": lambda r: r["average_precision"],
        "NDCG": lambda r: r["ndcg"],
    }
    for name in (*columns, "CPU s"):
        table.add_column(name, justify="right")
    for record in records:
        values = [value(record) for value in columns.values()]
        shown = ["" if value is None else f"{value:.3f}" for value in values]
        table.add_row(record["method"], *shown, f"{record['cpu_seconds']:.0f}")
    console = make_console()
    console.print(table)
    console.print(
        "1-NN and class: shares of test meshes given their class by the nearest training mesh and "
        "by the network; the rest: lists among the test meshes.",
        markup=False,
    )
    console.print(f"network: {folder}", markup=False, soft_wrap=True)
