"""How exactly a preset's network commutes with rotations, layer by layer, in both precisions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from vicinal._writing import write_atomically
from vicinal.sphere.digits._presets import get_preset
from vicinal.sphere.harmonic import Fragments
from vicinal.sphere.nn import ClebschGordanNet, equivariance_error

LIMITS = {"float32": 1e-5, "float64": 1e-12}  # for a whole network, at any depth


@dataclass(frozen=True)
class LayerError:
    """The relative error after a layer, in each precision."""

    name: str
    errors: tuple[float, ...]


@dataclass(frozen=True)
class NetworkErrors:
    """The errors after each layer; the last row is the whole network's."""

    precisions: tuple[str, ...]
    rows: tuple[LayerError, ...]

    @property
    def passes(self) -> bool:
        """Whether the whole network is at rounding level."""
        limits = (LIMITS[precision] for precision in self.precisions)
        return all(
            error <= limit for error, limit in zip(self.rows[-1].errors, limits, strict=True)
        )


def check_network(
    preset: str, *, n_layers: int | None = None, n_rotations: int = 16, seed: int = 0
) -> NetworkErrors:
    """Measure `equivariance_error` after every layer of a network with random weights."""
    columns = [_errors(preset, n_layers, precision, n_rotations, seed) for precision in LIMITS]
    names = [name for name, _ in columns[0]]
    errors = zip(*([error for _, error in column] for column in columns), strict=True)
    return NetworkErrors(
        tuple(LIMITS),
        tuple(LayerError(name, of) for name, of in zip(names, errors, strict=True)),
    )


def write_errors(errors: NetworkErrors, path: Path) -> None:
    """Write the errors as JSON."""
    content = {"records": [asdict(row) for row in errors.rows], "precisions": errors.precisions}
    write_atomically(path, json.dumps(content, indent=2) + "\n")


def _errors(
    preset: str, n_layers: int | None, precision: str, n_rotations: int, seed: int
) -> list[tuple[str, float]]:
    torch.manual_seed(seed)
    network = _build(preset, n_layers).to(getattr(torch, precision)).eval()

    def measure(module: Callable[[Fragments], Any]) -> float:
        return equivariance_error(module, network.type_in, n_rotations=n_rotations, seed=seed)

    errors = []
    if isinstance(network, ClebschGordanNet):
        names = ["input", *(f"layer {number + 1}" for number in range(len(network.layers)))]
        errors = [(name, measure(_Until(network, at))) for at, name in enumerate(names)]
    return [*errors, ("whole network", measure(network))]


class _Until(torch.nn.Module):
    """A network up to one of its layers."""

    def __init__(self, network: ClebschGordanNet, at: int) -> None:
        super().__init__()
        self.network, self.at = network, at

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the activation after that layer."""
        for number, activation in enumerate(self.network.activations(fragments)):
            if number == self.at:
                return activation
        raise IndexError(self.at)


def _build(preset: str, n_layers: int | None) -> ClebschGordanNet:
    if n_layers is not None:
        if preset != "thesis":
            raise ValueError(f"only the preset thesis takes a number of layers, not {preset}.")
        return ClebschGordanNet.for_mnist(n_layers=n_layers)
    network = get_preset(preset).build(10)
    if not isinstance(network, ClebschGordanNet):
        raise ValueError(
            f"the network of {preset} reads signals on the grid, where no rotation is exact; "
            "check one on fragments."
        )
    return network
