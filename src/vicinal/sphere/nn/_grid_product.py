"""Products on a grid: functions mixed, multiplied point by point, and mixed again.

.. code-block:: text

    F ── mix ──> R pairs (a, b) ── synthesis ──> a(x) b(x), {a, b}(x) ── analysis ── mix ──> out

A product of degrees l1 and l2 has on the grid the part of degree l with the factor

    √((2l1 + 1)(2l2 + 1) / 4π(2l + 1)) · C(l1 0 l2 0 | l 0),           l1 + l2 + l even,
    i √(l1 (l1 + 1) l2 (l2 + 1)) · the same with C(l1 1 l2 −1 | l 0),  l1 + l2 + l odd,

the second by the Poisson bracket {a, b} = (∂θ a ∂φ b − ∂φ a ∂θ b) / sin θ. Only R products are
made of all the pairs of channels, and each has one weight for all pairs of degrees: what the exact
product learns for each (l1, l2, l) apart, this cannot.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType
from vicinal.sphere.harmonic._constant_tables import ConstantTables
from vicinal.sphere.harmonic._harmonics import normalised_legendre

FILTERS = ("free", "zonal")
N_BUMPS = 8  # of a radial profile


class _Grid(ConstantTables):
    """Synthesis of values and slopes on a Gauss–Legendre grid, and analysis, exact for products."""

    synthesis: Tensor
    slopes: Tensor
    analysis: Tensor
    cosines: Tensor
    sines: Tensor
    inverse_sine: Tensor

    def __init__(self, l_in: int, l_out: int) -> None:
        super().__init__()
        self.l_in, self.l_out = l_in, l_out
        self._set_tables()

    def _tables(self) -> dict[str, Tensor]:
        return _grid_tables(self.l_in, self.l_out)


@lru_cache(maxsize=8)
@torch.inference_mode(False)  # a tensor born in inference mode could never be trained with
def _grid_tables(l_in: int, l_out: int) -> dict[str, Tensor]:
    """Tables by m from −L to L: (m, ring, l), (m, l, ring), and waves (longitude, m)."""
    degree = 2 * l_in + l_out
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    theta = torch.from_numpy(np.arccos(nodes[::-1].copy()))
    n_phi = degree + 1
    phi = torch.arange(n_phi, dtype=torch.float64) * (2 * math.pi / n_phi)
    area = torch.from_numpy(weights[::-1].copy()) * (2 * math.pi / n_phi)
    top = max(l_in, l_out)
    values = _by_order(top, theta)  # (m, l, ring)
    middle = slice(top - l_in, top + l_in + 1)
    into = slice(top - l_out, top + l_out + 1)
    orders = torch.arange(-top, top + 1, dtype=torch.float64)
    angles = phi[:, None] * orders
    return {
        "synthesis": values[middle, : l_in + 1].mT.contiguous(),
        "slopes": _slopes(values, theta)[middle, : l_in + 1].mT.contiguous(),
        "analysis": (values[into, : l_out + 1] * area).contiguous(),
        "cosines": angles.cos(),
        "sines": angles.sin(),
        "inverse_sine": 1 / theta.sin(),
    }


def _by_order(l_max: int, theta: Tensor) -> Tensor:
    """P̄_l^m(cos θ) as (m from −L to L, l, ring), zero where l < |m|."""
    table = torch.zeros(2 * l_max + 1, l_max + 1, len(theta), dtype=torch.float64)
    l, m = torch.tril_indices(l_max + 1, l_max + 1)
    columns = normalised_legendre(l_max, theta).mT
    table[l_max + m, l] = columns
    table[l_max - m, l] = torch.where(m % 2 == 1, -1.0, 1.0).double()[:, None] * columns
    return table


def _slopes(values: Tensor, theta: Tensor) -> Tensor:
    """∂θ P̄_l^m = m cot θ P̄_l^m + √((l − m)(l + m + 1)) P̄_l^{m + 1}, of all orders."""
    n, n_degrees, _ = values.shape
    m = torch.arange(n, dtype=torch.float64)[:, None, None] - n // 2
    l = torch.arange(n_degrees, dtype=torch.float64)[None, :, None]
    above = torch.cat([values[1:], torch.zeros_like(values[:1])])
    root = ((l - m) * (l + m + 1)).clamp(min=0).sqrt()
    return m / theta.tan() * values + root * above


class GridProduct(nn.Module):
    """R products of mixed fragments, made on a grid and mixed down; see the module's page.

    Time O(R L³) a sample, memory O(R L²): for high degrees, where the exact product's time grows
    with L⁵. Plain torch operations: differentiable as often as one likes.

    Parameters
    ----------
    type_in, type_out : FragmentType of SO(3)
    rank : int
        R, how many products.
    odd : bool
        Make the Poisson brackets besides, l1 + l2 + l odd.
    filters : {"free", "zonal"}
        "free": a weight for each degree. "zonal": weights are those of a radial profile, the same
        function of the angle for all degrees, so that mixing is a sum of convolutions with learned
        zonal filters.
    support : float, optional
        The angle, in (0, π], beyond which profiles are zero; π unless told.
    """

    profile: Tensor

    def __init__(
        self,
        type_in: FragmentType,
        type_out: FragmentType,
        *,
        rank: int,
        odd: bool = False,
        filters: str = "free",
        support: float | None = None,
    ) -> None:
        super().__init__()
        _check(type_in, type_out, rank, filters, support)
        self.type_in, self.type_out = type_in, type_out
        self.rank, self.odd, self.filters, self.support = rank, odd, filters, support
        self.real = type_in.real
        self.grid = _Grid(type_in.l_max, type_out.l_max)
        self.n_streams = 2 if odd else 1
        last = () if self.real else (2,)
        bumps = N_BUMPS if filters == "zonal" else 0
        highest = max(type_in.l_max, type_out.l_max)
        profile = profiles(highest, support or math.pi) if bumps else torch.zeros(highest + 1, 0)
        self.register_buffer("profile", profile.float(), persistent=False)
        sizes = _sizes(type_in, type_out, rank * self.n_streams, rank, bumps)
        self.mix_in = nn.ParameterList(nn.Parameter(torch.empty(*of, *last)) for of in sizes[0])
        self.mix_out = nn.ParameterList(nn.Parameter(torch.empty(*of, *last)) for of in sizes[1])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights so that products have about the size of the fragments."""
        parts = 1 if self.real else 2
        with torch.no_grad():
            for weight in (*self.mix_in, *self.mix_out):
                fan_in = weight.shape[-2 if self.real else -3]
                weight.normal_(0, 1 / math.sqrt(parts * max(1, fan_in)))

    def forward(self, fragments: Fragments) -> Fragments:
        """Return the mixed products."""
        a, b = self._functions(fragments).chunk(2, dim=2)  # (m, l, rank, batch)
        values = self._synthesise(a, self.grid.synthesis), self._synthesise(b, self.grid.synthesis)
        products = [values[0] * values[1]]
        if self.odd:
            slopes = (
                self._synthesise(a, self.grid.slopes),
                self._synthesise(b, self.grid.slopes),
            )
            turns = tuple(self._synthesise(self._turn(of), self.grid.synthesis) for of in (a, b))
            inverse = self.grid.inverse_sine[:, None, None]
            products.append((slopes[0] * turns[1] - turns[0] * slopes[1]) * inverse)
        return self._mix_down(self._analyse(torch.cat(products, dim=2)))

    def _functions(self, fragments: Fragments) -> Tensor:
        """Return the functions to be multiplied, complex (m, l, 2 rank, batch)."""
        L, batch = self.type_in.l_max, fragments.batch_size
        degrees = []
        for l, part in enumerate(fragments.to_full().all_planes()):
            values = torch.complex(part[:, 0], part[:, 1])  # (τ, 2l + 1, batch)
            if not len(values):
                degrees.append(values.new_zeros(2 * L + 1, 2 * self.rank, batch))
                continue
            mixed = torch.tensordot(self._weight(self.mix_in, l, len(values)), values, ([0], [0]))
            padded = nn.functional.pad(mixed, (0, 0, L - l, L - l))  # (2 rank, 2L + 1, batch)
            degrees.append(padded.transpose(0, 1))
        return torch.stack(degrees, 1)

    def _weight(self, weights: nn.ParameterList, l: int, n: int) -> Tensor:
        """Return the complex weights of a degree, of the first n channels."""
        if self.filters == "free":
            weight = weights[l]
            return weight + 0j if self.real else torch.view_as_complex(weight)
        weight = weights[0] + 0j if self.real else torch.view_as_complex(weights[0])
        return torch.tensordot(self.profile[l].to(weight.dtype), weight, ([0], [0]))[:n]

    def _turn(self, functions: Tensor) -> Tensor:
        """Return ∂φ: i m times the coefficients."""
        L = self.type_in.l_max
        orders = torch.arange(-L, L + 1, device=functions.device)
        return functions * (1j * orders.to(functions.real.dtype))[:, None, None, None]

    def _synthesise(self, functions: Tensor, table: Tensor) -> Tensor:
        """Return the values (longitude, ring, rank, batch), real where the functions are."""
        n, _, rank, batch = functions.shape
        planes = torch.view_as_real(functions).flatten(2)
        rings = (table @ planes).view(n, -1, rank, batch, 2)
        low = self.grid.cosines.shape[1] // 2 - n // 2
        cosines, sines = (of[:, low : low + n] for of in (self.grid.cosines, self.grid.sines))
        real, imaginary = (rings[..., plane].reshape(n, -1) for plane in (0, 1))
        shape = (-1, *rings.shape[1:4])
        values = cosines @ real - sines @ imaginary
        if self.real:
            return values.view(shape)
        return torch.complex(values, sines @ real + cosines @ imaginary).view(shape)

    def _analyse(self, values: Tensor) -> Tensor:
        """Return the coefficients (m, l, streams · rank, batch), complex."""
        n = 2 * self.type_out.l_max + 1
        low = self.grid.cosines.shape[1] // 2 - n // 2
        cosines, sines = (of[:, low : low + n].T for of in (self.grid.cosines, self.grid.sines))
        _, n_rings, rank, batch = values.shape
        if self.real:
            flat = values.reshape(len(values), -1)
            real, imaginary = cosines @ flat, -(sines @ flat)
        else:
            flat, other = (of.reshape(len(values), -1) for of in (values.real, values.imag))
            real = cosines @ flat + sines @ other
            imaginary = cosines @ other - sines @ flat
        planes = torch.stack([real, imaginary], -1).view(n, n_rings, -1)
        sums = (self.grid.analysis @ planes).view(n, -1, rank, batch, 2)
        return torch.view_as_complex(sums)

    def _mix_down(self, products: Tensor) -> Fragments:
        kind, L = self.type_out.as_complex(), self.type_out.l_max
        rows = []
        for l, t in enumerate(kind.tau):
            if t:
                part = products[L - l : L + l + 1, l]  # (2l + 1, streams · rank, batch)
                weight = self._weight_out(l, t)
                mixed = torch.tensordot(weight, part, ([0], [1]))  # (τ, 2l + 1, batch)
                rows.append(torch.stack([mixed.real, mixed.imag], 1).flatten(0, 2))
        mixed_down = Fragments(kind, torch.cat(rows))
        return mixed_down.to_real() if self.real else mixed_down

    def _weight_out(self, l: int, t: int) -> Tensor:
        if self.filters == "free":
            return self._weight(self.mix_out, l, 0)
        weight = self.mix_out[0] + 0j if self.real else torch.view_as_complex(self.mix_out[0])
        tied: Tensor = torch.tensordot(self.profile[l].to(weight.dtype), weight, ([0], [0]))
        return tied[:, :t]


def _sizes(
    type_in: FragmentType, type_out: FragmentType, n_products: int, rank: int, bumps: int
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the shapes of weights: one for each degree, or one for all with a profile's bumps."""
    if bumps:
        into = [(bumps, max(type_in.tau), 2 * rank)]
        return into, [(bumps, n_products, max(type_out.tau))]
    return [(t, 2 * rank) for t in type_in.tau], [(n_products, t) for t in type_out.tau]


def profiles(l_max: int, support: float) -> Tensor:
    """Return what bumps on [0, support] are to degrees: (l_max + 1, bumps), of mean square one.

    φ_k(l) = ∫ bump_k(θ) P_l(cos θ) sin θ dθ, the factor by which a convolution with the zonal
    filter bump_k multiplies degree l; bumps are hats at equal steps of the angle, the last falling
    to zero at the support.
    """
    nodes, weights = np.polynomial.legendre.leggauss(256)
    theta = torch.from_numpy(support * (nodes + 1) / 2)
    area = torch.from_numpy(weights) * support / 2 * theta.sin()
    steps = torch.arange(N_BUMPS) * (support / N_BUMPS)
    hats = (1 - (theta - steps[:, None]).abs() * (N_BUMPS / support)).clamp(min=0)
    legendre = normalised_legendre(l_max, theta)
    zonal = torch.stack([legendre[:, l * (l + 1) // 2] / (2 * l + 1) ** 0.5
                         for l in range(l_max + 1)])  # fmt: skip
    table = zonal @ (hats * area).T
    size: Tensor = table.square().sum(1).mean().sqrt()
    return table / size


def _check(
    type_in: FragmentType, type_out: FragmentType, rank: int, filters: str, support: float | None
) -> None:
    if isinstance(rank, bool) or int(rank) != rank or rank < 1:
        raise ValueError(f"rank={rank}: products on the grid need a whole number, 1 or more.")
    if filters not in FILTERS:
        raise ValueError(f"filters must be one of {', '.join(FILTERS)}, got {filters!r}.")
    if support is not None and (filters != "zonal" or not 0 < support <= math.pi):
        raise ValueError(f"support={support}: an angle above 0, at most π, of filters='zonal'.")
    for kind in (type_in, type_out):
        if kind.irreps != tuple(range(len(kind))):
            raise ValueError(f"products on the grid are of functions on the sphere, not {kind}.")
