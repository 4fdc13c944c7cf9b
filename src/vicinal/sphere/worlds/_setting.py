"""What may be asked of a training, whatever it learns: the options of its command."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self

from vicinal import __version__
from vicinal.sphere.training import TrainingPlan, count_processes

CLASSES = "cross-entropy"  # the loss that learns classes alone; others compare rows of a batch
TOGETHER = 5  # rows of a class that come into a batch together, where rows are compared


def option(default: Any, text: str, name: str | None = None) -> Any:
    """Return a field that a command offers as an option, with its help."""
    return field(default=default, metadata={"help": text, "name": name})


def read_names(text: str, known: Sequence[str], noun: str) -> list[str]:
    """Return names written with commas, all of them known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise ValueError(f"no {noun} {name!r}; there are {', '.join(known)}.")
    return names


@dataclass(frozen=True, kw_only=True)
class TrainingSetting:
    """What to train on what; None stands for the preset's own choice.

    A world adds fields of its own; those that weights depend on it adds to `configuration`, by
    `depends_on`.
    """

    words: ClassVar[tuple[str, ...]] = ("source", "preset")  # that name the folder

    source: str
    preset: str = option("", "The network and how it is trained; 'list' shows all.")
    n_epochs: int | None = option(None, "Another number of epochs than the preset's.", "epochs")
    rate: float | None = option(None, "Another learning rate than the preset's.")
    schedule: str | None = option(None, "How the rate goes: constant, or one-cycle.")
    decay: float | None = option(None, "Another weight decay than the preset's.")
    batch: int | None = option(None, "Another number of rows a step than the preset's.")
    n_train: int | None = option(None, "Train on this many rows only.")
    n_validation: int | None = option(
        None, "Rows held out of the training part to choose the epoch.", "validation"
    )
    patience: int | None = option(
        None, "Stop after this many epochs without a better validation error."
    )
    members: int = option(1, "Networks of as many seeds, whose mean is judged and predicts.")
    seed: int = option(0, "Seed of rows, weights, rotations and warps.")

    def __post_init__(self) -> None:
        bounds = {"n_train": 2, "n_validation": 0, "patience": 1, "members": 1, "batch": 1}
        for name, least in bounds.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value} must be {least} or more.")

    def member(self, number: int) -> Self:
        """Return the setting of one of several networks: another seed."""
        return replace(self, seed=self.seed + number)

    def adapt(self, plan: TrainingPlan) -> TrainingPlan:
        """Return a preset's plan as it is asked for."""
        asked: dict[str, Any] = {
            "n_epochs": self.n_epochs,
            "learning_rate": self.rate,
            "schedule": self.schedule,
            "weight_decay": self.decay,
            "batch_size": self.batch,
        }
        options = {name: value for name, value in asked.items() if value is not None}
        plan = replace(plan, seed=self.seed, patience=self.patience, **options)
        if plan.batch_size % count_processes():
            raise ValueError(
                f"a batch of {plan.batch_size} does not divide among {count_processes()} processes."
            )
        return plan

    def plan(self) -> TrainingPlan:
        """Return how the network is trained."""
        raise NotImplementedError

    def depends_on(self, **more: Any) -> dict[str, Any]:
        """Return what the weights depend on: not when they are tested, nor on what."""
        facts = {name: getattr(self, name) for name in ("n_train", "n_validation", *self.words)}
        planned = asdict(self.plan())
        del planned["patience"]
        return {**facts, **planned, **more, "version": __version__}

    def configuration(self) -> dict[str, Any]:
        """Return what the weights depend on."""
        raise NotImplementedError

    def folder_name(self) -> str:
        """Return a folder name that tells trainings apart."""
        text = json.dumps(self.configuration(), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        words = [_word(getattr(self, name)) for name in self.words]
        return "-".join(["sphere", *words, digest[:8]])


@dataclass(frozen=True, kw_only=True)
class LabelledSetting(TrainingSetting):
    """What to train on labelled rows, and by which loss."""

    loss: str = option(
        CLASSES,
        "cross-entropy of classes, or a loss of embeddings, gerrymandering, neighborhood or "
        "triplet, with options as in gerrymandering:k=3,margin=10; or "
        "cross-entropy+gerrymandering.",
    )

    @property
    def method(self) -> str:
        """The name of what is trained, in records."""
        return self.preset if self.loss == CLASSES else f"{self.preset}, {self.loss}"

    def adapt(self, plan: TrainingPlan) -> TrainingPlan:
        """Return a preset's plan: as many steps for every loss, but rows of a class may meet."""
        together = 1 if self.loss == CLASSES else TOGETHER
        return replace(super().adapt(plan), together=together)

    def depends_on(self, **more: Any) -> dict[str, Any]:
        """Return what the weights depend on."""
        return super().depends_on(loss=self.loss, **more)


def _word(text: str) -> str:
    """Return the last part of a place, as it may stand in the name of a folder."""
    last = text.rstrip("/").rpartition("/")[2]
    return "".join(letter if letter.isalnum() or letter in "._" else "-" for letter in last)
