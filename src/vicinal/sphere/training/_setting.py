"""What may be asked of any training, whatever it learns, and the folder it has to itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from vicinal import __version__
from vicinal.sphere.training._plan import TrainingPlan

CLASSES = "cross-entropy"  # the loss that learns classes alone; others compare rows of a batch
TOGETHER = 5  # rows of a class that come into a batch together, where rows are compared


@dataclass(frozen=True, kw_only=True)
class TrainingSetting:
    """What to train on what; None stands for the preset's own choice.

    A kind of data adds what else its weights depend on to `configuration`, by `depends_on`.
    """

    words: ClassVar[tuple[str, ...]] = ("dataset", "preset")  # that name the folder

    dataset: str
    preset: str
    n_epochs: int | None = None
    n_train: int | None = None  # a subsample
    n_validation: int | None = None
    patience: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("n_train", 2), ("n_validation", 0), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value} must be {least} or more.")

    def adapt(self, plan: TrainingPlan) -> TrainingPlan:
        """Return a preset's plan as it is asked for."""
        n_epochs = plan.n_epochs if self.n_epochs is None else self.n_epochs
        return replace(plan, seed=self.seed, patience=self.patience, n_epochs=n_epochs)

    def depends_on(self, plan: TrainingPlan, **more: Any) -> dict[str, Any]:
        """Return what the weights depend on: not when they are tested, nor on what."""
        given = {name: getattr(self, name) for name in ("n_train", "n_validation", *self.words)}
        planned = asdict(plan)
        del planned["patience"]
        return {**given, **planned, **more, "version": __version__}

    def configuration(self) -> dict[str, Any]:
        """Return what the weights depend on."""
        raise NotImplementedError

    def folder_name(self) -> str:
        """Return a folder name that tells trainings apart."""
        text = json.dumps(self.configuration(), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        words = [getattr(self, name) for name in self.words]
        return "-".join(["sphere", *words, digest[:8]])


@dataclass(frozen=True, kw_only=True)
class LabelledSetting(TrainingSetting):
    """What to train on labelled rows, and by which loss."""

    loss: str = CLASSES

    @property
    def method(self) -> str:
        """The name of what is trained, in records."""
        return self.preset if self.loss == CLASSES else f"{self.preset}, {self.loss}"

    def adapt(self, plan: TrainingPlan) -> TrainingPlan:
        """Return a preset's plan: as many steps for every loss, but rows of a class may meet."""
        together = 1 if self.loss == CLASSES else TOGETHER
        return replace(super().adapt(plan), together=together)

    def depends_on(self, plan: TrainingPlan, **more: Any) -> dict[str, Any]:
        """Return what the weights depend on."""
        return super().depends_on(plan, loss=self.loss, **more)
