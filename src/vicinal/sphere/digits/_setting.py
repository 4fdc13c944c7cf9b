"""What a training on images depends on, and the options of its command."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, cast

from vicinal.sphere.digits._drawing import Drawing
from vicinal.sphere.digits._presets import get_preset
from vicinal.sphere.training import TrainingPlan
from vicinal.sphere.worlds import LabelledSetting, option

ORIENTATIONS = ("plain", "rotated")


@dataclass(frozen=True, kw_only=True)
class DigitSetting(LabelledSetting):
    """What to train on which images; a tenth of the training part is held out, at most 5,000."""

    words: ClassVar[tuple[str, ...]] = ("source", "preset", "train")

    source: str = "digits"
    preset: str = option("thesis", "The network and how it is trained; 'list' shows all.")
    train: str = option("rotated", "Training images: plain or rotated.")
    test: str = option("plain,rotated", "Test images: plain, rotated, or both with a comma.")
    protocol: str | None = option(
        None,
        "What a rotation acts on: resampled (the drawing; the presets' own) or coefficients (by "
        "Wigner matrices; it tests rounding only); cohen2018 draws as that paper's generator, for "
        "figures that compare with published ones.",
    )
    projection: str | None = option(
        None,
        "How images lie on the sphere: lambert (equal areas) or stereographic on a hemisphere, or "
        "equirectangular, images of the whole sphere; the preset's own unless told.",
    )
    normalisation: str | None = option(
        None,
        "After every layer: both, batch, moving (as published), sample or none; the preset's own "
        "unless told.",
    )

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

    @property
    def tests(self) -> tuple[str, ...]:
        """The orientations that are tested."""
        return tuple(name.strip() for name in self.test.split(",") if name.strip())

    def drawing(self, orientation: str) -> Drawing:
        """Return how digits of an orientation are drawn: the preset's way, unless told."""
        asked: dict[str, Any] = {"protocol": self.protocol, "projection": self.projection}
        options = {name: value for name, value in asked.items() if value is not None}
        rotated = orientation == "rotated"
        own = get_preset(self.preset).drawing
        if self.projection == "equirectangular":  # a warp is one of the plane
            options["warp"] = 0.0
        return replace(own, rotated=rotated, seed=self.seed, **cast(Any, options))

    def plan(self) -> TrainingPlan:
        """Return how the network is trained: the preset's way, unless told."""
        return self.adapt(get_preset(self.preset).plan)

    def configuration(self) -> dict[str, Any]:
        """Return what a run folder's weights depend on: not what they are tested on."""
        drawing = asdict(self.drawing(self.train))
        return self.depends_on(**drawing, normalisation=self.normalisation)
