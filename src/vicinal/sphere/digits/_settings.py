"""What a training on spherical images depends on, and the folder it has to itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from vicinal import __version__
from vicinal.sphere.digits._drawing import Drawing, Protocol
from vicinal.sphere.digits._presets import get_preset
from vicinal.sphere.training import TrainingPlan, count_processes

ORIENTATIONS = ("plain", "rotated")


@dataclass(frozen=True)
class SphereSetting:
    """What to train on what; None stands for the preset's own choice."""

    dataset: str = "mnist"
    preset: str = "thesis"
    train: str = "rotated"
    tests: tuple[str, ...] = ("rotated",)
    protocol: Protocol | None = None
    projection: str | None = None
    n_epochs: int | None = None
    n_train: int | None = None  # a subsample
    n_validation: int | None = None  # a tenth of the training part, at most 5,000
    patience: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in (self.train, *self.tests):
            if name not in ORIENTATIONS:
                raise ValueError(f"digits are 'plain' or 'rotated', not {name!r}.")
        for name, least in (("n_train", 1), ("n_validation", 0), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value} must be {least} or more.")
        if self.protocol == "cohen2018" and self.projection is not None:
            raise ValueError(
                f"projection={self.projection!r}: the protocol 'cohen2018' has a map of its own."
            )
        self.drawing(self.train)  # refuses what cannot be drawn

    def drawing(self, orientation: str) -> Drawing:
        """Return how digits of an orientation are drawn: the preset's way, unless told."""
        asked: dict[str, Any] = {"protocol": self.protocol, "projection": self.projection}
        told = {name: value for name, value in asked.items() if value is not None}
        rotated = orientation == "rotated"
        return replace(get_preset(self.preset).drawing, rotated=rotated, seed=self.seed, **told)

    def plan(self) -> TrainingPlan:
        """Return how the network is trained: the preset's way, unless told."""
        plan = replace(get_preset(self.preset).plan, seed=self.seed, patience=self.patience)
        if self.n_epochs is not None:
            plan = replace(plan, n_epochs=self.n_epochs)
        if plan.batch_size % count_processes():
            raise ValueError(
                f"a batch of {plan.batch_size} does not divide among {count_processes()} processes."
            )
        return plan

    def configuration(self) -> dict[str, Any]:
        """Return what a run folder's weights depend on: not what they are tested on."""
        chosen = ("dataset", "preset", "train", "n_train", "n_validation")
        given = {name: getattr(self, name) for name in chosen}
        plan = asdict(self.plan())
        del plan["patience"]
        return {**given, **plan, **asdict(self.drawing(self.train)), "version": __version__}

    def folder_name(self) -> str:
        """Return a folder name that tells trainings apart."""
        text = json.dumps(self.configuration(), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return f"sphere-{self.dataset}-{self.preset}-{self.train}-{digest[:8]}"
