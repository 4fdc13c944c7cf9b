"""One training on the sphere, from images to a record: draw, train, test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from vicinal import __version__
from vicinal._types import AnyArray, Dataset, FloatArray, IntArray
from vicinal.data import inner_split, load_dataset
from vicinal.index import RetrievalScores
from vicinal.sphere.digits._drawing import Drawing, draw_digits
from vicinal.sphere.digits._presets import get_preset
from vicinal.sphere.digits._settings import SphereSetting
from vicinal.sphere.nn import save_network
from vicinal.sphere.training import (
    EMBEDDING,
    Batches,
    Epoch,
    Objective,
    Step,
    class_embedding,
    classification,
    judge_embeddings,
    predict,
    process_rank,
    score_embeddings,
    train,
)

TEST_SEED = 1_000_003  # the rotations of the test digits are the same for every network

Say = Callable[[str], None]
Known = tuple[FloatArray, IntArray]  # embeddings with classes


@dataclass(frozen=True)
class JudgedDigits:
    """How a trained network did on one kind of test digits."""

    orientation: str
    drawing: Drawing
    error: float
    confusion: list[list[int]]  # rows are true classes
    misread: list[dict[str, int]]  # row of the test part, its label and the one it was given
    scores: RetrievalScores  # of how the first test digits find each other


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
    tests: list[JudgedDigits]

    @property
    def seconds(self) -> float:
        """How long drawing, training and validation took."""
        return round(sum(epoch.seconds for epoch in self.history), 2)

    @property
    def cpu_seconds(self) -> float:
        """The processor's time for the same."""
        return round(sum(epoch.cpu_seconds for epoch in self.history), 2)


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
    objective: Objective | None = None,
    listener: Callable[[Step], None] = lambda step: None,
    say: Say = lambda text: None,
) -> SphereOutcome:
    """Train a preset on spherical images and test it; go on from a checkpoint in the folder.

    Parameters
    ----------
    setting : SphereSetting
    folder : Path
        Gets ``checkpoint.pt`` while training and the network, ``network.pt`` and
        ``network.json``, in the end; `vicinal.sphere.load_network` takes it.
    objective : Objective, optional
        What is descended; the cross-entropy of class scores unless told. Where it compares
        embeddings, the class of a test digit is that of the nearest training digit.
    listener : function called with every training step
    say : function called with a sentence about what is being done besides

    Notes
    -----
    The validation digits are taken out of the training part, and choose the epoch; the test
    digits are looked at once, at the end. Times are those of the training, kept in the
    checkpoint: running a finished one again changes nothing.
    """
    preset, objective = get_preset(setting.preset), objective or classification()
    dataset = load_dataset(setting.dataset)
    training, held_out, testing = split_digits(dataset, setting)
    drawing = setting.drawing(setting.train)
    validation = None
    if len(held_out.labels):
        validation = _draw(held_out, drawing.faithful(setting.seed + 1))
    torch.manual_seed(setting.seed)
    network, history = train(
        preset.build(EMBEDDING if objective.embeds else len(dataset.classes or ())),
        _Source(training, drawing, say),
        validation,
        setting.plan(),
        objective,
        checkpoint=folder / "checkpoint.pt",
        listener=listener,
    )
    classes = tuple(str(name) for name in dataset.classes or ())
    if process_rank() == 0:
        _save(network, setting, () if objective.embeds else classes, folder)
    known = _remember(network, training, drawing, say) if objective.embeds else None
    return SphereOutcome(
        setting,
        preset.title,
        sum(parameter.numel() for parameter in network.parameters()),
        len(training.labels),
        len(held_out.labels),
        len(testing.labels),
        classes,
        history,
        [_test(network, testing, setting.drawing(name), known, say) for name in setting.tests],
    )


def _save(
    network: nn.Module, setting: SphereSetting, classes: tuple[str, ...], folder: Path
) -> None:
    drawing = asdict(setting.drawing("plain").faithful(0))
    facts = {"classes": classes, "drawing": drawing, "training": setting.configuration()}
    save_network(network, folder / "network.pt", facts)


class _Source:
    """The training digits of an epoch; drawn once where every epoch is the same."""

    def __init__(self, digits: Digits, drawing: Drawing, say: Say) -> None:
        self._digits, self._drawing, self._say = digits, drawing, say
        self._drawn: tuple[Drawing, Batches] | None = None

    def __call__(self, epoch: int) -> Batches:
        drawing = self._drawing.at_epoch(epoch)
        if self._drawn is None or self._drawn[0] != drawing:
            self._say(f"drawing {len(self._digits.labels):,} digits on the sphere")
            self._drawn = drawing, _draw(self._digits, drawing)
        return self._drawn[1]


def _draw(digits: Digits, drawing: Drawing) -> Batches:
    return draw_digits(digits.images, digits.labels, drawing)


def _remember(network: nn.Module, digits: Digits, drawing: Drawing, say: Say) -> Known:
    """Return the embeddings of the training digits, not warped, with their classes."""
    say(f"embedding {len(digits.labels):,} training digits")
    batches = _draw(digits, drawing.faithful(TEST_SEED + 1))
    return predict(network, batches).double().numpy(), digits.labels


def _test(
    network: nn.Module, digits: Digits, drawing: Drawing, known: Known | None, say: Say
) -> JudgedDigits:
    orientation = "rotated" if drawing.rotated else "plain"
    say(f"testing on {len(digits.labels):,} {orientation} digits")
    drawing = drawing.faithful(TEST_SEED)
    outputs = predict(network, _draw(digits, drawing)).double()
    if known is None:
        found, n_classes = outputs.argmax(1).numpy(), outputs.shape[1]
        scores = score_embeddings(class_embedding(outputs).numpy(), digits.labels)
    else:
        judged = judge_embeddings(*known, outputs.numpy(), digits.labels)
        found, scores = judged.given, judged.scores
        n_classes = 1 + int(max(known[1].max(), digits.labels.max()))
    confusion = np.zeros((n_classes, n_classes), int)
    np.add.at(confusion, (digits.labels, found), 1)
    wrong = np.flatnonzero(found != digits.labels)
    misread = [
        {"row": int(row), "label": int(digits.labels[row]), "found": int(found[row])}
        for row in wrong[:60]
    ]
    error = float(len(wrong) / len(found))
    return JudgedDigits(orientation, drawing, error, confusion.tolist(), misread, scores)


def split_digits(dataset: Dataset, setting: SphereSetting) -> tuple[Digits, Digits, Digits]:
    """Return training, validation and test digits; the validation is part of the training part."""
    digits = Digits(images_of(dataset), np.asarray(dataset.y, np.int64))
    train_rows, test_rows = split_rows(dataset)
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


def images_of(dataset: Dataset) -> AnyArray:
    """Return the images of a set, (n, height, width), from 0 to 1."""
    if dataset.image_shape is None or dataset.task != "classification":
        raise ValueError(
            f"{dataset.name} holds no labelled images; take a set such as mnist or digits."
        )
    return brighten(dataset.X.reshape(-1, *dataset.image_shape[:2]))


def brighten(images: AnyArray) -> AnyArray:
    """Return images divided by their highest value, as networks learn from them."""
    return images / float(images.max() or 1.0)


def split_rows(dataset: Dataset) -> tuple[AnyArray, AnyArray]:
    """Return the rows of the published parts, or of a fixed three to one split."""
    if dataset.is_test is not None:
        return np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    fold = inner_split(dataset.y, test_size=0.25, seed=0)
    return fold.train, fold.test


def to_json(outcome: SphereOutcome) -> dict[str, Any]:
    """Return the outcome as the records every command writes, one a test, with the history."""
    common = {
        "dataset": outcome.setting.dataset,
        "method": outcome.setting.method,
        "k": None,
        "error_sd": None,  # one split has no spread
        "fit_seconds": outcome.seconds,
        "cpu_seconds": outcome.cpu_seconds,
        "n_train": outcome.n_train,
        "n_test": outcome.n_test,
        "seed": outcome.setting.seed,
        "version": __version__,
        "n_parameters": outcome.n_parameters,
        "train": outcome.setting.train,
        "n_validation": outcome.n_validation,
    }
    records = [
        {
            **common,
            "test": test.orientation,
            "protocol": test.drawing.protocol,
            "projection": test.drawing.map_name,
            "error_mean": test.error,
            "confusion": test.confusion,
            "misread": test.misread,
            **test.scores.record(),
        }
        for test in outcome.tests
    ]
    return {"records": records, "history": [asdict(epoch) for epoch in outcome.history]}
