"""One training on the sphere, from images to a record: draw, train, test."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from vicinal import __version__
from vicinal._types import AnyArray, Dataset
from vicinal.data import inner_split, load_dataset
from vicinal.data._signals import check_projection
from vicinal.sphere.digits._drawing import Drawing, draw_digits
from vicinal.sphere.digits._presets import Preset, get_preset
from vicinal.sphere.training import (
    Batches,
    Epoch,
    Step,
    count_processes,
    predict_labels,
    process_rank,
    train,
    write_checkpoint,
)

ORIENTATIONS = ("plain", "rotated")
TEST_SEED = 1_000_003  # the rotations of the test digits are the same for every network


@dataclass(frozen=True)
class SphereSetting:
    """What a training's result depends on."""

    dataset: str = "mnist"
    preset: str = "thesis"
    train: str = "rotated"
    tests: tuple[str, ...] = ("rotated",)
    protocol: str = "resampled"
    n_epochs: int | None = None  # the preset's own
    n_train: int | None = None  # a subsample
    n_validation: int | None = None  # a tenth of the training part, at most 5,000
    patience: int | None = None
    seed: int = 0
    projection: str = "lambert"

    def __post_init__(self) -> None:
        check_projection(self.projection)
        for name in (self.train, *self.tests):
            if name not in ORIENTATIONS:
                raise ValueError(f"digits are 'plain' or 'rotated', not {name!r}.")
        for name, least in (("n_train", 1), ("n_validation", 0), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value} must be {least} or more.")


@dataclass(frozen=True)
class JudgedDigits:
    """How a trained network did on one kind of test digits."""

    orientation: str
    protocol: str
    error: float
    confusion: list[list[int]]  # rows are true classes
    misread: list[dict[str, int]]  # row of the test part, its label and the one it was given


@dataclass(frozen=True)
class SphereOutcome:
    """A finished training."""

    setting: SphereSetting
    title: str
    n_parameters: int
    n_train: int
    n_validation: int
    n_test: int
    classes: tuple[str, ...]
    history: list[Epoch]
    cpu_seconds: float
    tests: list[JudgedDigits] = field(default_factory=list)


@dataclass(frozen=True)
class Digits:
    """Images from 0 to 1 with labels from 0 on."""

    images: AnyArray
    labels: AnyArray

    def rows(self, chosen: AnyArray) -> Digits:
        return Digits(self.images[chosen], self.labels[chosen])


def run_on_sphere(
    setting: SphereSetting,
    folder: Path,
    *,
    listener: Callable[[Step], None] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> SphereOutcome:
    """Train a preset on spherical images and test it; go on from a checkpoint in the folder.

    Parameters
    ----------
    setting : SphereSetting
    folder : Path
        Gets ``checkpoint.pt`` while training and ``network.pt``, the weights, in the end.
    listener : function called with every training step
    say : function called with a sentence about what is being done besides

    Notes
    -----
    The validation digits are taken out of the training part, and choose the epoch; the test
    digits are looked at once, at the end.
    """
    preset = get_preset(setting.preset)
    dataset = load_dataset(setting.dataset)
    training, held_out, testing = split_digits(dataset, setting)
    plan = _plan(preset, setting)
    drawing = _drawing(setting, setting.train)
    source = _Source(training, drawing, say)
    validation = None
    if len(held_out.labels):
        validation = _draw(held_out, drawing.faithful(setting.seed + 1))
    torch.manual_seed(setting.seed)
    network = preset.build(len(dataset.classes or ()))
    network, history = train(
        network, source, validation, plan, checkpoint=folder / "checkpoint.pt", listener=listener
    )
    outcome = SphereOutcome(
        setting,
        preset.title,
        sum(parameter.numel() for parameter in network.parameters()),
        len(training.labels),
        len(held_out.labels),
        len(testing.labels),
        tuple(str(name) for name in dataset.classes or ()),
        history,
        sum(epoch.cpu_seconds for epoch in history) + source.cpu_seconds,
        [_test(network, testing, setting, orientation, say) for orientation in setting.tests],
    )
    if process_rank() == 0:
        write_checkpoint(
            {"preset": setting.preset, "weights": network.state_dict()}, folder / "network.pt"
        )
    return outcome


class _Source:
    """The training digits of an epoch; drawn once where every epoch is the same."""

    def __init__(self, digits: Digits, drawing: Drawing, say: Callable[[str], None]) -> None:
        self._digits, self._drawing, self._say = digits, drawing, say
        self._drawn: tuple[Drawing, Batches] | None = None
        self.cpu_seconds = 0.0

    def __call__(self, epoch: int) -> Batches:
        drawing = self._drawing.at_epoch(epoch)
        if self._drawn is None or self._drawn[0] != drawing:
            began = time.process_time()
            self._say(f"drawing {len(self._digits.labels):,} digits on the sphere")
            self._drawn = drawing, _draw(self._digits, drawing)
            self.cpu_seconds += time.process_time() - began
        return self._drawn[1]


def _draw(digits: Digits, drawing: Drawing) -> Batches:
    return draw_digits(digits.images, digits.labels, drawing)


def _drawing(setting: SphereSetting, orientation: str) -> Drawing:
    """Return how the preset draws digits of an orientation, as the setting has it."""
    asked: dict[str, Any] = {
        name: getattr(setting, name) for name in ("protocol", "projection", "seed")
    }
    drawing = get_preset(setting.preset).drawing
    return replace(drawing, rotated=orientation == "rotated", **asked)


def _plan(preset: Preset, setting: SphereSetting) -> Any:
    plan = replace(preset.plan, seed=setting.seed, patience=setting.patience)
    if setting.n_epochs is not None:
        plan = replace(plan, n_epochs=setting.n_epochs)
    if plan.batch_size % count_processes():
        raise ValueError(
            f"a batch of {plan.batch_size} does not divide among {count_processes()} processes."
        )
    return plan


def _test(
    network: nn.Module,
    digits: Digits,
    setting: SphereSetting,
    orientation: str,
    say: Callable[[str], None],
) -> JudgedDigits:
    say(f"testing on {len(digits.labels):,} {orientation} digits")
    drawing = _drawing(setting, orientation)
    found = predict_labels(network, _draw(digits, drawing.faithful(TEST_SEED))).numpy()
    n_classes = int(digits.labels.max()) + 1
    confusion = np.zeros((n_classes, max(n_classes, int(found.max()) + 1)), int)
    np.add.at(confusion, (digits.labels, found), 1)
    wrong = np.flatnonzero(found != digits.labels)
    misread = [
        {"row": int(row), "label": int(digits.labels[row]), "found": int(found[row])}
        for row in wrong[:60]
    ]
    return JudgedDigits(
        orientation, setting.protocol, float(len(wrong) / len(found)), confusion.tolist(), misread
    )


def split_digits(dataset: Dataset, setting: SphereSetting) -> tuple[Digits, Digits, Digits]:
    """Return training, validation and test digits; the validation is part of the training part."""
    if dataset.image_shape is None or dataset.task != "classification":
        raise ValueError(
            f"{dataset.name} holds no labelled images; take a set such as mnist or digits."
        )
    images = dataset.X.reshape(-1, *dataset.image_shape[:2])
    digits = Digits(images / float(images.max() or 1.0), np.asarray(dataset.y, np.int64))
    train_rows, test_rows = _parts(dataset)
    order = np.random.default_rng(setting.seed).permutation(train_rows)
    n_held_out = setting.n_validation
    if n_held_out is None:
        n_held_out = min(5000, len(order) // 10)
    held_out, rest = order[:n_held_out], order[n_held_out:]
    if setting.n_train is not None:
        rest = rest[: setting.n_train]
    if not len(rest):
        raise ValueError(
            f"{n_held_out} validation digits leave none of the {len(order)} to train on."
        )
    return digits.rows(rest), digits.rows(held_out), digits.rows(test_rows)


def _parts(dataset: Dataset) -> tuple[AnyArray, AnyArray]:
    """Return the rows of the published parts, or of a fixed three to one split."""
    if dataset.is_test is not None:
        return np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    fold = inner_split(dataset.y, test_size=0.25, seed=0)
    return fold.train, fold.test


def to_json(outcome: SphereOutcome) -> dict[str, Any]:
    """Return the outcome as the records every command writes, one a test, with the history."""
    common = {
        "dataset": outcome.setting.dataset,
        "method": outcome.setting.preset,
        "k": None,
        "error_sd": 0.0,
        "fit_seconds": outcome.cpu_seconds,
        "n_train": outcome.n_train,
        "n_test": outcome.n_test,
        "seed": outcome.setting.seed,
        "version": __version__,
        "n_parameters": outcome.n_parameters,
        "train": outcome.setting.train,
        "n_validation": outcome.n_validation,
        "projection": outcome.setting.projection,
    }
    records = [
        {
            **common,
            "test": test.orientation,
            "protocol": test.protocol,
            "error_mean": test.error,
            "confusion": test.confusion,
            "misread": test.misread,
        }
        for test in outcome.tests
    ]
    return {"records": records, "history": [asdict(epoch) for epoch in outcome.history]}


def configure(setting: SphereSetting) -> dict[str, Any]:
    """Return what a run folder's weights depend on: not what they are tested on."""
    return {
        name: value for name, value in asdict(setting).items() if name not in ("patience", "tests")
    }


def name_folder(setting: SphereSetting) -> str:
    """Return a folder name that tells trainings apart."""
    digest = hashlib.sha256(json.dumps(configure(setting), sort_keys=True).encode()).hexdigest()
    return f"sphere-{setting.dataset}-{setting.preset}-{setting.train}-{digest[:8]}"
