"""Which loss trains a spherical network best to find rows of a class: on shapes and on digits.

The same network, batches, rate and number of steps for every loss; of each, the options below are
tried on a part of the training rows and judged by the mean average precision among rows held out of
it, and the best are trained once on all training rows and judged once on the test part.

    python benchmarks/losses_on_spheres.py shapes [--json FILE] [--epochs 30] [--inner-epochs 15]
    python benchmarks/losses_on_spheres.py digits [--json FILE] [--epochs 9] [--inner-epochs 6]

With ``--json`` what the file already holds is not measured again.

Rows of an epoch are drawn once and shared by all, so CPU-seconds are those of the steps alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vicinal.losses._objectives import make_objective
from vicinal.sphere.digits import DigitSetting, get_preset, read_labelled, split_digits
from vicinal.sphere.digits._world import TEST_SEED, draw
from vicinal.sphere.shapes import (
    ShapeSetting,
    divide_shapes,
    read_shapes,
    smoothed_classification,
)
from vicinal.sphere.shapes._presets import get_shape_preset
from vicinal.sphere.shapes._sources import draw_epoch, turn_rows
from vicinal.sphere.training import (
    EMBEDDING,
    Batches,
    Objective,
    TrainingPlan,
    class_embedding,
    classification,
    judge_embeddings,
    predict,
    train,
)
from vicinal.sphere.worlds import CLASSES

BOTH = f"{CLASSES}+gerrymandering"
TRIED = {
    CLASSES: [CLASSES],
    "gerrymandering": [
        "gerrymandering:k=1,margin=10",
        "gerrymandering:k=4,margin=1",
        "gerrymandering:k=4,margin=10",
    ],
    "neighborhood": ["neighborhood:temperature=0.3", "neighborhood:temperature=1"],
    "triplet": ["triplet:margin=1", "triplet:margin=10"],
    BOTH: [f"{BOTH}:k=4,weight=1", f"{BOTH}:k=4,weight=10"],
    # Two thirds of the epochs by cross-entropy alone, the rest from there on by both.
    f"{CLASSES}, then both": [f"then {BOTH}:k=4,weight=10"],
}


@dataclass(frozen=True)
class Task:
    """Rows to train on and to judge by, and a network for them."""

    build: Callable[[int], torch.nn.Module]
    n_classes: int
    batches_of: Callable[[int], Batches]
    database: Batches
    queries: Batches
    plan: TrainingPlan
    classes: Objective


def shapes(*, inner: bool, n_epochs: int) -> Task:
    """Return SHREC 2012; within the training half, three meshes of each class are held out."""
    setting = ShapeSetting(n_validation=180 if inner else None, n_epochs=n_epochs)
    preset = get_shape_preset(setting.preset)
    parts = divide_shapes(read_shapes(setting.source), setting)
    parts = parts.inner() if inner else parts
    caster = preset.reader.make()
    return Task(
        preset.build,
        len(parts.shapes.classes),
        cache(lambda epoch: draw_epoch(parts, caster, preset.stretch, setting.seed, epoch)),
        turn_rows(parts, parts.train, caster),
        turn_rows(parts, parts.test, caster),
        setting.plan(),
        smoothed_classification(),
    )


def digits(*, inner: bool, n_epochs: int) -> Task:
    """Return 3,000 rotated digits and 2,000 test digits; inner: 2,000 and 1,000 to train on."""
    n_train, n_judged = (2000, 1000) if inner else (3000, 2000)
    setting = DigitSetting(
        source="mnist",
        preset="compact",
        n_validation=3000 if inner else 0,
        n_train=n_train,
        n_epochs=n_epochs,
    )
    preset = get_preset(setting.preset)
    parts = split_digits(read_labelled("mnist", panoramas=False), setting)
    judged = (parts.held_out if inner else parts.testing).rows(np.arange(n_judged))
    drawing = setting.drawing("rotated")
    return Task(
        preset.build,
        10,
        cache(lambda epoch: draw(parts.training, drawing.at_epoch(epoch))),
        draw(parts.training, drawing.faithful(TEST_SEED + 1)),
        draw(judged, drawing.faithful(TEST_SEED)),
        setting.plan(),
        classification(),
    )


def run(task: Task, text: str) -> dict[str, float]:
    """Train by one loss and return what it finds."""
    for epoch in range(task.plan.n_epochs):
        task.batches_of(epoch)  # outside the time
    began = time.process_time()
    if text.startswith("then "):
        text = text.removeprefix("then ")
        first = round(task.plan.n_epochs * 2 / 3)
        network = fit(task, CLASSES, replace(task.plan, n_epochs=first))
        rest = replace(
            task.plan, n_epochs=task.plan.n_epochs - first,
            learning_rate=task.plan.learning_rate / 3, seed=task.plan.seed + 1,
        )  # fmt: skip
        network = fit(task, text, rest, network)
    else:
        network = fit(task, text, task.plan)
    seconds = time.process_time() - began
    objective = make_objective(text, task.classes)
    known, asked = (
        (found if objective.embeds else class_embedding(found)).numpy()
        for found in (predict(network, of).double() for of in (task.database, task.queries))
    )
    labels = task.database.targets.numpy(), task.queries.targets.numpy()
    judged = judge_embeddings(known, labels[0], asked, labels[1])
    return {
        "one_nn_error": judged.error,
        "nearest": judged.scores.nearest,
        "average_precision": judged.scores.average_precision,
        "cpu_seconds": round(seconds, 1),
    }


def fit(
    task: Task, text: str, plan: TrainingPlan, network: torch.nn.Module | None = None
) -> torch.nn.Module:
    """Train a network, a new one unless told."""
    objective = make_objective(text, task.classes)
    if network is None:
        torch.manual_seed(plan.seed)
        network = task.build(EMBEDDING if objective.embeds else task.n_classes)
    plan = replace(plan, together=1 if text == CLASSES else 5)
    return train(network, task.batches_of, None, plan, objective)[0]


def main() -> None:
    """Print a line a training, and write all of them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", choices=["shapes", "digits"])
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--inner-epochs", type=int)
    parser.add_argument("--losses", default=";".join(TRIED))
    parser.add_argument("--json", type=Path)
    told = parser.parse_args()
    make = {"shapes": shapes, "digits": digits}[told.data]
    n_epochs, n_inner = {"shapes": (30, 15), "digits": (9, 6)}[told.data]
    torch.set_num_threads(1)
    losses = {name: TRIED[name] for name in told.losses.split(";")}
    inner = make(inner=True, n_epochs=told.inner_epochs or n_inner)
    found: list[dict[str, Any]] = []
    if told.json and told.json.exists():
        found = json.loads(told.json.read_text())

    def measure(part: str, task: Task, name: str, text: str) -> float:
        for record in found:
            if (record["part"], record["options"]) == (part, text):
                return float(record["average_precision"])
        found.append({"part": part, "loss": name, "options": text, **run(task, text)})
        print(json.dumps(found[-1]), flush=True)
        if told.json:
            told.json.write_text(json.dumps(found, indent=1) + "\n")
        return float(found[-1]["average_precision"])

    chosen = {}
    for name, texts in losses.items():
        tried = [(measure("inner", inner, name, text), text) for text in texts if len(texts) > 1]
        chosen[name] = max(tried)[1] if tried else texts[0]
    whole = make(inner=False, n_epochs=told.epochs or n_epochs)
    for name, text in chosen.items():
        measure("test", whole, name, text)


if __name__ == "__main__":
    main()
