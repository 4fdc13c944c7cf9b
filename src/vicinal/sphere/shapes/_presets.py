"""Networks for shapes, each with the rays it reads and the training that suits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vicinal.sphere.harmonic import FragmentType
from vicinal.sphere.nn import ClebschGordanNet
from vicinal.sphere.shapes._channels import Rays
from vicinal.sphere.shapes._clouds import PointShells
from vicinal.sphere.training import TrainingPlan
from vicinal.sphere.worlds import find_preset


@dataclass(frozen=True)
class ShapePreset:
    """A named network on shapes.

    ``reader`` says what a network is given of a shape, ``stretch`` how much training shapes are
    stretched along random axes, anew each epoch: the spread of the logarithms of the factors.
    """

    name: str
    title: str
    reader: Rays | PointShells
    stretch: float
    network: dict[str, Any]
    plan: TrainingPlan

    def build(self, n_outputs: int, normalisation: str | None = None) -> ClebschGordanNet:
        """Return the network with random weights, with other norms where they are named."""
        settings = {**self.network, "hidden": [FragmentType(of) for of in self.network["hidden"]]}
        if normalisation is not None:
            settings["normalisation"] = normalisation
        return ClebschGordanNet(self.reader.type, n_outputs=n_outputs, **settings)


def _grow(l_max: int, n_channels: int, n_layers: int) -> tuple[tuple[int, ...], ...]:
    return ((n_channels,) * (l_max + 1),) * n_layers


_PRESETS = (
    ShapePreset(
        "cross",
        "two product layers, spectra of all pairs of channels, stretched meshes",
        reader=Rays(bandwidth=20, l_max=14),
        stretch=0.35,
        network={
            "hidden": ((16, 8, 8, 8, 6, 6, 4, 4, 4), (24, 8, 6, 6, 4)),
            "pairs": "unordered",
            "normalisation": "batch",
            "invariants": "cross",
            "residual": True,
            "real": True,
            "width": 256,
            "dropout": 0.3,
        },
        plan=TrainingPlan(
            n_epochs=60,
            batch_size=50,
            learning_rate=3e-3,
            schedule="one-cycle",
            weight_decay=0.0,
        ),
    ),
    ShapePreset(
        "points",
        "shells of points, two product layers, spectra of all pairs of channels",
        reader=PointShells(l_max=8, n_shells=8),
        stretch=0.2,
        network={
            "hidden": ((24, 12, 10, 8, 6, 6, 4), (32, 10, 8, 6, 4)),
            "pairs": "unordered",
            "normalisation": "batch",
            "invariants": "cross",
            "residual": True,
            "real": True,
            "width": 256,
            "dropout": 0.3,
        },
        plan=TrainingPlan(
            n_epochs=16,
            batch_size=50,
            learning_rate=3e-3,
            schedule="one-cycle",
            weight_decay=0.0,
        ),
    ),
    ShapePreset(
        "thesis",
        "published blocks of growing degree, 8 to 14; input not fed back, rate and batch ours",
        reader=Rays(bandwidth=32, l_max=8),
        stretch=0.2,
        network={
            "hidden": (*_grow(8, 10, 3), *_grow(10, 8, 2), *_grow(12, 8, 2), *_grow(14, 8, 2)),
            "pairs": "unordered",
            "normalisation": "both",
            "invariants": "scalars",
            "residual": True,
            "width": 256,
        },
        plan=TrainingPlan(n_epochs=15, batch_size=50, learning_rate=2e-3, schedule="one-cycle"),
    ),
)


def get_shape_preset(name: str) -> ShapePreset:
    """Return the preset of a name."""
    return find_preset(_PRESETS, name)


def list_shape_presets() -> tuple[ShapePreset, ...]:
    """Return all presets."""
    return _PRESETS
