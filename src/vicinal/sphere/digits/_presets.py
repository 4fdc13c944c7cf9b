"""Networks for images on the sphere, each with the training that suits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from vicinal.sphere.digits._correlation_net import CorrelationNet
from vicinal.sphere.digits._drawing import Drawing
from vicinal.sphere.digits._planar import PlanarNet
from vicinal.sphere.harmonic import FragmentType
from vicinal.sphere.nn import ClebschGordanNet
from vicinal.sphere.training import TrainingPlan
from vicinal.sphere.worlds import find_preset


@dataclass(frozen=True)
class Preset:
    """A named network: how it is built from the number of classes, trained, and shown images."""

    name: str
    title: str
    build: Callable[..., nn.Module]
    plan: TrainingPlan
    drawing: Drawing

    def make(self, n_outputs: int, normalisation: str | None = None) -> nn.Module:
        """Return the network with random weights, with other norms where they are named."""
        if normalisation is None:
            return self.build(n_outputs)
        try:
            return self.build(n_outputs, normalisation=normalisation)
        except TypeError:
            raise ValueError(
                f"normalisation={normalisation!r}: that is for networks on fragments, not "
                f"{self.name}."
            ) from None


_COMPACT = (
    FragmentType([14, 12, 10, 9, 8, 7, 6, 5, 4, 3]),
    FragmentType([14, 10, 9, 8, 7, 6, 5, 4, 3]),
    FragmentType([24, 10, 8, 6, 5, 4]),
)


def _thesis(n_classes: int, normalisation: str = "both") -> nn.Module:
    return ClebschGordanNet.for_mnist(n_outputs=n_classes, normalisation=normalisation)


def _compact(n_classes: int, normalisation: str = "both") -> nn.Module:
    return ClebschGordanNet(
        FragmentType.uniform(1, 18),
        _COMPACT,
        n_outputs=n_classes,
        pairs="unordered",
        invariants="power",
        normalisation=normalisation,
        residual=True,
        width=128,
    )


_PRESETS = (
    Preset(
        "thesis",
        "Clebsch–Gordan network as published, its norms and rate ours",
        _thesis,
        TrainingPlan(n_epochs=8, batch_size=50, learning_rate=2e-3, schedule="one-cycle"),
        Drawing(l_max=8),
    ),
    Preset(
        "compact",
        "three residual layers, power spectra, degrees to 18 at the input, warped digits",
        _compact,
        TrainingPlan(n_epochs=16, batch_size=64, learning_rate=5e-3, schedule="one-cycle"),
        Drawing(l_max=18, warp=1.0),
    ),
    Preset(
        "correlation",
        "correlations on the sphere and on SO(3) with ReLU, after Cohen et al. 2018",
        CorrelationNet,
        TrainingPlan(n_epochs=2, batch_size=50, learning_rate=5e-3, schedule="one-cycle"),
        Drawing(l_max=None),
    ),
    Preset(
        "planar",
        "planar convolutional network on the unrolled signal",
        PlanarNet,
        TrainingPlan(n_epochs=5, batch_size=50, learning_rate=2e-3, schedule="one-cycle"),
        Drawing(l_max=None),
    ),
)


def get_preset(name: str) -> Preset:
    """Return the preset of a name."""
    return find_preset(_PRESETS, name)


def list_presets() -> tuple[Preset, ...]:
    """Return all presets."""
    return _PRESETS
