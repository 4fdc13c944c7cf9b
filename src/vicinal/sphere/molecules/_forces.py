"""Energies with their gradients: forces on atoms, learned beside the energy they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from vicinal._types import FloatArray
from vicinal.sphere.molecules._molecules import Molecules
from vicinal.sphere.molecules._network import MoleculeNet
from vicinal.sphere.molecules._spheres import Atoms, GaussianShells, look_around
from vicinal.sphere.nn import saveable
from vicinal.sphere.training import Objective, TargetScaling

ENERGY_WEIGHT = 10.0  # of the squared error of energies, beside that of one force's entry


@dataclass(frozen=True)
class Frames:
    """Positions (n, N, 3), in Å, and charges (n, N), 0 where there is no atom."""

    positions: Tensor
    charges: Tensor


class FrameBatches:
    """Molecules with energies and forces, (n, 1 + 3N); spheres are made by the network."""

    def __init__(self, molecules: Molecules, energies: FloatArray, forces: FloatArray) -> None:
        if forces.shape != molecules.positions.shape:
            raise ValueError(
                f"forces of shape {forces.shape} for positions of {molecules.positions.shape}: "
                "every atom has one, of three entries."
            )
        self._positions = torch.from_numpy(molecules.positions).float()
        self._charges = torch.from_numpy(molecules.charges)
        parts = [torch.from_numpy(energies)[:, None], torch.from_numpy(forces).flatten(1)]
        self.targets = torch.cat(parts, 1).float()

    def take(self, rows: Tensor) -> Frames:
        """Return these molecules."""
        return Frames(self._positions[rows], self._charges[rows])


@saveable
class ForceNet(nn.Module):
    """A `MoleculeNet` that makes its spheres itself, so that its energy has a gradient.

    F_i = −∂E / ∂p_i

    Parameters
    ----------
    spheres : mapping, what `GaussianShells` takes
    network : mapping, what `MoleculeNet` takes besides channels, degree and elements
    """

    def __init__(self, spheres: Mapping[str, Any], network: Mapping[str, Any]) -> None:
        super().__init__()
        self.spheres = GaussianShells(**spheres)
        self.settings = {"spheres": asdict(self.spheres), "network": dict(network)}
        self.energy = MoleculeNet(
            self.spheres.channels,
            self.spheres.l_max,
            n_elements=len(self.spheres.elements),
            **network,
        )

    def see(self, frames: Frames) -> Atoms:
        """Return the atoms of frames with what they see around them, by element."""
        coefficients = look_around(frames.positions, frames.charges, self.spheres)
        there = frames.charges > 0
        numbers = frames.charges.new_tensor(self.spheres.elements)
        elements = torch.searchsorted(numbers, frames.charges[there])
        order = torch.argsort(elements, stable=True)
        molecules = torch.arange(len(there))[:, None].expand(there.shape)[there]
        return Atoms(coefficients[order], elements[order], molecules[order], len(there))

    def forward(self, frames: Frames) -> Tensor:
        """Return energies and forces, (n, 1 + 3N), in units of the training."""
        with torch.enable_grad():
            positions = frames.positions.detach().requires_grad_()
            energies = self.energy(self.see(Frames(positions, frames.charges)))
            (slopes,) = torch.autograd.grad(energies.sum(), positions, create_graph=self.training)
        answers = torch.cat([energies[:, None], -slopes.flatten(1)], 1)
        return answers if self.training else answers.detach()


@dataclass(frozen=True)
class ForceScaling(TargetScaling):
    """Energies shifted and scaled; forces, which are differences of energies, scaled alone."""

    def apply(self, targets: Tensor) -> Tensor:
        """Return the targets that outputs are compared with in training."""
        return (targets - self._shifts(targets)) / self.scale

    def undo(self, outputs: Tensor) -> Tensor:
        """Return outputs in the targets' own units."""
        return outputs * self.scale + self._shifts(outputs)

    def _shifts(self, like: Tensor) -> Tensor:
        return functional.pad(like.new_full((1,), self.shift), (0, like.shape[1] - 1))


def force_regression(targets: Tensor) -> Objective:
    """Return squared errors of energies and forces in units of the root mean square force.

    The score is the mean absolute error of an entry of a force, in its own units.
    """
    values = targets.double()
    size = float(values[:, 1:].square().mean().sqrt())
    if not (torch.isfinite(values).all() and size > 0):
        raise ValueError("forces must be finite and not all zero.")
    return Objective(_loss, _force_error, ForceScaling(float(values[:, 0].mean()), size))


def _loss(outputs: Tensor, targets: Tensor) -> Tensor:
    gaps = (outputs - targets).square()
    return gaps[:, 1:].mean() + ENERGY_WEIGHT * gaps[:, 0].mean()


def _force_error(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets)[:, 1:].abs().mean()
