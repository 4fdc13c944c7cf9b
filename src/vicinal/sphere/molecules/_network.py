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

    def __init__(
        self, channels: int, type_out: FragmentType, n_elements: int = len(ELEMENTS)
    ) -> None:
        super().__init__()
        self.type_out, self.n_elements = type_out, n_elements
        spread = 1 / math.sqrt(channels)
        self.weights = nn.ParameterList(
            nn.Parameter(spread * torch.randn(n_elements, channels, t)) for t in type_out.tau
        )
        self.bias = nn.Parameter(torch.zeros(n_elements, type_out[0]))
        identity = torch.eye(channels).expand(len(type_out), n_elements, -1, -1)
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
        counts = torch.bincount(atoms.elements, minlength=self.n_elements).tolist()
        mixed = []
        for l, weights in enumerate(self.weights):
            rows = atoms.coefficients[:, l * l : (l + 1) ** 2].split(counts)
            maps = self.whitening[l] @ weights
            part = torch.cat([of @ weight for of, weight in zip(rows, maps, strict=True)])
            if l == 0:
                part = part + self.bias[atoms.elements][:, None]
            mixed.append(part)
        return Fragments.from_real_waves(mixed, self.type_out)


@saveable
class MoleculeNet(nn.Module):
    """A Clebsch–Gordan network on every atom, summed over the atoms of a molecule.

    E = readout(Σ_i net(F_i)), or Σ_i net(F_i) where there is no readout

    Parameters
    ----------
    channels : int
        Of the spheres, see `GaussianShells` and `CoulombSpheres`.
    l_max : int
    hidden : sequence of types: numbers of degrees, or irreps of O(3)
        The types of the layers. The first is reached by `ElementLinear` where ``mixed``, else by
        a product as all others. With parities, as in "16x0e+10x1o+8x2e", nothing that a mirror
        would change is made: a density has (−1)^l.
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
        hidden: Sequence[Sequence[int] | str],
        *,
        mixed: bool = True,
        n_features: int = 1,
        n_elements: int = len(ELEMENTS),
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
            "hidden": [of if isinstance(of, str) else list(of) for of in hidden],
            "n_elements": n_elements,
            "mixed": mixed,
            "n_features": n_features,
            "widths": list(widths),
            "readout": readout,
            **chosen,
        }
        types = [FragmentType(of) for of in hidden]
        first = types.pop(0).as_real() if mixed else FragmentType.uniform(channels, l_max)
        self.mixing = ElementLinear(channels, first, n_elements) if mixed else None
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
        return Fragments.from_real_waves(parts).to_full()
