"""Networks whose atoms are summed: no numbering of atoms and no rotation changes the energy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType
from vicinal.sphere.molecules._molecules import ELEMENTS
from vicinal.sphere.molecules._spheres import Atoms
from vicinal.sphere.nn import ClebschGordanNet, make_head, saveable

FAINTEST = 1e-3  # of the largest moment: what is fainter is not made as loud as the rest


class ElementLinear(nn.Module):
    """Mix the channels that an atom sees, each element in a way of its own: F_l ↦ F_l W_l[z_i].

    Takes coefficients of real functions and gives all of them as fragments. The weights of a
    channel are those of its distance shell: what is learned are radial functions for every pair of
    elements, degree and output channel.

    Parameters
    ----------
    channels : int
    type_out : FragmentType
    """

    whitening: Tensor

    def __init__(self, channels: int, type_out: FragmentType) -> None:
        super().__init__()
        self.type_out = type_out
        spread = 1 / math.sqrt(channels)
        self.weights = nn.ParameterList(
            nn.Parameter(spread * torch.randn(len(ELEMENTS), channels, t)) for t in type_out.tau
        )
        self.bias = nn.Parameter(torch.zeros(len(ELEMENTS), type_out[0]))
        identity = torch.eye(channels).expand(len(type_out), len(ELEMENTS), -1, -1)
        self.register_buffer("whitening", identity.clone())

    def whiten(self, moments: Tensor) -> None:
        """Make channels with these second moments independent, for each degree and element.

        Neighbouring shells say nearly the same; in the basis of their moments' eigenvectors, each
        brought to length one, what sets them apart is learned as fast as what they share. Moments
        are (L + 1, elements, channels, channels).
        """
        values, vectors = torch.linalg.eigh(moments)
        least = FAINTEST * values[..., -1:].clamp(min=torch.finfo(values.dtype).tiny)
        self.whitening.copy_(vectors * torch.rsqrt(values.clamp(min=0) + least)[..., None, :])

    def forward(self, atoms: Atoms) -> Fragments:
        """Return the mixed fragments of every atom."""
        counts = torch.bincount(atoms.elements, minlength=len(ELEMENTS)).tolist()
        mixed = []
        for l, weights in enumerate(self.weights):
            rows = atoms.coefficients[:, l * l : (l + 1) ** 2].split(counts)
            maps = self.whitening[l] @ weights
            part = torch.cat([of @ weight for of, weight in zip(rows, maps, strict=True)])
            if l == 0:
                part = part + self.bias[atoms.elements][:, None]
            mixed.append(part)
        return expand(mixed, self.type_out)


def expand(parts: Sequence[Tensor], kind: FragmentType) -> Fragments:
    """Return all coefficients, as fragments, of real functions given by (atoms, 2l + 1, τ_l)."""
    rows = []
    for l, part in enumerate(parts):
        real, imaginary = part.permute(2, 1, 0).split([l + 1, l], dim=1)  # (τ, ·, atoms)
        signs = part.new_tensor([(-1) ** m for m in range(l, 0, -1)])[:, None]
        nothing = torch.zeros_like(real[:, :1])
        below = signs * real[:, 1:].flip(1), -signs * imaginary.flip(1)
        planes = torch.cat([below[0], real, below[1], nothing, imaginary], dim=1)
        rows.append(planes.flatten(0, 1))
    return Fragments(kind, torch.cat(rows))


@saveable
class MoleculeNet(nn.Module):
    """A Clebsch–Gordan network on every atom, summed over the atoms of a molecule.

    E = readout(Σ_i net(F_i)), or Σ_i net(F_i) where there is no readout

    Parameters
    ----------
    channels : int
        Of the spheres, see `GaussianShells` and `CoulombSpheres`.
    l_max : int
    hidden : sequence of sequences of int
        The types of the layers. The first is reached by `ElementLinear` where ``mixed``, else by
        a product as all others.
    mixed : bool
    n_features : int
        What is summed for an atom; 1 is its share of the energy, with no readout behind.
    widths : sequence of int
        Of the hidden layers on an atom's invariants.
    readout : int
        Hidden units behind the sum.
    normalisation, invariants, residual, pairs, activation : as of `ClebschGordanNet`
    """

    def __init__(
        self,
        channels: int,
        l_max: int,
        hidden: Sequence[Sequence[int]],
        *,
        mixed: bool = True,
        n_features: int = 1,
        widths: Sequence[int] = (128, 128),
        readout: int = 50,
        normalisation: str = "batch",
        invariants: str = "power",
        residual: bool = True,
        pairs: str = "unordered",
        activation: str = "silu",
    ) -> None:
        super().__init__()
        chosen: dict[str, Any] = {
            "normalisation": normalisation,
            "invariants": invariants,
            "residual": residual,
            "pairs": pairs,
            "activation": activation,
        }
        self.settings = {
            "channels": channels,
            "l_max": l_max,
            "hidden": [list(of) for of in hidden],
            "mixed": mixed,
            "n_features": n_features,
            "widths": list(widths),
            "readout": readout,
            **chosen,
        }
        types = [FragmentType(of) for of in hidden]
        first = types.pop(0) if mixed else FragmentType.uniform(channels, l_max)
        self.mixing = ElementLinear(channels, first) if mixed else None
        self.atoms = ClebschGordanNet(
            first, types, n_outputs=n_features, width=widths, real=mixed, **chosen
        )
        self.readout = None if n_features == 1 else make_head(n_features, (readout,), 1)

    def forward(self, atoms: Atoms) -> Tensor:
        """Return the energies, (molecules,), in units of the training."""
        answers = self.atoms(self.see(atoms))
        total = answers.new_zeros(atoms.n_molecules, answers.shape[1])
        total = total.index_add(0, atoms.molecules, answers)
        return (total if self.readout is None else self.readout(total)).squeeze(1)

    def see(self, atoms: Atoms) -> Fragments:
        """Return the fragments that the network on an atom begins with."""
        expected = ((self.settings["l_max"] + 1) ** 2, self.settings["channels"])
        if atoms.coefficients.shape[1:] != expected:
            n_rows, channels = atoms.coefficients.shape[1:]
            raise ValueError(
                f"this network reads {expected[1]} channels of {expected[0]} coefficients an atom, "
                f"got {channels} of {n_rows}: give it the spheres it was trained on."
            )
        if self.mixing is not None:
            mixed: Fragments = self.mixing(atoms)
            return mixed
        kind = self.atoms.type_in
        parts = [atoms.coefficients[:, l * l : (l + 1) ** 2] for l in range(len(kind))]
        return expand(parts, kind)
