"""Numbers that no rotation changes, read off fragments."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType, check_input

KINDS = ("scalars", "power", "cross")


class Invariants(nn.Module):
    """Concatenate the invariants of several activations, one after the other.

    With one activation a layer these are skip connections: what a layer finds that does not turn
    reaches the head directly.

    Parameters
    ----------
    types : sequence of FragmentType
        One for each activation.
    kind : {"scalars", "power", "cross"}
        "scalars": the fragments of degree 0, real and imaginary parts. "power": these, and
        log(1 + Σ_m |f^m|² / (2l + 1)) of each fragment of a higher degree. "cross": these, and the
        same of each pair of such fragments of one degree, with the sign of Re Σ_m f^m conj(g^m).

    Attributes
    ----------
    n_features : int
        How many numbers a sample gets.
    """

    def __init__(self, types: Sequence[FragmentType], *, kind: str = "scalars") -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}.")
        self.types = tuple(FragmentType(of) for of in types)
        self.kind = kind
        count = {"scalars": lambda t: 0, "power": lambda t: t, "cross": lambda t: t * (t + 1) // 2}
        higher = sum(count[kind](of[place]) for of in self.types for place in moving(of))
        still = sum(of.n_planes * of.count(of.group.trivial) for of in self.types)
        self.n_features = still + higher
        if not self.n_features:
            raise ValueError(f"none of {list(self.types)} has fragments of degree 0.")

    def forward(self, activations: Sequence[Fragments]) -> Tensor:
        """Return (batch, n_features)."""
        if len(activations) != len(self.types):
            raise ValueError(
                f"Invariants takes {len(self.types)} activations, got {len(activations)}."
            )
        for number, (of, fragments) in enumerate(zip(self.types, activations, strict=True)):
            check_input(f"activation {number} of Invariants", of, fragments)
        parts = [scalars(fragments) for fragments in activations]
        if self.kind == "power":
            parts += [torch.log1p(_mean_powers(fragments)) for fragments in activations]
        if self.kind == "cross":
            products = [_mean_products(fragments) for fragments in activations]
            parts += [part.sign() * torch.log1p(part.abs()) for part in products]
        return torch.cat(parts, dim=1)

    def extra_repr(self) -> str:
        """Return what printing the module shows."""
        return f"{len(self.types)} activations, kind={self.kind!r}, n_features={self.n_features}"


def moving(kind: FragmentType) -> list[int]:
    """Return the places of the irreps that something changes: all but the trivial one."""
    return [at for at, irrep in enumerate(kind.irreps) if irrep != kind.group.trivial]


def scalars(fragments: Fragments) -> Tensor:
    """Return the fragments that nothing changes (degree 0), (batch, 2 τ_0): [channel][re, im]."""
    place = fragments.type.place(fragments.type.group.trivial)
    if place is None:
        return fragments.packed[:0].T
    starts = fragments.type.row_starts()
    return fragments.packed[starts[place] : starts[place + 1]].T


def _mean_powers(fragments: Fragments) -> Tensor:
    """Return Σ_m |f^m|² / (2l + 1) of each fragment of degree 1 and more, (batch, n)."""
    planes, dims = fragments.all_planes(), fragments.type.dims
    powers = [planes[at].square().sum(dim=(1, 2)) / dims[at] for at in moving(fragments.type)]
    return torch.cat([fragments.packed[:0], *powers]).T


def _mean_products(fragments: Fragments) -> Tensor:
    """Return Re Σ_m f^m conj(g^m) / (2l + 1) of pairs of one degree, 1 and more, (batch, n)."""
    kind = fragments.type
    counts = [t * (t + 1) // 2 for t in kind.tau]
    parts = fragments.cross_spectrum().split(counts, dim=1)
    products = [parts[at] / kind.dims[at] for at in moving(kind)]
    return torch.cat([fragments.packed[:0].T, *products], dim=1)
