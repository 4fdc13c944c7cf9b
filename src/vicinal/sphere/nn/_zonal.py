"""Zonal filters: weights of all degrees tied as those of one radial profile, local where asked."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import FragmentType
from vicinal.sphere.harmonic._harmonics import normalised_legendre
from vicinal.sphere.nn._pairs import Pairing

FILTERS = ("free", "zonal")


def check_filters(filters: str, support: float | None) -> None:
    """Refuse names and angles that no filter has."""
    if filters not in FILTERS:
        raise ValueError(f"filters must be one of {', '.join(FILTERS)}, got {filters!r}.")
    if support is not None and (filters != "zonal" or not 0 < support <= math.pi):
        raise ValueError(f"support={support}: an angle above 0, at most π, of filters='zonal'.")


def check_degrees(*types: FragmentType) -> None:
    """Refuse fragments that are not of functions on the sphere."""
    for kind in types:
        if kind.irreps != tuple(range(len(kind))):
            raise ValueError(
                "zonal filters and products on the grid are of functions on the sphere, not "
                f"{kind}."
            )


def profiles(l_max: int, support: float) -> Tensor:
    """Return what bumps on [0, support] are to degrees: (l_max + 1, bumps), of mean square one.

    φ_k(l) = ∫ bump_k(θ) P_l(cos θ) sin θ dθ, the factor by which a convolution with the zonal
    filter bump_k multiplies degree l; bumps are hats at equal steps of the angle, the last falling
    to zero at the support. There are as many of them as degrees, so that filters of every support
    have as much to learn.
    """
    n_bumps = max(2, l_max + 1)
    nodes, weights = np.polynomial.legendre.leggauss(256)
    theta = torch.from_numpy(support * (nodes + 1) / 2)
    area = torch.from_numpy(weights) * support / 2 * theta.sin()
    steps = torch.arange(n_bumps) * (support / n_bumps)
    hats = (1 - (theta - steps[:, None]).abs() * (n_bumps / support)).clamp(min=0)
    legendre = normalised_legendre(l_max, theta)
    zonal = torch.stack([legendre[:, l * (l + 1) // 2] / (2 * l + 1) ** 0.5
                         for l in range(l_max + 1)])  # fmt: skip
    table = zonal @ (hats * area).T
    size: Tensor = table.square().sum(1).mean().sqrt()
    return table / size


class ZonalWeights(nn.Module):
    """The weights of a channelwise product that is one of convolutions.

        W_l[(l1, l2, i), c] = χ_ic(l) (φ_i(l1) ψ_i(l2) ± φ_i(l2) ψ_i(l1))

    where φ, ψ and χ are learned radial profiles: channel i is convolved with φ_i and with ψ_i, the
    two are multiplied, and the products convolved with χ_ic and added up. The sign is that of
    swapping the factors; where l1 = l2 there is one term.

    Parameters
    ----------
    pairing : Pairing
        Channelwise.
    support : float
        The angle beyond which profiles are zero.
    real : bool
        χ is real; φ and ψ always are.
    """

    profile: Tensor
    columns: Tensor

    def __init__(self, pairing: Pairing, support: float, *, real: bool) -> None:
        super().__init__()
        type_in, type_out = pairing.type_in, pairing.type_out
        check_degrees(type_in, type_out)
        table = profiles(max(type_in.l_max, type_out.l_max), support)
        self.register_buffer("profile", table.float(), persistent=False)
        columns = torch.from_numpy(_list_columns(pairing))
        self.register_buffer("columns", columns, persistent=False)
        n, n_bumps, last = max(type_in.tau), table.shape[1], () if real else (2,)
        self.factors = nn.Parameter(torch.empty(n_bumps, 2, n))
        self.mixing = nn.Parameter(torch.empty(n_bumps, n, max(type_out.tau), *last))
        self._size = 1 / math.sqrt((1 if real else 2) * max(pairing.fan_in))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw profiles so that products have about the size of the fragments."""
        with torch.no_grad():
            self.factors.normal_()
            self.mixing.normal_(0, self._size)

    def forward(self) -> Tensor:
        """Return all weights, (n, 2), or (n,) where real."""
        table = self.profile.to(self.factors.dtype)
        first, second = torch.tensordot(table, self.factors, 1).unbind(1)  # (l, channel)
        l1, l2, l, i, c, sign = self.columns.unbind(1)
        both = first[l1, i] * second[l2, i] + sign * first[l2, i] * second[l1, i]
        mixing = torch.tensordot(table, self.mixing, 1)[l, i, c]
        return mixing * (both if mixing.ndim == 1 else both[:, None])


def _list_columns(pairing: Pairing) -> np.ndarray:
    """Return (l1, l2, l, i, c, sign) of every weight; the sign is 0 where l1 = l2."""
    rows = np.zeros((pairing.n_weights, 6), np.int64)
    for block in pairing.blocks:
        for l, n_used, start in zip(block.outputs, block.n_used, block.starts, strict=True):
            t = pairing.type_out[l]
            folded = slice(start, start + n_used * t)
            i, c = np.repeat(block.columns[:n_used, 0], t), np.tile(np.arange(t), n_used)
            sign = 0 if block.first == block.second else 1 - 2 * pairing.odd[folded]
            for at, values in enumerate((block.first, block.second, l, i, c, sign)):
                rows[pairing.first[folded], at] = values
    return rows
