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
        "scalars": real and imaginary parts of the fragments of degree 0. "power": these, and
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
        higher = sum(count[kind](t) for of in self.types for t in of.tau[1:])
        self.n_features = 2 * sum(of[0] for of in self.types) + higher
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


def scalars(fragments: Fragments) -> Tensor:
    """Return the fragments of degree 0, (batch, 2 τ_0): [channel][re, im]."""
    return fragments.packed[: 2 * fragments.type[0]].T


def _mean_powers(fragments: Fragments) -> Tensor:
    """Return Σ_m |f^m|² / (2l + 1) of each fragment of degree 1 and more, (batch, n)."""
    sizes = [2 * l + 1 for l, t in enumerate(fragments.type.tau) if l for _ in range(t)]
    power = fragments.power_spectrum()[:, fragments.type[0] :]
    return power / power.new_tensor(sizes)


def _mean_products(fragments: Fragments) -> Tensor:
    """Return Re Σ_m f^m conj(g^m) / (2l + 1) of pairs of one degree, 1 and more, (batch, n)."""
    tau = fragments.type.tau
    counts = [t * (t + 1) // 2 for t in tau]
    sizes = [2 * l + 1 for l, n in enumerate(counts) if l for _ in range(n)]
    products = fragments.cross_spectrum()[:, counts[0] :]
    return products / products.new_tensor(sizes)
