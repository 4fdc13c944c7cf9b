"""What a training on shapes depends on, and the options of its command."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vicinal.sphere.shapes._files import SUFFIXES, read_shape
from vicinal.sphere.shapes._meshes import Mesh
from vicinal.sphere.shapes._presets import get_shape_preset
from vicinal.sphere.training import TrainingPlan
from vicinal.sphere.worlds import LabelledSetting, option, read_names

# What shapes are described by, and the learner, if any, of the metric they are compared in.
RIVALS: dict[str, tuple[str, str | None]] = {
    "d2": ("d2", None),
    "spectra": ("spectra", None),
    "spectra-lda": ("spectra", "lda"),
    "spectra-mlng": ("spectra", "mlng"),
}


@dataclass(frozen=True, kw_only=True)
class ShapeSetting(LabelledSetting):
    """What to train on which shapes, by which loss; none are held out unless told."""

    source: str = "shrec2012"
    preset: str = option("", "The network; 'list' shows all. Unless told cross, points for clouds.")
    train: str = option("turned", "Training shapes: turned at random, or upright, as they lie.")
    balance: bool = option(
        False, "Let classes count alike in the loss of classes, however many shapes they have."
    )
    turns: int = option(1, "Judge each test shape at so many rotations, in the mean.")
    normalisation: str | None = option(
        None,
        "After every layer: both, batch, moving (as published), sample or none; the preset's own "
        "unless told.",
    )
    rivals: str = option("", f"What to measure besides, with commas: {', '.join(RIVALS)}.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.preset:
            object.__setattr__(self, "preset", "points" if _has_points(self.source) else "cross")
        get_shape_preset(self.preset)
        if self.train not in ("turned", "upright"):
            raise ValueError(f"train={self.train!r}: shapes are trained 'turned' or 'upright'.")
        if self.turns < 1:
            raise ValueError(f"turns={self.turns} must be 1 or more.")
        read_names(self.rivals, [*RIVALS], "rival")

    @property
    def rival_names(self) -> list[str]:
        """The rivals that are measured besides."""
        return read_names(self.rivals, [*RIVALS], "rival")

    def plan(self) -> TrainingPlan:
        """Return how the network is trained."""
        return self.adapt(get_shape_preset(self.preset).plan)

    def configuration(self) -> dict[str, Any]:
        """Return what the weights depend on."""
        preset = get_shape_preset(self.preset)
        read = {**asdict(preset.reader), "stretch": preset.stretch, "train": self.train}
        read["balance"] = self.balance
        return self.depends_on(**read, normalisation=self.normalisation)


def _has_points(source: str) -> bool:
    """Tell whether a source holds points: a set that does, or a folder without meshes."""
    if not Path(source).is_dir():
        return source == "modelnet10"
    some = next((p for p in sorted(Path(source).rglob("*")) if p.suffix.lower() in SUFFIXES), None)
    return some is not None and not isinstance(read_shape(some), Mesh)
