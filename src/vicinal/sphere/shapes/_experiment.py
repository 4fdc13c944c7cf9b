"""One training on shapes, from meshes to a record: rays, training, retrieval among test meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from vicinal import __version__
from vicinal._types import FloatArray, IntArray
from vicinal.data import inner_split, load_dataset
from vicinal.index import ExactIndex, RetrievalScores, rank_by_distance, score_lists
from vicinal.sphere.harmonic import Fragments, random_rotations
from vicinal.sphere.nn import ClebschGordanNet, save_network
from vicinal.sphere.shapes._channels import Caster, cross_spectra, shape_histograms
from vicinal.sphere.shapes._meshes import Shapes, deform, random_stretches, shapes_of
from vicinal.sphere.shapes._presets import ShapePreset, get_shape_preset
from vicinal.sphere.training import (
    Epoch,
    Objective,
    Step,
    TrainingPlan,
    classification,
    predict,
    process_rank,
    retrieval,
    train,
)

TEST_SEED = 1_000_003  # meshes are turned alike for every network and rival
EMBEDDING = 64  # numbers an embedding has where no classes are learned
CLASSES = "cross-entropy"  # the loss that learns classes; all others compare embeddings
TOGETHER = 6  # times as large a batch, where meshes of a class have to meet in it

Compare = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class ShapeSetting:
    """What to train on which shapes; None stands for the preset's own choice."""

    dataset: str = "shrec2012"
    preset: str = "cross"
    loss: str = CLASSES
    n_epochs: int | None = None
    n_train: int | None = None  # a subsample, classes in proportion
    n_validation: int = 0
    patience: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("n_train", 2), ("n_validation", 0), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value} must be {least} or more.")
        get_shape_preset(self.preset)

    def plan(self) -> TrainingPlan:
        """Return how the network is trained."""
        plan = get_shape_preset(self.preset).plan
        n_epochs = plan.n_epochs if self.n_epochs is None else self.n_epochs
        size = plan.batch_size * (1 if self.loss == CLASSES else TOGETHER)
        return replace(
            plan, seed=self.seed, patience=self.patience, n_epochs=n_epochs, batch_size=size
        )

    def configuration(self) -> dict[str, Any]:
        """Return what the weights depend on."""
        preset = get_shape_preset(self.preset)
        plan = asdict(self.plan())
        del plan["patience"]
        chosen = ("dataset", "preset", "loss", "n_train", "n_validation")
        given = {name: getattr(self, name) for name in chosen}
        read = {name: getattr(preset, name) for name in ("bandwidth", "l_max", "stretch")}
        return {**given, **plan, **read, "version": __version__}


@dataclass(frozen=True)
class JudgedShapes:
    """How embeddings of test meshes do: lists among themselves, and their nearest training mesh."""

    method: str
    scores: RetrievalScores
    one_nn_error: float
    class_error: float | None  # where classes were predicted
    cpu_seconds: float


@dataclass(frozen=True)
class ShapeOutcome:
    """A finished training and what was judged beside it."""

    setting: ShapeSetting
    title: str
    n_parameters: int
    n_train: int
    n_validation: int
    n_test: int
    history: list[Epoch]
    judged: JudgedShapes
    embeddings: FloatArray  # of the test meshes

    def record(self) -> dict[str, Any]:
        """Return the outcome as the record every command writes."""
        seconds = round(sum(epoch.seconds for epoch in self.history), 2)
        return {
            **describe_shapes(self.judged, self.setting, self.n_train, self.n_test),
            "fit_seconds": seconds,
            "n_validation": self.n_validation,
            "n_parameters": self.n_parameters,
        }


def describe_shapes(
    judged: JudgedShapes, setting: ShapeSetting, n_train: int, n_test: int
) -> dict[str, Any]:
    """Return a record of a network or a rival; the error is that of the nearest training mesh."""
    return {
        "dataset": setting.dataset,
        "method": judged.method,
        "k": 1,
        "error_mean": judged.one_nn_error,
        "error_sd": None,  # one split has no spread
        "class_error": judged.class_error,
        **judged.scores.record(),
        "fit_seconds": None,
        "cpu_seconds": round(judged.cpu_seconds, 2),
        "n_train": n_train,
        "n_test": n_test,
        "seed": setting.seed,
        "version": __version__,
    }


@dataclass(frozen=True)
class ShapeRows:
    """The rows of a set of shapes: to train on, to choose by, to test."""

    shapes: Shapes
    train: IntArray
    held_out: IntArray
    test: IntArray


@dataclass
class ShapeBatches:
    """Fragments of meshes with their classes."""

    fragments: Fragments
    targets: Tensor

    def take(self, rows: Tensor) -> Fragments:
        """Return the network's input for these rows."""
        return Fragments(self.fragments.type, self.fragments.packed[:, rows].contiguous())


def load_shapes(setting: ShapeSetting) -> ShapeRows:
    """Return the meshes of a set and its parts: the published ones, or a fixed half of each class.

    Where meshes are held out or only some are trained on, classes keep their proportions.
    """
    dataset = load_dataset(setting.dataset)
    shapes = shapes_of(dataset)
    if dataset.is_test is None:
        halves = inner_split(dataset.y, test_size=0.5, seed=0)
        rest, test = halves.train, halves.test
    else:
        rest, test = np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    rest, held_out = _hold_out(rest, shapes.labels, setting.n_validation, setting.seed)
    if setting.n_train is not None and setting.n_train < len(rest):
        _, rest = _hold_out(rest, shapes.labels, setting.n_train, setting.seed + 1)
    return ShapeRows(shapes, rest, held_out, test)


def _hold_out(rows: IntArray, labels: IntArray, n: int, seed: int) -> tuple[IntArray, IntArray]:
    if not n:
        return rows, rows[:0]
    if n >= len(rows):
        raise ValueError(f"{n} meshes held out leave none of the {len(rows)} to train on.")
    fold = inner_split(labels[rows], test_size=n / len(rows), seed=seed)
    return rows[fold.train], rows[fold.test]


def run_on_shapes(
    setting: ShapeSetting,
    folder: Path,
    *,
    loss: Compare | None = None,
    listener: Callable[[Step], None] = lambda step: None,
    say: Callable[[str], None] = lambda text: None,
) -> ShapeOutcome:
    """Train a preset on meshes and judge it; go on from a checkpoint in the folder.

    Parameters
    ----------
    setting : ShapeSetting
    folder : Path
        Gets ``checkpoint.pt`` while training and ``network.pt`` with ``network.json`` in the end.
    loss : function of (embeddings, labels), optional
        What is descended instead of the cross-entropy of class scores.
    listener, say : functions called with every training step, and with what is done besides

    Notes
    -----
    Every mesh is turned at random, in training anew each epoch, and read by rays where it then
    lies. Test meshes are looked at once, at the end.
    """
    preset = get_shape_preset(setting.preset)
    say(f"reading the meshes of {setting.dataset}")
    parts = load_shapes(setting)
    caster = Caster(preset.bandwidth, preset.l_max)
    n_classes = len(parts.shapes.classes)
    objective = _objective(loss)
    torch.manual_seed(setting.seed)
    network, history = train(
        preset.build(n_classes if loss is None else EMBEDDING),
        lambda epoch: _drawn(parts, caster, preset, setting.seed, epoch),
        _turned(parts, parts.held_out, caster) if len(parts.held_out) else None,
        setting.plan(),
        objective,
        checkpoint=folder / "checkpoint.pt",
        listener=listener,
    )
    assert isinstance(network, ClebschGordanNet)
    if process_rank() == 0:
        facts = {"classes": list(parts.shapes.classes), "training": setting.configuration()}
        save_network(network, folder / "network.pt", facts)
    say(f"judging {len(parts.test):,} test meshes")
    outputs = [
        predict(network, _turned(parts, rows, caster)).double()
        for rows in (parts.train, parts.test)
    ]
    labels = parts.shapes.labels
    wrong = outputs[1].argmax(1).numpy() != labels[parts.test]
    database, queries = (embed(found, classes=loss is None) for found in outputs)
    name = setting.preset if loss is None else f"{setting.preset}, {setting.loss}"
    cpu_seconds = sum(epoch.cpu_seconds for epoch in history)
    judged = judge(
        name, database, queries, parts, cpu_seconds, float(wrong.mean()) if loss is None else None
    )
    return ShapeOutcome(
        setting,
        preset.title,
        sum(parameter.numel() for parameter in network.parameters()),
        len(parts.train),
        len(parts.held_out),
        len(parts.test),
        history,
        judged,
        queries,
    )


def embed(outputs: Tensor, *, classes: bool) -> FloatArray:
    """Return what meshes are compared by: embeddings, or square roots of class probabilities.

    Between those the Euclidean distance is Hellinger's, which looks at all classes a mesh may be of
    and not at the likeliest alone.
    """
    vectors = functional.softmax(outputs, 1).sqrt() if classes else outputs
    found: FloatArray = vectors.numpy()
    return found


def judge(
    method: str,
    database: FloatArray,
    queries: FloatArray,
    parts: ShapeRows,
    cpu_seconds: float = 0.0,
    class_error: float | None = None,
) -> JudgedShapes:
    """Judge embeddings of the training meshes and of the test meshes."""
    labels = parts.shapes.labels
    _, nearest = ExactIndex(database).query(queries, 1)
    wrong = labels[parts.train][nearest[:, 0]] != labels[parts.test]
    scores = score_lists(rank_by_distance(queries, labels[parts.test]))
    return JudgedShapes(method, scores, float(wrong.mean()), class_error, cpu_seconds)


def describe_spectra(setting: ShapeSetting, parts: ShapeRows) -> tuple[FloatArray, FloatArray]:
    """Return standardised cross spectra of training and test meshes, turned as for a network."""
    preset = get_shape_preset("cross")
    caster = Caster(preset.bandwidth, preset.l_max)
    found = [
        cross_spectra(_turned(parts, rows, caster).fragments).double().numpy()
        for rows in (parts.train, parts.test)
    ]
    spread = found[0].std(0)
    centre, scale = found[0].mean(0), np.where(spread > 0, spread, 1)
    return (found[0] - centre) / scale, (found[1] - centre) / scale


def describe_histograms(setting: ShapeSetting, parts: ShapeRows) -> tuple[FloatArray, FloatArray]:
    """Return square roots of D2 histograms of training and test meshes."""
    meshes = parts.shapes.meshes
    database, queries = (
        np.sqrt(shape_histograms([meshes[i] for i in rows], seed=setting.seed))
        for rows in (parts.train, parts.test)
    )
    return database, queries


def _objective(loss: Compare | None) -> Objective:
    if loss is not None:
        return retrieval(loss)
    return replace(classification(), loss=_smoothed)


def _smoothed(outputs: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy with a tenth of each label shared out: meshes of a class are few."""
    return functional.cross_entropy(outputs, targets, label_smoothing=0.1)


def _drawn(
    parts: ShapeRows, caster: Caster, preset: ShapePreset, seed: int, epoch: int
) -> ShapeBatches:
    """Return the training meshes of an epoch, each stretched and turned at random."""
    rng = np.random.default_rng([seed, epoch])
    stretches = random_stretches(len(parts.train), preset.stretch, rng)
    meshes = [
        deform(parts.shapes.meshes[i], stretch)
        for i, stretch in zip(parts.train, stretches, strict=True)
    ]
    rotations = random_rotations(
        len(meshes), torch.Generator().manual_seed(int(rng.integers(2**31)))
    )
    targets = torch.from_numpy(parts.shapes.labels[parts.train])
    return ShapeBatches(caster.fragments(meshes, rotations), targets)


def _turned(parts: ShapeRows, rows: IntArray, caster: Caster) -> ShapeBatches:
    """Return meshes that are to be judged, each at the rotation its number in the set gives it."""
    rotations = random_rotations(
        len(parts.shapes.meshes), torch.Generator().manual_seed(TEST_SEED)
    )[rows]
    meshes = [parts.shapes.meshes[i] for i in rows]
    targets = torch.from_numpy(parts.shapes.labels[rows])
    return ShapeBatches(caster.fragments(meshes, rotations), targets)
