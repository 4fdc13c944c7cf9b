"""One training on shapes, from meshes to a record: rays, training, retrieval among test meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from vicinal import __version__
from vicinal._types import FloatArray
from vicinal.sphere.nn import ClebschGordanNet, save_network
from vicinal.sphere.shapes._channels import Caster, cross_spectra, shape_histograms
from vicinal.sphere.shapes._presets import get_shape_preset
from vicinal.sphere.shapes._rows import ShapeRows, draw_epoch, load_shapes, turn_rows
from vicinal.sphere.training import (
    EMBEDDING,
    Epoch,
    JudgedEmbeddings,
    LabelledSetting,
    Objective,
    Step,
    TrainingPlan,
    class_embedding,
    classification,
    judge_embeddings,
    predict,
    process_rank,
    train,
)


@dataclass(frozen=True, kw_only=True)
class ShapeSetting(LabelledSetting):
    """What to train on which shapes, by which loss; none are held out unless told."""

    dataset: str = "shrec2012"
    preset: str = "cross"

    def __post_init__(self) -> None:
        super().__post_init__()
        get_shape_preset(self.preset)

    def plan(self) -> TrainingPlan:
        """Return how the network is trained."""
        return self.adapt(get_shape_preset(self.preset).plan)

    def configuration(self) -> dict[str, Any]:
        """Return what the weights depend on."""
        preset = get_shape_preset(self.preset)
        read = {name: getattr(preset, name) for name in ("bandwidth", "l_max", "stretch")}
        return self.depends_on(self.plan(), **read)


@dataclass(frozen=True)
class JudgedShapes:
    """What a network or a rival makes of the test meshes."""

    method: str
    embeddings: FloatArray  # of the test meshes
    judged: JudgedEmbeddings
    cpu_seconds: float
    class_error: float | None = None  # where classes were predicted

    def record(self, setting: ShapeSetting, parts: ShapeRows) -> dict[str, Any]:
        """Return the record every command writes; the error is by the nearest training mesh."""
        return {
            "dataset": setting.dataset,
            "method": self.method,
            "k": 1,
            "error_mean": self.judged.error,
            "error_sd": None,  # one split has no spread
            "class_error": self.class_error,
            **self.judged.scores.record(),
            "fit_seconds": None,
            "cpu_seconds": round(self.cpu_seconds, 2),
            "n_train": len(parts.train),
            "n_test": len(parts.test),
            "seed": setting.seed,
            "version": __version__,
        }


@dataclass(frozen=True)
class ShapeOutcome:
    """A finished training, with the meshes it was for."""

    setting: ShapeSetting
    title: str
    n_parameters: int
    parts: ShapeRows
    history: list[Epoch]
    found: JudgedShapes

    def record(self) -> dict[str, Any]:
        """Return the outcome as the record every command writes."""
        return {
            **self.found.record(self.setting, self.parts),
            "fit_seconds": round(sum(epoch.seconds for epoch in self.history), 2),
            "n_validation": len(self.parts.held_out),
            "n_parameters": self.n_parameters,
        }


def smoothed_classification() -> Objective:
    """Return cross-entropy with a tenth of each label shared out: meshes of a class are few."""
    return classification(_smoothed)


def _smoothed(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs, targets, label_smoothing=0.1)


def run_on_shapes(
    setting: ShapeSetting,
    folder: Path,
    *,
    objective: Objective | None = None,
    parts: ShapeRows | None = None,
    listener: Callable[[Step], None] = lambda step: None,
    say: Callable[[str], None] = lambda text: None,
) -> ShapeOutcome:
    """Train a preset on meshes and judge it; go on from a checkpoint in the folder.

    Parameters
    ----------
    setting : ShapeSetting
    folder : Path
        Gets ``checkpoint.pt`` while training and ``network.pt`` with ``network.json`` in the end.
    objective : Objective, optional
        What is descended; the cross-entropy of class scores unless told.
    parts : ShapeRows, optional
        Those of the setting unless told.
    listener, say : functions called with every training step, and with what is done besides

    Notes
    -----
    Every mesh is turned at random, in training anew each epoch, and read by rays where it then
    lies. Test meshes are looked at once, at the end.
    """
    preset = get_shape_preset(setting.preset)
    objective = objective or smoothed_classification()
    if parts is None:
        say(f"reading the meshes of {setting.dataset}")
        parts = load_shapes(setting)
    caster = Caster(preset.bandwidth, preset.l_max)
    torch.manual_seed(setting.seed)
    network, history = train(
        preset.build(EMBEDDING if objective.embeds else len(parts.shapes.classes)),
        lambda epoch: draw_epoch(parts, caster, preset.stretch, setting.seed, epoch),
        turn_rows(parts, parts.held_out, caster) if len(parts.held_out) else None,
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
    cpu_seconds = sum(epoch.cpu_seconds for epoch in history)
    outputs = [
        predict(network, turn_rows(parts, rows, caster)).double()
        for rows in (parts.train, parts.test)
    ]
    return ShapeOutcome(
        setting,
        preset.title,
        sum(parameter.numel() for parameter in network.parameters()),
        parts,
        history,
        _judge_outputs(setting.method, outputs, parts, cpu_seconds, embeds=objective.embeds),
    )


def _judge_outputs(
    name: str, outputs: list[Tensor], parts: ShapeRows, cpu_seconds: float, *, embeds: bool
) -> JudgedShapes:
    if embeds:
        return judge(name, outputs[0].numpy(), outputs[1].numpy(), parts, cpu_seconds)
    wrong = outputs[1].argmax(1).numpy() != parts.shapes.labels[parts.test]
    database, queries = (class_embedding(of).numpy() for of in outputs)
    return judge(name, database, queries, parts, cpu_seconds, float(wrong.mean()))


def judge(
    method: str,
    database: FloatArray,
    queries: FloatArray,
    parts: ShapeRows,
    cpu_seconds: float,
    class_error: float | None = None,
) -> JudgedShapes:
    """Judge embeddings of the training meshes and of the test meshes."""
    known, labels = (parts.shapes.labels[rows] for rows in (parts.train, parts.test))
    judged = judge_embeddings(database, known, queries, labels)
    return JudgedShapes(method, queries, judged, cpu_seconds, class_error)


def describe_spectra(setting: ShapeSetting, parts: ShapeRows) -> tuple[FloatArray, FloatArray]:
    """Return standardised cross spectra of training and test meshes, turned as for a network."""
    preset = get_shape_preset("cross")
    caster = Caster(preset.bandwidth, preset.l_max)
    found = [
        cross_spectra(turn_rows(parts, rows, caster).fragments).double().numpy()
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
