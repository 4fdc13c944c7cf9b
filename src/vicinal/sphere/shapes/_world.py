"""Shapes as a world: meshes by rays or clouds by shells, and how test shapes find each other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from vicinal._types import FloatArray, IntArray
from vicinal.sphere.shapes._channels import Caster, Rays, cross_spectra, shape_histograms
from vicinal.sphere.shapes._clouds import PointShells
from vicinal.sphere.shapes._files import SUFFIXES, read_shape
from vicinal.sphere.shapes._meshes import Mesh
from vicinal.sphere.shapes._page import JudgedShapes, make_page, tabulate
from vicinal.sphere.shapes._presets import ShapePreset, get_shape_preset, list_shape_presets
from vicinal.sphere.shapes._setting import RIVALS, ShapeSetting
from vicinal.sphere.shapes._sources import (
    KNOWN,
    ShapeRows,
    Shapes,
    check_alike,
    divide_shapes,
    draw_epoch,
    read_shapes,
    turn_rows,
)
from vicinal.sphere.training import (
    EMBEDDING,
    Batches,
    Objective,
    classification,
    judge_embeddings,
    predict,
)
from vicinal.sphere.worlds import (
    Helpers,
    Outcome,
    Predictions,
    Task,
    Trained,
    World,
    common_record,
    labelled_objective,
    list_files,
    mean_shares,
    member_folder,
    read_facts,
)
from vicinal.sphere.worlds._classes import predict_shares, read_classes, tabulate_classes
from vicinal.sphere.worlds._world import Say

READERS: dict[str, type[Rays | PointShells]] = {"rays": Rays, "points": PointShells}


@dataclass(frozen=True)
class TestedShapes:
    """Outputs of a network on training shapes, and on test shapes at each turn."""

    parts: ShapeRows
    known: Tensor
    queries: list[Tensor]
    embeds: bool


class ShapeWorld(World[ShapeSetting]):
    """Meshes and clouds of points, in classes."""

    name = "shapes"
    source = "shrec2012"
    sources = (
        f"A known set ({', '.join(KNOWN)}), or a folder of meshes (.off, .obj, .ply, .stl) or "
        "points (.pcd, .ply, .npy) in folders by class."
    )
    default_preset = "cross"
    setting = ShapeSetting

    @property
    def presets(self) -> Sequence[ShapePreset]:
        """Networks on rays, and one on points."""
        return list_shape_presets()

    def knows(self, source: str) -> bool:
        """Take the sets of meshes and of points."""
        return source in KNOWN

    def tasks(self, setting: ShapeSetting, helpers: Helpers, say: Say) -> Iterator[Task]:
        """Yield a network for each member."""
        labelled_objective(setting, helpers, smoothed_classification())  # refused before reading
        say(f"reading the shapes of {setting.source}")
        shapes = read_shapes(setting.source)
        weights = None
        if setting.balance:
            weights = class_weights(shapes, divide_shapes(shapes, setting).train)
        objective = labelled_objective(setting, helpers, smoothed_classification(weights))
        for number in range(setting.members):
            yield make_task(setting, setting.member(number), number, shapes, objective, say)

    def judge(
        self, setting: ShapeSetting, trained: Sequence[Trained], helpers: Helpers, say: Say
    ) -> Outcome:
        """Return how test shapes find each other by the networks' mean, and by rivals."""
        parts: ShapeRows = trained[0].tested.parts
        judgement = judge_networks(setting, trained)
        records = [{**judgement.record(setting, parts), **_costs(setting, trained)}]
        for name in setting.rival_names:
            say(f"rival {name}")
            rival = judge_rival(name, setting, parts, helpers)
            records.append(rival.record(setting, parts))
        say("drawing the lists")
        page = make_page(setting, trained, judgement, records)
        return Outcome(records, tabulate(records), page, trained[0].history)

    def predict(
        self, networks: Sequence[Path], source: str, *, part: str = "all", proba: bool = False,
        **options: Any,
    ) -> Predictions:  # fmt: skip
        """Return the classes of shapes: files, a folder of them, or a known set."""
        classes = read_classes(networks[0], "shapes")
        names: Sequence[Any]
        labels: Sequence[str] | None
        if Path(source).exists():
            paths, labels = list_files(source, SUFFIXES)
            bodies = [read_shape(path) for path in paths]
            check_alike(bodies, [str(path) for path in paths])
            names = [path.name for path in paths]
            shapes = Shapes(tuple(bodies), np.zeros(len(bodies), int), classes)
        else:
            shapes = _part_of(read_shapes(source), part)
            names = list(range(len(shapes.bodies)))
            labels = [shapes.classes[label] for label in shapes.labels]
        shares = predict_shapes(networks, shapes)
        return tabulate_classes(names, classes, shares, labels, proba=proba, noun="shapes")


def smoothed_classification(weights: Tensor | None = None) -> Objective:
    """Return cross-entropy with a tenth of each label shared out: meshes of a class are few.

    With ``weights`` of classes it is the weighted mean over rows.
    """

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        if weights is None:
            return functional.cross_entropy(outputs, targets, label_smoothing=0.1)
        rows = functional.cross_entropy(outputs, targets, label_smoothing=0.1, reduction="none")
        return (rows * weights[targets]).sum() / weights[targets].sum()

    return classification(loss)


def class_weights(shapes: Shapes, rows: IntArray) -> Tensor:
    """Return what makes classes count alike in a mean over rows: 1 / (classes · their share)."""
    counts = np.bincount(shapes.labels[rows], minlength=len(shapes.classes))
    return torch.from_numpy(len(rows) / (len(counts) * np.maximum(counts, 1))).float()


def make_task(
    setting: ShapeSetting,
    own: ShapeSetting,
    number: int,
    shapes: Shapes,
    objective: Objective,
    say: Say,
) -> Task:
    """Return the training of one member; every shape is turned anew each epoch."""
    preset, parts = get_shape_preset(own.preset), divide_shapes(shapes, own)
    reader = preset.reader.make()
    kind = next(name for name, of in READERS.items() if isinstance(preset.reader, of))

    def test(network: nn.Module) -> TestedShapes:
        say(f"judging {len(parts.test):,} test {shapes.noun}")
        references = predict(network, turn_rows(parts, parts.train, reader)).double()
        queries = [
            predict(network, turn_rows(parts, parts.test, reader, turn)).double()
            for turn in range(setting.turns)
        ]
        return TestedShapes(parts, references, queries, objective.embeds)

    return Task(
        member_folder(setting, number),
        partial(
            preset.build, EMBEDDING if objective.embeds else len(shapes.classes), own.normalisation
        ),
        lambda epoch: draw_epoch(
            parts, reader, preset.stretch, own.seed, epoch, turned=own.train == "turned"
        ),
        turn_rows(parts, parts.held_out, reader) if len(parts.held_out) else None,
        own.plan(),
        objective,
        len(parts.train),
        {
            "classes": [] if objective.embeds else list(shapes.classes),
            "reader": {"kind": kind, **asdict(preset.reader)},
            "training": own.configuration(),
        },
        test,
    )


def judge_networks(setting: ShapeSetting, trained: Sequence[Trained]) -> JudgedShapes:
    """Judge the mean of networks, each at several turns of the test shapes."""
    tested: list[TestedShapes] = [of.tested for of in trained]
    parts = tested[0].parts
    cpu_seconds = sum(of.cpu_seconds for of in trained)
    if tested[0].embeds:
        places = torch.stack(tested[0].queries).mean(0).numpy()
        return judge(setting.method, tested[0].known.numpy(), places, parts, cpu_seconds)
    queries = mean_shares([of for test in tested for of in test.queries])
    shares = mean_shares([test.known for test in tested])
    wrong = queries.argmax(1).numpy() != parts.shapes.labels[parts.test]
    # Between square roots of probabilities the Euclidean distance is Hellinger's.
    return judge(
        setting.method, shares.sqrt().numpy(), queries.sqrt().numpy(), parts, cpu_seconds,
        float(wrong.mean()),
    )  # fmt: skip


def judge(
    method: str,
    database: FloatArray,
    queries: FloatArray,
    parts: ShapeRows,
    cpu_seconds: float,
    class_error: float | None = None,
) -> JudgedShapes:
    """Judge embeddings of the training shapes and of the test shapes."""
    known, labels = (parts.shapes.labels[rows] for rows in (parts.train, parts.test))
    judged = judge_embeddings(database, known, queries, labels)
    return JudgedShapes(method, queries, judged, cpu_seconds, class_error)


def judge_rival(
    name: str, setting: ShapeSetting, parts: ShapeRows, helpers: Helpers
) -> JudgedShapes:
    """Describe shapes without a network, learn a metric where the rival has one, and judge."""
    described, learned = RIVALS[name]
    describe = describe_histograms if described == "d2" else describe_spectra
    began = time.process_time()
    database, queries = describe(setting, parts)
    if learned is not None:
        learner = helpers.learner(learned, setting.seed)
        learner.fit(database.astype(np.float32), parts.shapes.labels[parts.train])
        database, queries = (
            learner.transform(rows.astype(np.float32)).astype(np.float64)
            for rows in (database, queries)
        )
    return judge(name, database, queries, parts, time.process_time() - began)


def describe_spectra(setting: ShapeSetting, parts: ShapeRows) -> tuple[FloatArray, FloatArray]:
    """Return standardised cross spectra of training and test shapes, turned as for a network."""
    name = "cross" if isinstance(parts.shapes.bodies[0], Mesh) else "points"
    reader = get_shape_preset(name).reader.make()
    database, queries = (
        cross_spectra(turn_rows(parts, rows, reader).fragments).double().numpy()
        for rows in (parts.train, parts.test)
    )
    spread = database.std(0)
    centre, scale = database.mean(0), np.where(spread > 0, spread, 1)
    return (database - centre) / scale, (queries - centre) / scale


def describe_histograms(setting: ShapeSetting, parts: ShapeRows) -> tuple[FloatArray, FloatArray]:
    """Return square roots of D2 histograms of training and test shapes."""
    bodies = parts.shapes.bodies
    database, queries = (
        np.sqrt(shape_histograms([bodies[i] for i in rows], seed=setting.seed))
        for rows in (parts.train, parts.test)
    )
    return database, queries


def predict_shapes(networks: Sequence[Path], shapes: Shapes) -> FloatArray:
    """Return the class probabilities by each network of shapes as they lie, (networks, n, c)."""
    every = np.arange(len(shapes.bodies))
    parts = ShapeRows(shapes, every[:0], every[:0], every)

    def read(network: Path) -> Batches:
        reader = read_facts(network, _reader_of, "how shapes are read for it")
        return turn_rows(parts, every, reader)

    return predict_shares(networks, read, "shapes")


def _reader_of(facts: dict[str, Any]) -> Caster | PointShells:
    settings = dict(facts["reader"])
    return READERS[settings.pop("kind")](**settings).make()


def _part_of(shapes: Shapes, part: str) -> Shapes:
    if part == "all":
        return shapes
    if part not in ("train", "test") or shapes.is_test is None:
        raise ValueError(f"split={part!r}: take all, or train or test of a set that has parts.")
    return shapes.rows(np.flatnonzero(shapes.is_test == (part == "test")))


def _costs(setting: ShapeSetting, trained: Sequence[Trained]) -> dict[str, Any]:
    common = common_record(setting, trained)
    return {key: common[key] for key in ("fit_seconds", "n_parameters", "members")}
