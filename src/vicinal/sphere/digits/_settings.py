"""What a training on spherical images depends on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from vicinal.sphere.digits._drawing import Drawing, Protocol
from vicinal.sphere.digits._presets import get_preset
from vicinal.sphere.training import LabelledSetting, TrainingPlan, count_processes

ORIENTATIONS = ("plain", "rotated")


@dataclass(frozen=True, kw_only=True)
class SphereSetting(LabelledSetting):
    """What to train on which images; a tenth of the training part is held out, at most 5,000."""

    words: ClassVar[tuple[str, ...]] = ("dataset", "preset", "train")

    dataset: str = "mnist"
    preset: str = "thesis"
    train: str = "rotated"
    tests: tuple[str, ...] = ("rotated",)
    protocol: Protocol | None = None
    projection: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (self.train, *self.tests):
            if name not in ORIENTATIONS:
                raise ValueError(f"digits are 'plain' or 'rotated', not {name!r}.")
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
        plan = self.adapt(get_preset(self.preset).plan)
        if plan.batch_size % count_processes():
            raise ValueError(
                f"a batch of {plan.batch_size} does not divide among {count_processes()} processes."
            )
        return plan

    def configuration(self) -> dict[str, Any]:
        """Return what a run folder's weights depend on: not what they are tested on."""
        return self.depends_on(self.plan(), **asdict(self.drawing(self.train)))
